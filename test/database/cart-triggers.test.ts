/**
 * Database triggers guard the version of a cart: a change without a new version, or two versions in one
 * transaction, are refused.
 */
import { sql } from "kysely";
import { beforeAll, beforeEach, expect, it } from "vitest";
import type { Database } from "#database/connect.ts";
import { runInTransaction, type Transaction } from "#database/transaction.ts";
import { describeOnBoth } from "#test/support/databases.ts";

describeOnBoth("the cart triggers", (open) => {
  let db: Database;
  const run = (handle: Database | Transaction, text: string): Promise<unknown> =>
    sql.raw(text).execute(handle);
  const raise = "update cart set version = version + 1 where id = 'cart_1'";
  const line = (
    quantity: number,
  ): string => `insert into cart_line (id, cart_id, merchant_id, position, product_id, variant_id, quantity,
    unit_price_minor,
    subtotal_minor, discount_minor, total_minor, display, requires_shipping, restrictions, created_at)
    values ('cln_1', 'cart_1', 'mer_1', 0, 'prd_1', 'var_1', ${quantity}, 100, ${quantity * 100}, 0,
    ${quantity * 100}, '{}', true, '{}', now())`;
  const promotion = `insert into cart_promotion (cart_id, promotion_id, trigger, state, discount_minor,
    allocations, position)
    values ('cart_1', 'prm_1', 'automatic', 'applied', 0, '[]', 0)`;
  const stored = async (): Promise<unknown> => ({
    versions: (await db.selectFrom("cart").select(["id", "version"]).orderBy("id").execute()).map(
      ({ version }) => version,
    ),
    quantities: (await db.selectFrom("cartLine").select("quantity").execute()).map(
      ({ quantity }) => quantity,
    ),
    promotions: (await db.selectFrom("cartPromotion").select("promotionId").execute()).length,
  });

  beforeAll(async () => {
    ({ db } = await open());
    await run(
      db,
      `insert into merchant (id, slug, name, mode, default_locale, default_market, created_at, updated_at)
       values ('mer_1', 'm', 'M', 'test', 'en', 'DE', now(), now())`,
    );
    await run(
      db,
      `insert into market (id, merchant_id, handle, name, currency, tax_included, default_locale, time_zone,
        created_at, updated_at)
       values ('mkt_1', 'mer_1', 'de', 'Germany', 'EUR', true, 'en', 'Europe/Berlin', now(), now())`,
    );
    await run(
      db,
      `insert into promotion (id, merchant_id, trigger, kind, titles, created_at, updated_at)
       values ('prm_1', 'mer_1', 'automatic', 'free_shipping', '[]', now(), now())`,
    );
  });
  beforeEach(async () => {
    await run(db, "delete from cart");
    await runInTransaction(db, async (transaction) => {
      for (const id of ["cart_1", "cart_2"])
        await run(
          transaction,
          `insert into cart (id, merchant_id, market_id, country, currency, tax_included, locale, created_at,
            updated_at, expires_at)
           values ('${id}', 'mer_1', 'mkt_1', 'DE', 'EUR', true, 'en', now(), now(), now())`,
        );
      await run(transaction, line(1));
    });
  });

  it("allow a change with the next version, together with the cart's child rows", async () => {
    await runInTransaction(db, async (transaction) => {
      await run(transaction, "update cart_line set quantity = 2, subtotal_minor = 200, total_minor = 200");
      await run(transaction, promotion);
      await run(transaction, raise);
    });
    expect(await stored()).toEqual({ versions: [2, 1], quantities: [2], promotions: 1 });
    await run(db, raise);
    expect(await stored()).toEqual({ versions: [3, 1], quantities: [2], promotions: 1 });
  });

  it.each([
    [
      "without a version",
      "update cart set locale = 'de' where id = 'cart_1'",
      /version 1 must be followed by 2, not 1/,
    ],
    [
      "with the same version again",
      "update cart set version = 1 where id = 'cart_1'",
      /version 1 must be followed by 2, not 1/,
    ],
    [
      "with a version left out",
      "update cart set version = 3 where id = 'cart_1'",
      /version 1 must be followed by 2, not 3/,
    ],
    [
      "with a lower version",
      "update cart set version = version - 1 where id = 'cart_1'",
      /must be followed by 2/,
    ],
    ["twice in one transaction", `${raise};${raise}`, /cart cart_1 was saved twice in one transaction/],
    ["right after it was made", "MADE", /was saved twice in one transaction/],
    [
      "by a line that is changed alone",
      "update cart_line set quantity = 2, subtotal_minor = 200, total_minor = 200",
      /cart cart_1 changed without its version/,
    ],
    [
      "by a line that is put in alone",
      line(1).replace("'cln_1'", "'cln_2'").replace("'var_1'", "'var_2'"),
      /cart cart_1 changed without its version/,
    ],
    ["by a line that is taken out alone", "delete from cart_line", /cart cart_1 changed without its version/],
    ["by a promotion alone", promotion, /cart cart_1 changed without its version/],
    [
      "by a line while another cart is raised",
      `delete from cart_line;${raise.replace("cart_1", "cart_2")}`,
      /cart cart_1 changed without its version/,
    ],
  ])("refuse a change %s", async (_name, statements, message) => {
    const before = await stored();
    const made = `insert into cart (id, merchant_id, market_id, country, currency, tax_included, locale,
      created_at, updated_at, expires_at)
      select 'cart_3', merchant_id, market_id, country, currency, tax_included, locale, created_at,
      updated_at, expires_at from cart where id = 'cart_1';
      ${raise.replace("cart_1", "cart_3")}`;
    const changing = runInTransaction(db, async (transaction) => {
      for (const statement of statements.replace("MADE", made).split(";")) await run(transaction, statement);
    });
    await expect(changing).rejects.toMatchObject({
      code: "CG001",
      message: expect.stringMatching(message) as unknown,
    });
    expect(await stored()).toEqual(before);
  });
});
