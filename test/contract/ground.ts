/** Data for generated requests: the demo's ids by type, its keys, and valid input for each operation. */
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import type { DemoJsonFileContent } from "#demo/demo-file.ts";
import type { DocumentOperation } from "./document.ts";
import { text, validOf } from "./values.ts";

export interface Ground {
  readonly demo: DemoJsonFileContent;
  readonly operations: readonly DocumentOperation[];
  /** Names of the event catalog. */
  readonly eventTypes: readonly string[];
}

export interface Parts {
  readonly path: Readonly<Record<string, string>>;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly body?: unknown;
}

type Key = `${string}.${string}`;

/** Existing ids for the first merchant's keys, by operation and parameter. */
export function ownIds(
  { demo }: Ground,
  { id: operationId }: DocumentOperation,
  name: string,
): readonly string[] {
  const { otherMerchant: _cart, ...carts } = demo.carts;
  const { otherMerchant: _order, ...orders } = demo.orders;
  const { otherMerchant: _session, ...sessions } = demo.sessions;
  const byPlace: Readonly<Record<Key, readonly string[]>> = {
    "getInstallationWebhookSignatureFixture.id": [demo.webhooks.endpoint],
    "replayInstallationWebhookDelivery.id": Object.values(demo.webhooks.deliveries),
  };
  const byName: Readonly<Record<string, readonly string[]>> = {
    cartId: Object.values(carts),
    orderId: Object.values(orders),
    sessionId: Object.values(sessions),
    merchantSlug: [demo.products[0]?.merchantSlug ?? ""],
    productSlug: demo.products
      .filter(({ merchantSlug }) => merchantSlug === demo.products[0]?.merchantSlug)
      .map(({ productSlug }) => productSlug),
  };
  return byPlace[`${operationId}.${name}`] ?? byName[name] ?? [];
}

/** Ids of another merchant, of another type, and invalid ids, encoded for an address. */
export function strangeIds({ demo }: Ground): fc.Arbitrary<string> {
  const foreign = [
    demo.carts.otherMerchant,
    demo.orders.otherMerchant,
    demo.sessions.otherMerchant,
    demo.merchants.second.slug,
    demo.merchants.first.id,
  ];
  const odd = [
    "0",
    "-",
    "null",
    "undefined",
    "%2e%2e%2f",
    "%00",
    "a%00b",
    "%zz",
    "%ff",
    "%ED%A0%80",
    "%E2%80%AE",
    "cart_",
    "'--",
    "%20",
    "1e9",
    "__proto__",
    "~",
    "%5B%5D",
  ];
  const unknown = ["cart", "ord", "chs", "whe", "whd", "evt"].map((prefix) => `${prefix}_${"0".repeat(26)}`);
  return fc.oneof(
    fc.constantFrom(...foreign, ...unknown, ...odd),
    text(1, 60).map((written) => encodeURIComponent(written.replaceAll(/[./]/g, "_"))),
    fc.constantFrom(100, 499, 501, 4000).map((length) => "x".repeat(length)),
    fc
      .constantFrom(demo.carts.active, demo.orders.placed, demo.webhooks.endpoint)
      .map((id) => id.toUpperCase()),
  );
}

/** Generates a valid request; only the state of its object may cause a refusal. */
export function soundParts(ground: Ground, operation: DocumentOperation): fc.Arbitrary<Parts> {
  const path = operation.parameters
    .filter((parameter) => parameter.in === "path")
    .map(({ name }) => fc.constantFrom(...ownIds(ground, operation, name)).map((id) => [name, id] as const));
  const query = operation.id === "searchPublicProducts" ? searches(ground) : fc.constant([]);
  const body = operation.body === null ? fc.constant(undefined) : soundBody(ground, operation);
  return fc.record({ path: fc.tuple(...path).map((entries) => Object.fromEntries(entries)), query, body });
}

