/**
 * Tax classes from the merchant's settings to the order: a cart with two rates, shipping taxed in proportion
 * to the goods, rounding by order, a rate that changes later, and the taxes of partial refunds.
 */
import { randomUUID } from "node:crypto";
import { beforeAll, expect, it } from "vitest";
import { drive, openCheckout, ordersOf, submitted } from "#test/commerce/payments/checkouts.ts";
import {
  askGraph,
  berlin,
  changeCart,
  type GraphAnswer,
  makeCart,
  variantOf,
} from "#test/operations/cart-calls.ts";
import { loadCurrentCartPricingData } from "#commerce/carts/load-offer.ts";
import { runInTransaction } from "#database/transaction.ts";
import { statementsOf, useWorld } from "#test/support/use-world.ts";
import { done, paymentOf } from "./order-money-calls.ts";
import { readOrder } from "#test/support/orders.ts";
import { buyerOf, makePayableSession, textOf } from "#test/web/checkout/buyer.ts";
import { periodArgumentsOfDemo } from "#test/support/test-clock.ts";

const world = useWorld();
const standardSku = "KIT-KVERN";
const reducedSku = "KIT-EMALJE-WHITE";

async function change(field: string, type: string, input: object): Promise<GraphAnswer["data"]> {
  const selection =
    field === "productUpdate" ? "id taxClass version" : field === "taxClassUpsert" ? "code" : "id";
  const query = `mutation ($key: String!, $input: ${type}!) {
    ${field}(idempotencyKey: $key, input: $input) { ${selection} } }`;
  const { data, error } = await askGraph(world(), query, { key: randomUUID(), input }, { token: "admin" });
  expect(error).toBeUndefined();
  return data;
}

interface GermanMarket {
  readonly id: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly deliveryMethod: Readonly<Record<string, unknown>>;
}
let market: GermanMarket;
/** The product before and after its tax class changed. */
let classes: readonly GraphAnswer["data"][] = [];

async function readMarket(): Promise<GermanMarket> {
  const { data } = await askGraph(
    world(),
    `{ markets { id handle name currency taxIncluded defaultLocale timeZone countries taxRounding
      deliveryMethods { code names carrier pickup price { amountMinor } freeFrom { amountMinor } minDays
        maxDays position taxRule taxClass } } }`,
    {},
    { token: "admin" },
  );
  const { id, deliveryMethods, ...input } = data.find(({ countries }: { countries: string[] }) =>
    countries.includes("DE"),
  );
  const { names, price, freeFrom, ...method } = deliveryMethods.find(
    ({ code }: { code: string }) => code === "standard",
  );
  return {
    id,
    input,
    deliveryMethod: {
      ...method,
      names: Object.entries(names).map(([locale, text]) => ({ locale, text })),
      priceMinor: price.amountMinor,
      freeFromMinor: freeFrom.amountMinor,
    },
  };
}

const setRate = (rate: object): Promise<unknown> =>
  change("taxRateUpsert", "TaxRateUpsertInput", {
    marketId: market.id,
    country: "DE",
    name: "MwSt.",
    taxClass: "reduced",
    basisPoints: 700,
    appliesToShipping: true,
    ...rate,
  });
const setDelivery = (tax: object): Promise<unknown> =>
  change("deliveryMethodUpsert", "DeliveryMethodUpsertInput", {
    marketId: market.id,
    ...market.deliveryMethod,
    ...tax,
  });

beforeAll(async () => {
  market = await readMarket();
  await change("taxClassUpsert", "TaxClassUpsertInput", { code: "reduced", name: "Reduced rate" });
  await setRate({});
  const { productId } = await world()
    .database.db.selectFrom("variant")
    .select("productId")
    .where("id", "=", await variantOf(world(), reducedSku))
    .executeTakeFirstOrThrow();
  const setClass = (taxClass: string | null): Promise<GraphAnswer["data"]> =>
    change("productUpdate", "ProductUpdateInput", { productId, taxClass });
  classes = [await setClass(null), await setClass("reduced")];
});

it("a product has the class `standard` until it gets another one, which is a new version", () => {
  const [before, after] = classes;
  expect([before?.["taxClass"], after?.["taxClass"]]).toEqual(["standard", "reduced"]);
  expect(after?.["version"]).toBe(before?.["version"] + 1);
  expect(market.input["taxRounding"]).toBe("LINE");
});

