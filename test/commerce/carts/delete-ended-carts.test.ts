/**
 * The sweep of ended carts on a table with many carts: each statement reads and deletes a limited number of
 * carts, also if most carts are kept. `test/sweeps.test.ts` tests which carts it deletes.
 */
import { Client } from "pg";
import { expect, it } from "vitest";
import { deleteEndedCarts } from "#commerce/carts/delete-ended-carts.ts";
import { copyDemo } from "#test/support/copies.ts";
import { query } from "#test/support/create-database.ts";
import { openCopy } from "#test/support/databases.ts";

const count = 5_000;
const keptFrom = 1_500;

/**
 * Adds carts with a checkout session and a use of a promotion each; carts from number `keptFrom` also have a
 * failed payment, so they are kept. They were created one every two hours, and every second one has expired.
 */
const fill = `
  create temp table added as select number, lowest_id_at_time('cart', now() - number * interval '2 hours') as cart_id
    from generate_series(1, ${count}) as number;
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
  insert into payment (id, merchant_id, session_id, provider, method_type, status, currency, amount_minor,
      created_at, updated_at)
    select replace(cart_id, 'cart_', 'pay_'), session.merchant_id, session.id, 'test', 'card', 'failed',
      session.currency, 100, session.created_at, session.updated_at
    from added join hosted_checkout_session session using (cart_id) where number >= ${keptFrom};
  analyze;`;

interface SentStatement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

const retentionDays = 20;

it("the sweep of ended carts reads at most 200 carts per statement, until it has seen all or is stopped", async () => {
  await using stack = new AsyncDisposableStack();
  const { database } = await copyDemo("postgres");
  const url = database.ownerUrl ?? "";
  await query(url, fill);
  const [cart] = await query(url, "select merchant_id from cart group by 1 order by count(*) desc limit 1");
  const merchantId = cart?.["merchant_id"];
  const sent: SentStatement[] = [];
  let stop = new AbortController();
  const opened = await openCopy({
    ...database,
    onStatement: ({ query: statement }) => {
      if (!statement.sql.includes("delete from cart ")) return;
      sent.push(statement);
      if (sent.length === 3) stop.abort();
    },
  });
  stack.defer(() => opened.close());
  const sweep = () =>
    deleteEndedCarts({ db: opened.db, now: new Date(), retentionDays, signal: stop.signal });
  expect(await sweep()).toBe(0);
  expect(sent).toHaveLength(3);
  stop = new AbortController();
  // The added carts are numbered from the newest to the oldest, 12 a day. Every second one has expired.
  expect(await sweep()).toBe((keptFrom - retentionDays * 12) / 2);
  expect(sent.length).toBeGreaterThan(count / 2 / 200);
  const kept = sent.find(
    ({ parameters }) => parameters.includes(merchantId) && parameters.includes("expired"),
  );
  const plan = await explain(url, kept ?? { sql: "", parameters: [] });
  expect(plan).toMatch(/Index (?:Only )?Scan using cart_by_status on cart c /);
  expect(plan).not.toMatch(/Seq Scan on (?:cart|payment|hosted_checkout_session|promotion_use)/);
});

/** The text of the plan with which PostgreSQL ran a statement; its changes are rolled back. */
async function explain(url: string, { sql, parameters }: SentStatement): Promise<string> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("begin");
    const { rows } = await client.query<{ "QUERY PLAN": string }>(
      `explain (analyze, costs off, timing off) ${sql}`,
      [...parameters],
    );
    return rows.map((row) => row["QUERY PLAN"]).join("\n");
  } finally {
    await client.end();
  }
}
