/**
 * Tests with canary values that buyers' data and secrets never leak: recognizable values go through every
 * cart operation, including failing requests, and are then searched for in every answer, log line, event,
 * trace and column.
 */
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTracing } from "#observability/tracing.ts";
import { erasePersonalDataPastRetention } from "#commerce/addresses/personal-data.ts";
import { cartsUrl, makeCart, makeCode } from "#test/operations/cart-calls.ts";
import { type MarkedPurchase, purchaseMarked } from "#test/support/marked-purchase.ts";
import { createLog } from "#foundation/log.ts";
import { type Collector, startCollector } from "#test/support/collector.ts";
import { type Answer, createWorld, type World } from "#test/support/world.ts";

/**
 * The markers do not occur in what may be shown: the country, the town, half of the postal code, initials,
 * the e-mail's hint.
 */
const markers = {
  name: "Zqxvgiven Zqxvfamily",
  company: "Zqxvcompany",
  street: "Zqxvstreet 77",
  floor: "Zqxvfloor",
  yard: "Zqxvyard",
  district: "Zqxvdistrict",
  mailbox: "zqxvmailbox",
  domain: "zqxvdomain",
  buyersMailbox: "zqxvbuyer",
  phone: "31201234987",
  key: "zqxvkey",
  // Random ids contain no U and no O.
  postalCode: "9876UO",
  postalCodeSpaced: "9876 UO",
  card: "zqxvcard",
} as const;

const address = {
  recipientName: markers.name,
  company: markers.company,
  line1: markers.street,
  line2: markers.floor,
  line3: markers.yard,
  district: markers.district,
  city: "Utrecht",
  postalCode: markers.postalCode,
  countryCode: "NL",
  phone: `+${markers.phone}`,
  email: `${markers.mailbox}@${markers.domain}.example`,
};

/** Returns the markers found in a text, as `marker: place`. */
function findMarkers(place: string, text: string): string[] {
  const searched = text.toLowerCase();
  return Object.entries(markers).flatMap(([name, value]) =>
    searched.includes(value.toLowerCase()) ? [`${name}: ${place}`] : [],
  );
}