it("an import checks the tax classes of all its items with one statement", async () => {
  const item = (slug: string, taxClass: string): object => ({
    translations: [{ locale: "de", slug, title: slug }],
    variants: [{ sku: slug.toUpperCase(), options: [] }],
    taxClass,
  });
  const items = [item("taxed-mug", "reduced"), item("taxed-pot", "standard"), item("taxed-pan", "unknown")];
  const query = `mutation ($key: String!, $items: [ProductImportItem!]!) {
    productsImport(idempotencyKey: $key, input: { items: $items }) {
      results { status error { code details { field } } } } }`;
  const statements = await statementsOf(world(), async () => {
    const variables = { key: randomUUID(), items };
    const { data, error } = await askGraph(world(), query, variables, { token: "admin" });
    expect(error).toBeUndefined();
    const failure = { code: "resource_not_found", details: [{ field: "/taxClass" }] };
    expect(data.results).toEqual([
      { status: "CREATED", error: null },
      { status: "CREATED", error: null },
      { status: "FAILED", error: failure },
    ]);
  });
  expect(statements.filter((statement) => statement.includes('from "tax_class"'))).toHaveLength(1);
});

it("pricing loads only the tax rates of one country, and none for a cart without an address", async () => {
  const { db } = world().database;
  const load = async (taxCountry: string | null, hasAddress = true): Promise<string[]> => {
    const { market: loaded } = await runInTransaction(db, (transaction) =>
      loadCurrentCartPricingData(transaction, {
        merchantId: world().demo.merchants.first.id,
        marketId: market.id,
        variantIds: [],
        taxCountry,
        hasAddress,
        buyerReference: null,
        code: null,
        heldBySessionId: null,
        now: world().clock.now(),
      }),
    );
    expect(loaded.deliveries.length > 0).toBe(hasAddress);
    return [...new Set(loaded.taxes.map(({ country }) => country))];
  };
  expect((await load(null)).length).toBeGreaterThan(1);
  expect(await load("DE")).toEqual(["DE"]);
  expect(await load("DE", false)).toEqual([]);
});

const lineFields = "taxClass name basisPoints taxable { amountMinor } tax { amountMinor } lineIds";

interface Line {
  readonly taxClass: string;
  readonly basisPoints: number;
  readonly taxable: { readonly amountMinor: number };
  readonly tax: { readonly amountMinor: number };
  readonly reducedTax?: { readonly amountMinor: number };
  readonly lineIds: readonly string[];
}

const toRow = ({ taxClass, basisPoints, taxable, tax, lineIds }: Line): unknown => [
  taxClass,
  basisPoints,
  taxable.amountMinor,
  tax.amountMinor,
  lineIds.length,
];

/** Reads the tax of a cart with one unit of each product, its tax lines, and its delivery. */
async function readCartTaxes(cartId: string): Promise<GraphAnswer["data"]> {
  const query = `query ($id: ID!) { cart(id: $id) { taxLines { ${lineFields} }
    lines { id sku subtotal { amountMinor } tax { amountMinor } }
    totals { shipping { amountMinor } tax { amountMinor } total { amountMinor } } } }`;
  const { data, error } = await askGraph(world(), query, { id: cartId }, { token: "admin" });
  expect(error).toBeUndefined();
  return data;
}

const includedTax = (amountMinor: number, basisPoints: number): number =>
  Math.round((amountMinor * basisPoints) / (10_000 + basisPoints));

it("a cart with 19 % and 7 % has a tax line for each, and shipping by the class of the delivery method", async () => {
  const checkout = await openCheckout(world(), { lines: { [standardSku]: 1, [reducedSku]: 1 } });
  const cart = await readCartTaxes(checkout.cartId);
  const [standard, reduced] = [standardSku, reducedSku].map(
    (sku) => cart.lines.find((line: { sku: string }) => line.sku === sku).subtotal.amountMinor,
  );
  const shippingMinor = cart.totals.shipping.amountMinor;
  expect(shippingMinor).toBeGreaterThan(0);
  const taxes = [includedTax(standard, 1900) + includedTax(shippingMinor, 1900), includedTax(reduced, 700)];
  expect(cart.taxLines.map(toRow)).toEqual([
    ["standard", 1900, standard + shippingMinor - (taxes[0] ?? 0), taxes[0], 1],
    ["reduced", 700, reduced - (taxes[1] ?? 0), taxes[1], 1],
  ]);
  expect(cart.totals.tax.amountMinor).toBe((taxes[0] ?? 0) + (taxes[1] ?? 0));
});

