/**
 * The sweep of ended carts on a table with many carts: each statement deletes one batch of limited size.
 * `test/sweeps.test.ts` tests which carts it deletes.
 */
import { expect, it } from "vitest";
import { deleteEndedCarts } from "#commerce/carts/delete-ended-carts.ts";
import { copyDemo } from "#test/support/copies.ts";
import { query } from "#test/support/create-database.ts";
import { openCopy } from "#test/support/databases.ts";

/**
 * Adds carts, each with a checkout session, a use of a promotion and a row of personal data. They were
 * created one every two hours, and every second one has expired.
 */
const fill = `
  create temp table added as select number, lowest_id_at_time('cart', now() - number * interval '2 hours') as cart_id
    from generate_series(1, 20000) as number;
  insert into cart select (jsonb_populate_record(cart, jsonb_build_object(
      'id', cart_id, 'status', case when number % 2 = 0 then 'expired' else 'active' end,
      'created_at', now() - number * interval '2 hours', 'expires_at', now() - number * interval '2 hours',
      'address_id', null, 'address_token_digest', null, 'address_expires_at', null,
      'address_expires_at_max', null, 'delivery_options', null
    ))).* from added, cart where cart.id = (select id from cart where status = 'active' order by id limit 1);
  insert into hosted_checkout_session (id, merchant_id, cart_id, status, expires_at, created_at, updated_at,
      success_url, cancel_url, country, currency, locale, amount_total_minor)
    select replace(cart_id, 'cart_', 'chs_'), merchant_id, cart_id, 'expired', expires_at, created_at, updated_at,
      '', '', country, currency, locale, 0
    from added join cart on cart.id = cart_id;
  insert into promotion_use (merchant_id, promotion_id, session_id, given_back_at)
    select session.merchant_id, promotion.id, session.id, session.expires_at
    from added join hosted_checkout_session session using (cart_id),
      (select id from promotion order by id limit 1) promotion;
  analyze;`;

it("the sweep of ended carts deletes at most 200 carts per statement, until it is stopped", async () => {
  await using stack = new AsyncDisposableStack();
  const { database } = await copyDemo("postgres");
  const url = database.ownerUrl ?? "";
  await query(url, fill);
  const [cart] = await query(
    url,
    "select merchant_id from cart where status = 'expired' order by id limit 1",
  );
  const merchantId = cart?.["merchant_id"];
  const stop = new AbortController();
  const sent: { readonly sql: string; readonly parameters: readonly unknown[] }[] = [];
  const opened = await openCopy({
    ...database,
    onStatement: ({ query: statement }) => {
      if (!statement.sql.includes("with old as")) return;
      sent.push(statement);
      if (sent.length === 3) stop.abort();
    },
  });
  stack.defer(() => opened.close());
  const { db } = opened;
  const deleted = await deleteEndedCarts({ db, now: new Date(), retentionDays: 731, signal: stop.signal });
  // The other merchant has no ended carts.
  const ofMerchant = sent.filter(({ parameters }) => parameters[0] === merchantId);
  expect([sent.length, deleted]).toEqual([3, 200 * ofMerchant.length]);
  expect(deleted).toBeGreaterThan(0);
});