describe.each(["pglite", "postgres"] as const)("a buyer's data on %s", (engine) => {
  let world: World;
  const answers: { readonly name: string; readonly answer: Answer }[] = [];
  const tokens: string[] = [];
  let restCart: string;
  let bought: MarkedPurchase;
  let collector: Collector;
  let stopTracing: () => Promise<void>;

  beforeAll(async () => {
    collector = await startCollector();
    stopTracing = startTracing({
      endpoint: collector.endpoint,
      environment: {},
      log: createLog("silent"),
      intervalMs: 20,
    });
    world = await createWorld(engine);
    await makeCode(world, "CANARY");
    await makeCode(world, "CANARY-DEAR", { minimumSubtotalMinor: 1_000_000, currency: "EUR" });
    restCart = (await makeCart(world, { lines: { "KIT-KVERN": 1 } })).id;
    await walkRest();
    await walkGraphql();
    bought = await purchaseMarked(world, {
      address,
      email: `${markers.buyersMailbox}@${markers.domain}.example`,
      cardToken: `tok_${markers.card}`,
    });
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    await stopTracing();
    await collector[Symbol.asyncDispose]();
  });

  const rest = async (
    name: string,
    { method, path, body, key = name }: { method: string; path: string; body: unknown; key?: string },
  ): Promise<Answer> => {
    const headers = {
      authorization: `Bearer ${world.demo.keys.full}`,
      "idempotency-key": `${markers.key}-${key.replaceAll(" ", "-")}`,
    };
    const answer = await world.send({ method, url: `${cartsUrl}/${restCart}${path}`, headers, body });
    answers.push({ name: `REST ${name}`, answer });
    return answer;
  };

  async function walkRest(): Promise<void> {
    const set = (name: string, body: unknown, key = name) =>
      rest(name, { method: "PUT", path: "/address", body, key });
    const statuses = [
      await set("set", { address }),
      await set("set", { address }),
      await set(
        "set with the same key and another body",
        { address: { ...address, line2: markers.yard } },
        "set",
      ),
      await set("set again", { address, expectedVersion: 2, validation: "basic" }),
      await set("another version", { address, expectedVersion: 99 }),
      await set("bad parts", {
        address: {
          ...address,
          postalCode: `${markers.postalCode}${markers.postalCode}`,
          phone: markers.street,
          email: markers.mailbox,
        },
      }),
      await set("bad region", { address: { ...address, regionCode: "ZQ" } }),
      await set("html", { address: { ...address, line1: `<b>${markers.street}</b>` } }),
      await set("wrong types", {
        address: { ...address, line1: [markers.street], city: { name: markers.name } },
      }),
      await set("an unknown field", {
        address: { ...address, zqxvextra: markers.street },
        surprise: markers.name,
      }),
      await set("too long", { address: { ...address, recipientName: markers.name.repeat(10) } }),
      await set("broken JSON", `{"address":{"recipientName":"${markers.name}",`),
      await set("another country", {
        address: { ...address, countryCode: "US", regionCode: "CA", postalCode: "94103" },
      }),
      await rest("apply", { method: "PUT", path: "/promotion", body: { code: "canary" } }),
      await rest("apply too dear", { method: "PUT", path: "/promotion", body: { code: "canary-dear" } }),
      await rest("apply unknown", { method: "PUT", path: "/promotion", body: { code: "unknown" } }),
      await rest("remove", { method: "DELETE", path: "/promotion", body: { expectedVersion: 4 } }),
      await rest("read", { method: "GET", path: "", body: undefined }),
      await rest("revoke another version", { method: "POST", path: "/revoke", body: { expectedVersion: 1 } }),
      await rest("revoke", {
        method: "POST",
        path: "/revoke",
        body: { expectedVersion: 5, reason: "buyer_request" },
      }),
      await set("set after the end", { address }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([
      200, 200, 409, 200, 409, 400, 400, 400, 400, 400, 400, 400, 409, 200, 409, 404, 200, 200, 409, 200, 409,
    ]);
    tokens.push(...answers.flatMap(({ answer }) => answer.body?.data?.addressToken ?? []));
  }

  async function walkGraphql(): Promise<void> {
    const { id: cartId } = await makeCart(world, { lines: { "KIT-KVERN": 1 } });
    const ask = async (name: string, field: string, input: unknown): Promise<Answer> => {
      const [type, selection] =
        field === "cartAddressSet"
          ? ["PublicCartAddressSetRequest", "addressToken address { city } validation { corrected }"]
          : ["CartBuyerSetInput", "buyer { emailHint }"];
      const query = `mutation ($cartId: ID!, $key: String, $input: ${type}!) {
        ${field}(cartId: $cartId, idempotencyKey: $key, input: $input) { ${selection} }
      }`;
      const answer = await world.graphql(query, {
        variables: { cartId, key: `${markers.key}-${name.replaceAll(" ", "-")}`, input },
        token: "storefront",
      });
      answers.push({ name: `GraphQL ${name}`, answer });
      return answer;
    };
    const set = await ask("set", "cartAddressSet", { address });
    tokens.push(set.body.data.cartAddressSet.addressToken);
    await ask("set", "cartAddressSet", { address });
    await ask("another version", "cartAddressSet", { address, expectedVersion: 99 });
    await ask("bad parts", "cartAddressSet", {
      address: { ...address, postalCode: "X", email: markers.mailbox },
    });
    await ask("too long", "cartAddressSet", {
      address: { ...address, recipientName: markers.name.repeat(10) },
    });
    const buyer = await ask("buyer", "cartBuyerSet", {
      email: `${markers.buyersMailbox}@${markers.domain}.example`,
    });
    expect(buyer.body.data.cartBuyerSet.buyer.emailHint).toBe("z•••@z•••.example");
    await ask("a bad e-mail", "cartBuyerSet", { email: `${markers.buyersMailbox} ${markers.domain}` });
  }

  const variableCases: [string, unknown, string][] = [
    [
      "an unknown field",
      { address: { ...address, zqxvextra: 1 } },
      'at "input.address" is not valid: Field "zqxvextra" is not defined by type',
    ],
    [
      "a missing field",
      { address: { ...address, recipientName: undefined } },
      'Field "recipientName" of required type "String!" was not provided.',
    ],
    [
      "a wrong type",
      { address: { ...address, line1: [markers.street] } },
      'at "input.address.line1" is not valid: expected type String.',
    ],
    [
      "a text for the address",
      { address: markers.street },
      'at "input.address" is not valid: Expected type "PostalAddressInput" to be an object.',
    ],
    [
      "a value of no enum",
      { address, validation: markers.name },
      // Only the admin's error lists the values of the enum.
      'at "input.validation" ',
    ],
    [
      "a text for a number",
      { address, expectedVersion: markers.phone },
      'at "input.expectedVersion" is not valid: expected type Int.',
    ],
    [
      "a number out of range",
      { address, expectedVersion: Number(markers.phone) },
      'at "input.expectedVersion" is not valid: expected type Int.',
    ],
    [
      "a field that is named like a person",
      { address: { ...address, [markers.name]: 1 } },
      "a field is not defined by type",
    ],
  ];

  it.each(variableCases)(
    "is not quoted by GraphQL's refusal of %s, which states the expected input",
    async (_name, input, expected) => {
      const query = `mutation ($input: PublicCartAddressSetRequest!) {
        cartAddressSet(cartId: "cart_x", input: $input) { cartId }
      }`;
      for (const token of ["storefront", "admin"]) {
        const { status, text, body } = await world.graphql(query, { variables: { input }, token });
        expect({ status, found: findMarkers("the answer", text) }).toEqual({
          status: expect.any(Number),
          found: [],
        });
        expect(body.errors[0].message).toContain(expected);
        expect(body.errors[0].message).toContain('Variable "$input"');
        expect(body.errors[0].extensions.code).toBe("malformed_request");
      }
    },
  );

  const addressOf = (parts: string): string =>
    `mutation { cartAddressSet(cartId: "cart_x", input: { address: ${parts} }) { cartId } }`;
  const documentCases: [string, string, string][] = [
    ["a text for the address", addressOf(`"${markers.street}"`), "expected type PostalAddressInput!."],
    ["a list for a text", addressOf(`{ line1: ["${markers.street}"] }`), "expected type String."],
    [
      "a number for a text",
      addressOf(`{ phone: ${markers.phone} }`),
      '"address.phone" must be a telephone number',
    ],
    ["a bare word for a text", addressOf(`{ line1: ${markers.floor} }`), "expected type String."],
    [
      "a value of no enum",
      `mutation { cartAddressSet(cartId: "c", input: { validation: ${markers.floor} }) { cartId } }`,
      '"validation" ',
    ],
    [
      "a text for an enum",
      `mutation { cartAddressSet(cartId: "c", input: { validation: "${markers.name}" }) { cartId } }`,
      '"validation" ',
    ],
    [
      "a text for a number",
      `mutation { cartAddressSet(cartId: "c", input: { expectedVersion: "${markers.name}" }) { cartId } }`,
      "expected type Int.",
    ],
    [
      "a number out of range",
      `mutation { cartAddressSet(cartId: "c", input: { expectedVersion: ${markers.phone} }) { cartId } }`,
      "expected type Int.",
    ],
    ["a name without quotes", addressOf(`{ recipientName: ${markers.name}, line1: "x" }`), "Syntax Error: "],
    ["a text in the wrong place", addressOf(`{ "${markers.name}": 1 }`), "found String."],
    [
      "a text with quotes in it",
      addressOf(`{ """${markers.floor} "${markers.street}" 1""": 1 }`),
      "found BlockString.",
    ],
    ["a number in the wrong place", addressOf(`{ ${markers.phone}: 1 }`), "found Int."],
    [
      "a text without an end",
      addressOf(`{ recipientName: "${markers.name} }`),
      "Syntax Error: Unterminated string.",
    ],
  ];

  it.each(documentCases)(
    "is not quoted by GraphQL's refusal of a document with %s",
    async (_name, query, expected) => {
      for (const token of ["storefront", "admin"]) {
        const { status, text, body } = await world.graphql(query, { token });
        expect({ status, found: findMarkers("the answer", text) }).toEqual({ status: 400, found: [] });
        expect(body.errors.map(({ message }: { message: string }) => message).join("\n")).toContain(expected);
      }
    },
  );

  it("is not quoted if it is used as an operation name, or if the body cannot be parsed", async () => {
    const bodies = [
      JSON.stringify({ query: "query A { viewer { role } }", operationName: markers.name }),
      `{"query": ${markers.name}`,
    ];
    for (const body of bodies) {
      const headers = { authorization: `Bearer ${world.demo.tokens.storefront}` };
      const { status, text } = await world.send({ method: "POST", url: "/graphql", headers, body });
      expect({ status, found: findMarkers("the answer", text) }).toEqual({ status: 400, found: [] });
    }
  });

  it("is in no answer, successful or refused", () => {
    expect(answers.length).toBeGreaterThan(25);
    expect(
      answers.flatMap(({ name, answer }) => findMarkers(name, answer.text + JSON.stringify(answer.headers))),
    ).toEqual([]);
    expect(bought.answers.length).toBeGreaterThan(10);
    expect(findMarkers("a purchase", JSON.stringify(bought.answers))).toEqual([]);
  });

  it("is in no line of the log", () => {
    expect(world.logged.length).toBeGreaterThan(25);
    expect(findMarkers("the log", JSON.stringify(world.logged))).toEqual([]);
  });

  it("is in no trace", async () => {
    const count = (): number => collector.spans.filter(({ name }) => name === "insert event").length;
    await expect.poll(count).toBeGreaterThan(10);
    expect(collector.spans.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["graphql mutation", "payment authorize", "update cart"]),
    );
    const sent = collector.texts.join("\n");
    expect(findMarkers("a trace", sent)).toEqual([]);
    expect(tokens.filter((token) => sent.includes(token.slice(4)))).toEqual([]);
  });

  it("is in no event", async () => {
    const events = await world.database.db.selectFrom("event").select(["type", "snapshot", "thin"]).execute();
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining([
        "cart.address_set",
        "cart.revoked",
        "cart.updated",
        "checkout_session.payment_failed",
        "order.placed",
        "order.partially_canceled",
        "payment.captured",
        "fulfillment.delivered",
        "return.closed",
        "refund.succeeded",
      ]),
    );
    expect(events.flatMap(({ type, snapshot, thin }) => findMarkers(type, snapshot + thin))).toEqual([]);
  });

  /** All rows as text, with each bytea read both as Latin-1 and as UTF-8. */
  const stored = async (): Promise<{ place: string; text: string }[]> => {
    const { db } = world.database;
    const { rows: columns } = await sql<{ tableName: string; columnName: string; dataType: string }>`
      select table_name, column_name, data_type from information_schema.columns
      where table_schema = 'public' order by 1, 2`.execute(db);
    const texts: { place: string; text: string }[] = [];
    for (const table of new Set(columns.map(({ tableName }) => tableName))) {
      const { rows } = await sql<{
        text: string;
      }>`select coalesce(string_agg(t::text, ' '), '') as text from ${sql.table(table)} t`.execute(db);
      texts.push({ place: table, text: rows[0]?.text ?? "" });
    }
    for (const { tableName, columnName } of columns.filter(({ dataType }) => dataType === "bytea")) {
      const { rows } = await sql<{
        bytes: Uint8Array | null;
      }>`select ${sql.ref(columnName)} as bytes from ${sql.table(tableName)}`.execute(db);
      const bytes = Buffer.concat(rows.flatMap(({ bytes: value }) => (value === null ? [] : [value])));
      texts.push({
        place: `${tableName}.${columnName}`,
        text: `${bytes.toString("latin1")} ${bytes.toString("utf8")}`,
      });
    }
    return texts;
  };

  it("is in no column of any table", async () => {
    const texts = await stored();
    const places = texts.map(({ place }) => place);
    expect(places).toEqual(
      expect.arrayContaining([
        "cart",
        "sales_order",
        "order_return",
        "payment.token_sealed",
        "test_provider_payment",
        "personal_data.sealed",
        "idempotency_record.sealed",
        "idempotency_record.idempotency_key",
      ]),
    );
    expect(texts.flatMap(({ place, text }) => findMarkers(place, text))).toEqual([]);
  });

  it("is accessible only by tokens that are stored as digests, in no table, event or log", async () => {
    // Replays return the original answers: as many different tokens as effects.
    expect(new Set(tokens).size).toBe(3);
    const everything = [...(await stored()), { place: "the log", text: JSON.stringify(world.logged) }];
    expect(
      everything
        .filter(({ text }) => tokens.some((token) => text.includes(token) || text.includes(token.slice(4))))
        .map(({ place }) => place),
    ).toEqual([]);
  });

  it("is shown in an order to the staff who ship it, also after carts' addresses are erased", async () => {
    await erasePersonalDataPastRetention(
      world.database.db,
      new Date(world.clock.now().getTime() + 60 * 24 * 3_600_000),
    );
    const query =
      "query ($id: ID!) { order(id: $id) { shippingAddress { recipientName line1 postalCode } buyerEmail } }";
    const { body } = await world.graphql(query, { variables: { id: bought.orderId }, token: "admin" });
    expect(body.data.order).toEqual({
      shippingAddress: {
        recipientName: markers.name,
        line1: markers.street,
        postalCode: markers.postalCodeSpaced,
      },
      buyerEmail: `${markers.buyersMailbox}@${markers.domain}.example`,
    });
    expect(findMarkers("the log", JSON.stringify(world.logged))).toEqual([]);
  });

  it("is erased with its key a day after the cart was revoked", async () => {
    world.clock.advance(24 * 3_600_000);
    await erasePersonalDataPastRetention(world.database.db, world.clock.now());
    const rows = await world.database.db
      .selectFrom("personalData")
      .selectAll()
      .where("cartId", "=", restCart)
      .execute();
    const erased = {
      countryCode: "NL",
      regionCode: null,
      city: null,
      postalCodePrefix: null,
      recipientInitials: null,
      complete: false,
    };
    expect(rows.map(({ sealed, dataKey, keyId, masked }) => ({ sealed, dataKey, keyId, masked }))).toEqual([
      { sealed: null, dataKey: null, keyId: null, masked: erased },
      { sealed: null, dataKey: null, keyId: null, masked: erased },
    ]);
  });
});