it("the checkout page shows the rate of the tax, and each tax of several rates, in English and German", async () => {
  const read = async (lines: Readonly<Record<string, number>>, language: string): Promise<string> => {
    const { url } = await makePayableSession(world(), lines);
    const { text } = await buyerOf(world(), url, { headers: { "accept-language": language } }).open();
    return textOf(text);
  };
  const both = { [standardSku]: 1, [reducedSku]: 1 };
  const one = { [standardSku]: 1 };
  expect(await read(one, "en")).toMatch(/ Tax, included \S+ 19 % €\d+\.\d\d Total /);
  expect(await read(one, "de")).toMatch(/ Enthaltene Steuern \S+ 19 % \d+,\d\d € Gesamt /);
  expect(await read(both, "en")).toMatch(
    / Tax, included €\d+\.\d\d \S+ 19 % €\d+\.\d\d MwSt\. 7 % €\d+\.\d\d Total /,
  );
  const found = / Enthaltene Steuern (\d+,\d\d) € \S+ 19 % (\d+,\d\d) € MwSt\. 7 % (\d+,\d\d) € Gesamt /.exec(
    await read(both, "de"),
  );
  const [sum = 0, ...parts] = (found ?? []).slice(1).map((text) => Number(text.replace(",", "")));
  expect(parts).toHaveLength(2);
  expect(parts.reduce((left, part) => left - part, sum)).toBe(0);
});

it("a cart without an address has no tax lines", async () => {
  const { id } = await makeCart(world(), { lines: { [reducedSku]: 1 } });
  expect((await readCartTaxes(id)).taxLines).toEqual([]);
});

it("shipping is divided among the classes of the goods, and taxes are rounded by order", async () => {
  await setDelivery({ taxRule: "GOODS" });
  await change("marketUpsert", "MarketUpsertInput", {
    ...market.input,
    marketId: market.id,
    taxRounding: "ORDER",
  });
  try {
    const checkout = await openCheckout(world(), { lines: { [standardSku]: 1, [reducedSku]: 3 } });
    const { lines, taxLines, totals } = await readCartTaxes(checkout.cartId);
    const amountOf = (sku: string): number =>
      lines.find((line: { sku: string }) => line.sku === sku).subtotal.amountMinor;
    const [standard, reduced] = [amountOf(standardSku), amountOf(reducedSku)];
    const shippingMinor = totals.shipping.amountMinor;
    const reducedShare = Math.round((shippingMinor * reduced) / (standard + reduced));
    const standardTax = includedTax(standard + shippingMinor - reducedShare, 1900);
    const reducedTax = includedTax(reduced + reducedShare, 700);
    expect(taxLines.map(toRow)).toEqual([
      ["standard", 1900, standard + shippingMinor - reducedShare - standardTax, standardTax, 1],
      ["reduced", 700, reduced + reducedShare - reducedTax, reducedTax, 1],
    ]);
    expect(totals.tax.amountMinor).toBe(standardTax + reducedTax);
    // A change of the market without the rule keeps it.
    const { taxRounding: _, ...input } = market.input;
    await change("marketUpsert", "MarketUpsertInput", { ...input, marketId: market.id });
    expect((await readMarket()).input["taxRounding"]).toBe("ORDER");
  } finally {
    await change("marketUpsert", "MarketUpsertInput", { ...market.input, marketId: market.id });
    await setDelivery({ taxRule: "OWN_CLASS" });
  }
});

