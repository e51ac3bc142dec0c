/** inventoryReport: compared with figures that are calculated from the demo's stock and order lines. */
import { beforeAll, describe, expect, it } from "vitest";
import { useWorld } from "#test/support/use-world.ts";

interface Row {
  readonly sku: string;
  readonly onHandUnits: number;
  readonly reservedUnits: number;
  readonly freeUnits: number;
  readonly soldUnits: number;
  readonly coverDays: number;
}

describe("inventoryReport", () => {
  const world = useWorld();
  const fields = "sku onHandUnits reservedUnits freeUnits soldUnits coverDays";
  const ask = async (args: string, token = "analyst") => {
    const call = `inventoryReport${args === "" ? "" : `(${args})`}`;
    const query = `{ report: ${call} { totals { variants outOfStockVariants onHandUnits reservedUnits } rows { ${fields} } } }`;
    const { body } = await world().graphql(query, { token });
    return body.errors?.[0]?.extensions ?? body.data.report;
  };
  const dayMs = 86_400_000;

  /** The expected rows for sales of the last days, in no particular order. */
  async function calculateRows(days: number): Promise<Row[]> {
    const { db } = world().database;
    const now = world().clock.now().getTime();
    const merchantId = world().demo.merchants.first.id;
    const lines = await db
      .selectFrom("orderLine")
      .innerJoin("salesOrder", "salesOrder.id", "orderLine.orderId")
      .select(["variantId", "ordered", "canceled", "placedAt"])
      .where("salesOrder.merchantId", "=", merchantId)
      .execute();
    const levels = await db
      .selectFrom("variant")
      .innerJoin("stockLevel", "stockLevel.variantId", "variant.id")
      .select(["variant.id", "sku", "onHand", "reserved"])
      .where("variant.merchantId", "=", merchantId)
      .where("discontinued", "=", false)
      .execute();
    const expired = await db.selectFrom("stockHold").select(["variantId", "quantity", "expiresAt"]).execute();
    return levels.flatMap(({ id, sku, onHand, reserved }) => {
      const soldUnits = lines
        .filter(({ variantId, placedAt }) => variantId === id && placedAt.getTime() > now - days * dayMs)
        .reduce((sum, { ordered, canceled }) => sum + ordered - canceled, 0);
      const returned = expired
        .filter(
          ({ variantId, expiresAt }) => variantId === id && expiresAt !== null && expiresAt.getTime() <= now,
        )
        .reduce((sum, { quantity }) => sum + quantity, 0);
      const reservedUnits = reserved - returned;
      const freeUnits = Math.max(onHand - reservedUnits, 0);
      const coverDays = Math.floor((freeUnits * days) / soldUnits);
      return soldUnits <= 0
        ? []
        : [{ sku, onHandUnits: onHand, reservedUnits, freeUnits, soldUnits, coverDays }];
    });
  }

  const bySku = (rows: readonly Row[]): Row[] =>
    rows.toSorted((one, other) => one.sku.localeCompare(other.sku));

  beforeAll(async () => {
    // One variant runs out of stock, and one is discontinued.
    const [scarce, gone] = await calculateRows(365);
    await world()
      .database.db.updateTable("stockLevel")
      .set({ onHand: 3, reserved: 1 })
      .where("variantId", "in", (query) =>
        query
          .selectFrom("variant")
          .select("id")
          .where("sku", "=", scarce?.sku ?? ""),
      )
      .execute();
    await world()
      .database.db.updateTable("variant")
      .set({ discontinued: true })
      .where("sku", "=", gone?.sku ?? "")
      .execute();
  });

  it.each([7, 30, 365])("calculates how long the stock lasts at the sales of %i days", async (days) => {
    const expected = await calculateRows(days);
    const { rows } = await ask(`days: ${days}, first: 100`);
    expect(bySku(rows)).toEqual(bySku(expected));
    const covers = (rows as Row[]).map(({ coverDays }) => coverDays);
    expect(covers).toEqual(covers.toSorted((one, other) => one - other));
  });

  it("lists only variants that run out soon, the first of them first", async () => {
    const all = await calculateRows(30);
    const covers = all.map(({ coverDays }) => coverDays).toSorted((one, other) => one - other);
    const [shortest = 0, next = 0] = [covers[0], covers[Math.floor(covers.length / 2)]];
    const { rows } = await ask(`coverDaysMax: ${next}, first: 100`);
    expect(rows).toHaveLength(all.filter(({ coverDays }) => coverDays <= next).length);
    expect((await ask("first: 1")).rows).toMatchObject([{ coverDays: shortest }]);
  });

  it("adds up the stock of all variants that are not discontinued", async () => {
    const levels = await world()
      .database.db.selectFrom("variant")
      .leftJoin("stockLevel", "stockLevel.variantId", "variant.id")
      .select(["onHand"])
      .where("variant.merchantId", "=", world().demo.merchants.first.id)
      .where("discontinued", "=", false)
      .execute();
    const { totals } = await ask("");
    expect(totals).toMatchObject({
      variants: levels.length,
      onHandUnits: levels.reduce((sum, { onHand }) => sum + (onHand ?? 0), 0),
    });
    expect(totals.outOfStockVariants).toBeLessThan(totals.variants);
  });

  it("is refused for storefronts and for arguments that are out of bounds, and shows one's own merchant", async () => {
    expect((await ask("", "storefront")).code).toBe("role_not_allowed");
    for (const [args, field] of [
      ["days: 0", "/days"],
      ["days: 366", "/days"],
      ["coverDaysMax: -1", "/coverDaysMax"],
      ["first: 0", "/first"],
    ] as const) {
      const { code, details } = await ask(args);
      expect([args, code, details?.[0]?.field]).toEqual([args, "invalid_field", field]);
    }
    const { second } = world().demo.merchants;
    expect((await ask(`merchantId: "${second.id}"`)).code).toBe("merchant_not_found");
    expect((await ask(`merchantId: "${second.id}"`, "operator")).totals.variants).toBeGreaterThan(0);
  });
});