/** Generates a valid body, with meaningful values where the schema is too general. */
function soundBody(ground: Ground, { body }: DocumentOperation): fc.Arbitrary<unknown> {
  return validOf(body ?? {}, {
    address: addresses,
    saveForBuyer: fc.constant(false),
    code: codes(ground),
    url: fc
      .constantFrom("", "/", "/hooks?x=%20", ":8443/a")
      .map((rest) => `https://hooks-${randomUUID()}.example.com${rest}`),
    eventTypes: fc.oneof(
      fc.constant(["*"]),
      fc.subarray([...ground.eventTypes, "cart.*", "order.*"], { minLength: 1, maxLength: 8 }),
    ),
    // Names are single lines.
    metadata: fc.dictionary(text(1, 40, fc.constantFrom("a", "Z", "é", "漢", "😀", "/", "~")), text(0, 500), {
      maxKeys: 5,
      noNullPrototype: true,
    }),
    endpointId: fc.constant(ground.demo.webhooks.endpoint),
    expectedVersion: fc.constantFrom(1, 7, 2 ** 31 - 1),
  });
}

const name = fc.constantFrom("Anna Beispiel", "Zoë Ångström", "見本 花子", "محمد", "O’Neill-Łoś");
const short = fc.constantFrom("", "2. OG", "c/o Müller", "Tür 7 (Hof)");

/** Addresses in the market of the demo's carts. */
const addresses = fc
  .record(
    {
      recipientName: name,
      line1: fc.constant("Musterweg 1"),
      postalCode: fc.constant("10115"),
      city: fc.constantFrom("Berlin", " Berlin "),
      countryCode: fc.constantFrom("DE", "de"),
    },
    { noNullPrototype: true },
  )
  .chain((base) =>
    fc
      .record(
        {
          company: short,
          line2: short,
          line3: short,
          district: short,
          phone: fc.constantFrom("+4930123456", "+49 (30) 123-456"),
          email: fc.constant("anna@example.com"),
        },
        { requiredKeys: [], noNullPrototype: true },
      )
      .map((more) => Object.assign({}, base, more)),
  );

/** Promotion codes as buyers type them. */
function codes({ demo }: Ground): fc.Arbitrary<string> {
  const { percentage, fixedAmount, freeShipping, minimumSubtotal, ended, exhausted } = demo.promotionCodes;
  const typed = fc.constantFrom<(code: string) => string>(
    (code) => code,
    (code) => code.toLowerCase(),
    (code) => `  ${code} `,
    (code) => code.replace("1", "１"),
  );
  return fc
    .tuple(fc.constantFrom(percentage, fixedAmount, freeShipping, minimumSubtotal, ended, exhausted), typed)
    .map(([code, type]) => type(code));
}

const sorts = ["relevance", "newest", "price_asc", "price_desc", "title_asc", "popularity"];

function searches({ demo }: Ground): fc.Arbitrary<Parts["query"]> {
  const words = fc.oneof(
    fc.constantFrom(
      "",
      "tent",
      "TENT ",
      "zelt",
      "テント",
      "tnet",
      "%",
      "_",
      "' or 1=1 --",
      "a & b | !c",
      "<->",
      "\\",
      '"tent"',
    ),
    text(0, 256),
  );
  const slug = fc.constantFrom(
    "kitchen",
    "no-such-slug",
    demo.merchants.first.slug,
    demo.merchants.second.slug,
  );
  return fc
    .record(
      {
        q: words,
        locale: fc.constantFrom(
          "en",
          "de",
          "de-CH-1996",
          "ja-JP",
          "zh-Hant-TW",
          "en-u-ca-buddhist",
          "EN-gb",
          "xx",
        ),
        market: fc.constantFrom("DE", "de", "JP", "US", "AQ"),
        sort: fc.constantFrom(...sorts),
        page: fc.constantFrom("1", "2", "007", "100"),
        pageSize: fc.constantFrom("1", "2", "50", "100"),
        category: slug,
        merchant: slug,
      },
      { requiredKeys: ["q", "locale", "market", "sort", "page", "pageSize"], noNullPrototype: true },
    )
    .map((query) => Object.entries(query));
}