it("an order keeps the rates with which it was placed, and gives back the tax of what is refunded", async () => {
  const checkout = await openCheckout(world(), { lines: { [standardSku]: 1, [reducedSku]: 3 } });
  await submitted(world(), checkout, "tok_success");
  await drive(world());
  const [placed] = await ordersOf(world(), checkout);
  const orderId = placed?.id ?? "";
  const before = await orderTaxes(orderId);
  expect(before.map((line) => [line.taxClass, line.basisPoints, line.reducedTax?.amountMinor])).toEqual([
    ["standard", 1900, 0],
    ["reduced", 700, 0],
  ]);
  const today = world().clock.now().toISOString().slice(0, 10);
  const changeDay = Temporal.PlainDate.from(today).add({ days: 2 }).toString();
  await setRate({ basisPoints: 1000, validFrom: changeDay });
  const rateIn = async (days: number): Promise<number | undefined> => {
    world().clock.advance(days * 86_400_000);
    const { id } = await makeCart(world(), { lines: { [reducedSku]: 1 } });
    await changeCart(world(), "cartAddressSet", { cartId: id, input: { address: berlin } });
    return (await readCartTaxes(id)).taxLines[0]?.basisPoints;
  };
  expect([await rateIn(0), await rateIn(3)]).toEqual([700, 1000]);
  expect(await orderTaxes(orderId)).toEqual(before);
  const order = await readOrder(world(), orderId);
  const line = order.lines.find(({ display }) => display.sku === reducedSku);
  expect(line?.taxRate).toEqual({ taxClass: "reduced", name: "MwSt.", basisPoints: 700 });
  await done(world(), "paymentCapture", { id: paymentOf(order).id, input: {} });
  await drive(world());
  const reducedTax = async (): Promise<(number | undefined)[]> =>
    (await orderTaxes(orderId)).map((taxLine) => taxLine.reducedTax?.amountMinor);
  await done(world(), "orderCancel", {
    id: orderId,
    input: { lines: [{ lineId: line?.id, quantity: 1 }], reason: "OTHER" },
  });
  await drive(world());
  const unitMinor = Math.floor((line?.totalMinor ?? 0) / 3);
  expect(await reducedTax()).toEqual([0, includedTax(unitMinor, 700)]);
  await done(world(), "orderCancel", {
    id: orderId,
    input: { lines: [{ lineId: line?.id, quantity: 2 }], reason: "OTHER" },
  });
  await drive(world());
  expect(await reducedTax()).toEqual([0, line?.taxMinor]);
  await done(world(), "orderCancel", { id: orderId, input: { reason: "OTHER" } });
  const ended = await orderTaxes(orderId);
  expect(ended.map((taxLine) => taxLine.reducedTax)).toEqual(ended.map((taxLine) => taxLine.tax));
  const { taxLines } = await world()
    .database.db.selectFrom("salesOrder")
    .select("taxLines")
    .where("id", "=", orderId)
    .executeTakeFirstOrThrow();
  expect(taxLines).toMatchObject(
    ended.map(({ basisPoints, tax }) => ({ basisPoints, reducedTaxMinor: tax.amountMinor })),
  );
});

it("the sales report has taxes by country and rate, which add up to the tax of each country", async () => {
  const query = `{ salesReport(${periodArgumentsOfDemo()}, interval: MONTH) {
    countries { country currency totals { taxMinor netTaxMinor } }
    taxes(first: 1000) { country currency taxClass basisPoints taxMinor netTaxMinor } } }`;
  const { data, error } = await askGraph(world(), query, {}, { token: "admin" });
  expect(error).toBeUndefined();
  const { countries, taxes } = data;
  for (const { country, currency, totals } of countries) {
    const own = taxes.filter(
      (tax: { country: string; currency: string }) => tax.country === country && tax.currency === currency,
    );
    const sumOf = (field: "taxMinor" | "netTaxMinor"): number =>
      own.reduce((sum: number, tax: Record<string, number>) => sum + (tax[field] ?? 0), 0);
    expect({ country, taxMinor: sumOf("taxMinor"), netTaxMinor: sumOf("netTaxMinor") }).toEqual({
      country,
      ...totals,
    });
  }
  // The order with two classes, of which everything was canceled.
  expect(taxes).toContainEqual(
    expect.objectContaining({ country: "DE", taxClass: "reduced", basisPoints: 700, netTaxMinor: 0 }),
  );
});

async function orderTaxes(orderId: string): Promise<readonly Line[]> {
  const query = `query ($id: ID!) { order(id: $id) { taxLines {
    ${lineFields} reducedTax { amountMinor } } totals { tax { amountMinor } } } }`;
  const { data, error } = await askGraph(world(), query, { id: orderId }, { token: "admin" });
  expect(error).toBeUndefined();
  const lines: readonly Line[] = data.taxLines;
  expect(lines.reduce((sum, { tax }) => sum + tax.amountMinor, 0)).toBe(data.totals.tax.amountMinor);
  return lines;
}
