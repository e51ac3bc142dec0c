/**
 * The limits of cart inputs over GraphQL: all faults are returned at once with their paths, and nothing is
 * written.
 */
import { beforeAll, describe, expect, it } from "vitest";
import {
  berlin,
  type CartMutation,
  changeCart,
  linesOf,
  makeCart,
  tryCart,
  variantOf,
  withoutTrace,
} from "#test/operations/cart-calls.ts";
import { useWorld } from "#test/support/use-world.ts";

describe.each(["postgres"] as const)("limits of carts on %s", (engine) => {
  const world = useWorld(engine);
  let variantId: string;
  let cartId: string;
  let lineId: string;
  beforeAll(async () => {
    variantId = await variantOf(world(), "KIT-KVERN");
    const made = await makeCart(world(), { lines: { "KIT-EMALJE-WHITE": 1 } });
    [cartId, lineId] = [made.id, made.lines[0].id];
  });
  const faultsOf = (
    error: { code: string; details: { field: string; code: string }[] } | undefined,
  ): string[] => [
    error?.code ?? "none",
    ...(error?.details ?? []).map(({ field, code }) => `${field} ${code}`),
  ];

  const creations: readonly (readonly [
    name: string,
    input: () => Record<string, unknown>,
    faults: readonly string[],
  ])[] = [
    // The country scalar refuses an unknown country before the cart mutation runs.
    ["an unknown country", () => ({ market: "XX" }), ["malformed_request"]],
    ["a country without a market", () => ({ market: "BR" }), ["invalid_field", "/market not_sold_there"]],
    [
      "a buyer that is an e-mail",
      () => ({ buyerReference: "a@b.example" }),
      ["invalid_field", "/buyerReference pattern_mismatch"],
    ],
    [
      "a buyer of 129 characters",
      () => ({ buyerReference: "x".repeat(129) }),
      ["invalid_field", "/buyerReference pattern_mismatch"],
    ],
    [
      "quantity 0",
      () => ({ lines: [{ variantId, quantity: 0 }] }),
      ["invalid_field", "/lines/0/quantity too_small"],
    ],
    [
      "quantity 10000",
      () => ({ lines: [{ variantId, quantity: 10_000 }] }),
      ["invalid_field", "/lines/0/quantity too_large"],
    ],
    [
      "a variant twice",
      () => ({
        lines: [
          { variantId, quantity: 1 },
          { variantId, quantity: 2 },
        ],
      }),
      ["invalid_field", "/lines/1/variantId duplicate"],
    ],
    [
      "unknown variants",
      () => ({
        lines: [
          { variantId: "var_00000000000000000000000000", quantity: 1 },
          { variantId: "x", quantity: 1 },
        ],
      }),
      ["invalid_field", "/lines/0/variantId unknown", "/lines/1/variantId unknown"],
    ],
    ["201 lines", () => ({ lines: manyLines(201) }), ["invalid_field", "/lines too_long"]],
    [
      "faults of all kinds at once",
      () => ({
        buyerReference: "",
        lines: [
          { variantId, quantity: -1 },
          { variantId, quantity: 1 },
        ],
      }),
      [
        "invalid_field",
        "/buyerReference pattern_mismatch",
        "/lines/0/quantity too_small",
        "/lines/1/variantId duplicate",
      ],
    ],
  ];
  const manyLines = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      variantId: `var_${String(index).padStart(26, "0")}`,
      quantity: 1,
    }));

  it.each(creations)("refuse a new cart with %s", async (_name, input, faults) => {
    const { data, error } = await withoutTrace(world(), () => tryCart(world(), { input: input() }));
    expect([data, faultsOf(error)]).toEqual([null, faults]);
  });

  it("refuse variants that are drafts, discontinued or not sold in the cart's market", async () => {
    for (const [sku, code] of [
      ["CMP-JUNI", "unknown"],
      ["PCK-HOFTE-MIDNIGHT", "not_sold_there"],
      ["PCK-GRIZZ", "not_sold_there"],
      ["HOM-HINOKI-250G", "not_sold_there"],
    ] as const) {
      const lines = await linesOf(world(), { [sku]: 1 });
      const { error } = await withoutTrace(world(), () =>
        changeCart(world(), "cartLinesAdd", { cartId, input: { lines } }),
      );
      expect([sku, faultsOf(error)]).toEqual([sku, ["invalid_field", `/lines/0/variantId ${code}`]]);
    }
  });

  const unknownLine = "cln_00000000000000000000000000";
  const changes: readonly (readonly [
    field: CartMutation,
    name: string,
    input: () => Record<string, unknown>,
    faults: readonly string[],
  ])[] = [
    ["cartLinesAdd", "no lines", () => ({ lines: [] }), ["invalid_field", "/lines too_short"]],
    ["cartLinesAdd", "101 lines", () => ({ lines: manyLines(101) }), ["invalid_field", "/lines too_long"]],
    [
      "cartLinesAdd",
      "quantity 0",
      () => ({ lines: [{ variantId, quantity: 0 }] }),
      ["invalid_field", "/lines/0/quantity too_small"],
    ],
    ["cartLinesUpdate", "no lines", () => ({ lines: [] }), ["invalid_field", "/lines too_short"]],
    [
      "cartLinesUpdate",
      "quantity 0",
      () => ({ lines: [{ lineId, quantity: 0 }] }),
      ["invalid_field", "/lines/0/quantity too_small"],
    ],
    [
      "cartLinesUpdate",
      "a line of another cart",
      () => ({ lines: [{ lineId: unknownLine, quantity: 1 }] }),
      ["invalid_field", "/lines/0/lineId unknown"],
    ],
    [
      "cartLinesUpdate",
      "a line twice",
      () => ({
        lines: [
          { lineId, quantity: 1 },
          { lineId, quantity: 2 },
        ],
      }),
      ["invalid_field", "/lines/1/lineId duplicate"],
    ],
    ["cartLinesRemove", "no lines", () => ({ lineIds: [] }), ["invalid_field", "/lineIds too_short"]],
    [
      "cartLinesRemove",
      "a line of another cart",
      () => ({ lineIds: [lineId, unknownLine] }),
      ["invalid_field", "/lineIds/1 unknown"],
    ],
    [
      "cartLinesRemove",
      "a line twice",
      () => ({ lineIds: [lineId, lineId] }),
      ["invalid_field", "/lineIds/1 duplicate"],
    ],
    [
      "cartBuyerSet",
      "an invalid e-mail",
      () => ({ email: "anna" }),
      ["invalid_field", "/email pattern_mismatch"],
    ],
    [
      "cartBuyerSet",
      "a reference with a space",
      () => ({ buyerReference: "a b" }),
      ["invalid_field", "/buyerReference pattern_mismatch"],
    ],
    ["cartMarketChange", "an unknown country", () => ({ market: "XX" }), ["malformed_request"]],
    [
      "cartMarketChange",
      "a country without a market",
      () => ({ market: "BR" }),
      ["invalid_field", "/market not_sold_there"],
    ],
    [
      "cartMerge",
      "the cart itself",
      () => ({ sourceCartId: cartId }),
      ["invalid_field", "/sourceCartId not_allowed"],
    ],
    [
      "cartMerge",
      "an unknown cart",
      () => ({ sourceCartId: "cart_00000000000000000000000000" }),
      ["cart_not_found"],
    ],
    [
      "cartPromotionApply",
      "a code with a space",
      () => ({ code: "a b" }),
      ["invalid_field", "/code pattern_mismatch"],
    ],
    ["cartPromotionApply", "an empty code", () => ({ code: "" }), ["invalid_field", "/code too_short"]],
    [
      "cartRevoke",
      "version 0",
      () => ({ expectedVersion: 0 }),
      ["invalid_field", "/expectedVersion too_small"],
    ],
    [
      "cartRevoke",
      "a note of 281 characters",
      () => ({ expectedVersion: 1, note: "x".repeat(281) }),
      ["invalid_field", "/note too_long"],
    ],
    [
      "cartPromotionRemove",
      "a note of 281 characters",
      () => ({ expectedVersion: 1, note: "x".repeat(281) }),
      ["invalid_field", "/note too_long"],
    ],
    [
      "cartAddressSet",
      "a postal code of another form",
      () => ({ address: { ...berlin, postalCode: "1" } }),
      ["address_invalid", "/address/postalCode pattern_mismatch"],
    ],
    [
      "cartAddressSet",
      "a name of 101 characters",
      () => ({ address: { ...berlin, recipientName: "x".repeat(101) } }),
      ["invalid_field", "/address/recipientName too_long"],
    ],
  ];

  it.each(changes)("refuse %s with %s", async (field, _name, input, faults) => {
    const { data, error } = await withoutTrace(world(), () =>
      changeCart(world(), field, { cartId, input: input() }),
    );
    expect([data, faultsOf(error).toSorted()]).toEqual([null, [...faults].toSorted()]);
  });

  it("refuse a delivery option that is not offered, or without an address", async () => {
    const { id } = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
    const select = (optionId: string | null) =>
      changeCart(world(), "cartDeliveryOptionSelect", { cartId: id, input: { optionId } });
    expect((await withoutTrace(world(), () => select("dlm_00000000000000000000000000"))).error).toMatchObject(
      {
        code: "invalid_state",
        conflict: { resource: "cart", id, reason: "address_required" },
      },
    );
    await changeCart(world(), "cartAddressSet", { cartId: id, input: { address: berlin } });
    expect(
      faultsOf((await withoutTrace(world(), () => select("dlm_00000000000000000000000000"))).error),
    ).toEqual(["invalid_field", "/optionId unknown"]);
    expect((await select(null)).data.version).toBe(2);
  });

  it("allow 200 lines at most, however they are added", async () => {
    const rows = await world()
      .database.db.selectFrom("variant")
      .innerJoin("product", "product.id", "variant.productId")
      .innerJoin("price", "price.variantId", "variant.id")
      .innerJoin("market", "market.id", "price.marketId")
      .innerJoin("stockLevel", "stockLevel.variantId", "variant.id")
      .select("variant.id")
      .distinct()
      .where("variant.merchantId", "=", world().demo.merchants.first.id)
      .where("product.status", "=", "published")
      .where("market.handle", "=", "de")
      .where("price.validUntil", "is", null)
      .where("variant.discontinued", "=", false)
      .where("onHand", ">", 0)
      .execute();
    const ids = rows.map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(100);
    // The demo sells fewer than 200 variants, so the other lines refer to deleted products.
    const { id } = await makeCart(world(), {
      input: { lines: ids.slice(0, 100).map((variant) => ({ variantId: variant, quantity: 1 })) },
    });
    await world().database.script(async (run) => {
      await run(`begin; insert into cart_line (id, cart_id, merchant_id, position, product_id, variant_id, quantity, unit_price_minor, subtotal_minor,
          discount_minor, total_minor, display, requires_shipping, restrictions, created_at)
        select 'cln_' || lpad(n::text, 26, '0'), cart_id, merchant_id, 100 + n, product_id, 'var_gone_' || n, 1, 1, 1, 0, 1, display, true, '{}', created_at
        from (select * from cart_line where cart_id = '${id}' limit 1) l, generate_series(1, 100) n;
        update cart set version = version + 1 where id = '${id}'; commit`);
      return undefined;
    });
    const add = (variant: string | undefined) =>
      changeCart(world(), "cartLinesAdd", {
        cartId: id,
        input: { lines: [{ variantId: variant ?? "", quantity: 1 }] },
      });
    expect((await add(ids[0])).error).toBeUndefined();
    expect(faultsOf((await withoutTrace(world(), () => add(ids[100]))).error)).toEqual([
      "invalid_field",
      "/lines too_long",
    ]);
    const { id: source } = await makeCart(world(), {
      input: { lines: [{ variantId: ids[100], quantity: 1 }] },
    });
    const merge = () => changeCart(world(), "cartMerge", { cartId: id, input: { sourceCartId: source } });
    expect(faultsOf((await withoutTrace(world(), merge)).error)).toEqual([
      "invalid_field",
      "/sourceCartId too_long",
    ]);
  });

  it("allow a quantity of 9999 per line at most, however it is added", async () => {
    await world()
      .database.db.updateTable("stockLevel")
      .set({ onHand: 20_000 })
      .where("variantId", "=", variantId)
      .execute();
    const { id } = await makeCart(world(), { lines: { "KIT-KVERN": 9998 } });
    const add = () =>
      changeCart(world(), "cartLinesAdd", { cartId: id, input: { lines: [{ variantId, quantity: 5 }] } });
    expect((await add()).data).toMatchObject({
      version: 2,
      lines: [{ quantity: 9999, availableQuantity: 9999 }],
    });
    expect((await withoutTrace(world(), add)).data.version).toBe(2);
  });
});
