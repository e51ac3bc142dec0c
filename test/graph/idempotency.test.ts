/**
 * Mutations with an idempotencyKey happen once, and a retry gets the whole stored answer. Refused mutations
 * store nothing.
 */
import { randomUUID } from "node:crypto";
import { beforeAll, beforeEach, expect, it } from "vitest";
import type { DemoJsonFileContent } from "#demo/demo-file.ts";
import { openCart, openShop, type Shop } from "#soak/shop.ts";
import { describeOnBoth, manyConnections } from "#test/support/databases.ts";
import { useWorld } from "#test/support/use-world.ts";
import type { Answer } from "#test/support/world.ts";

describeOnBoth("a mutation with an idempotencyKey", (_open, engine) => {
  const world = useWorld(engine, { poolSize: manyConnections });
  let shop: Shop;
  let cartId: string;
  let variantId: string;
  beforeAll(async () => {
    shop = await openShop(world().send, world().demo);
    [variantId = ""] = shop.variantIds;
  });
  beforeEach(async () => {
    cartId = (await openCart(world().send, shop)).id;
  });

  type Variables = Record<string, unknown>;
  const add =
    "mutation ($cartId: ID!, $key: String, $input: CartLinesAddInput!) { cartLinesAdd(cartId: $cartId, " +
    "idempotencyKey: $key, input: $input) { id version } }";
  const adjust =
    "mutation ($key: String!, $input: StockAdjustInput!) { stockAdjust(idempotencyKey: $key, input: " +
    "$input) { id stock { onHand } } }";
  const one = (quantity = 1): Variables => ({ cartId, input: { lines: [{ variantId, quantity }] } });
  const ask = (
    query: string,
    variables: Variables,
    token: keyof DemoJsonFileContent["tokens"] = "storefront",
  ): Promise<Answer> => world().graphql(query, { variables, token });
  const versionOf = async (): Promise<number> =>
    (
      await world()
        .database.db.selectFrom("cart")
        .select("version")
        .where("id", "=", cartId)
        .executeTakeFirstOrThrow()
    ).version;
  const countRecords = async (): Promise<number> =>
    (await world().database.db.selectFrom("idempotencyRecord").select("ownerId").execute()).length;
  const movements = async (note: string): Promise<number> =>
    (await world().database.db.selectFrom("stockMovement").select("id").where("note", "=", note).execute())
      .length;
  const replayed = ({ headers }: Answer): string | undefined => headers["idempotent-replayed"];
  const codeOf = ({ body }: Answer): string | undefined => body.errors?.[0].extensions.code;

  it.each([
    ["a variable", add, true],
    ["a text in the document", add.replace("$key: String, ", "").replace("$key", '"KEY"'), false],
    ["a block text in the document", add.replace("$key: String, ", "").replace("$key", '"""KEY"""'), false],
    ["a variable's default", add.replace("$key: String", '$key: String = "KEY"'), false],
    [
      "a fragment",
      `${add.replace(/\{ (cartLinesAdd.*)\}$/, "{ ...Adding }")} fragment Adding on Mutation { ${/cartLinesAdd.*\}(?= \}$)/.exec(add)?.[0]} }`,
      true,
    ],
    [
      "an inline fragment",
      add.replace(/\{ (cartLinesAdd.*\}) \}$/, "{ ... on Mutation { ... { $1 } } }"),
      true,
    ],
  ])("is replayed if the key is %s", async (_name, query, isVariable) => {
    const key = randomUUID();
    const text = query.replace("KEY", key);
    const variables = { ...one(), ...(isVariable ? { key } : {}) };
    const first = await ask(text, variables);
    const again = await ask(text, variables);
    expect(first.body).toMatchObject({ data: { cartLinesAdd: { id: cartId, version: 2 } } });
    expect(again.body).toEqual(first.body);
    expect([first, again].map((answer) => [answer.status, replayed(answer)])).toEqual([
      [200, "false"],
      [200, "true"],
    ]);
    expect(again.headers["x-request-id"]).not.toBe(first.headers["x-request-id"]);
    expect(await versionOf()).toBe(2);
  });

  it("runs every time without a key, and sends no replay header", async () => {
    for (const version of [2, 3]) {
      const answer = await ask(add, one());
      expect([answer.body.data.cartLinesAdd.version, replayed(answer)]).toEqual([version, undefined]);
    }
    const answer = await ask(add, { ...one(), key: null });
    expect([answer.body.data.cartLinesAdd.version, replayed(answer)]).toEqual([4, undefined]);
  });

  it.each(["", "a b", "a,b", "a;b", 'a"b', "a\\b", "k".repeat(256), "schlüssel", '""'])(
    "is refused with the key %j",
    async (key) => {
      const kept = await countRecords();
      const { status, body } = await ask(add, { ...one(), key });
      expect({ status, body }).toMatchObject({
        status: 400,
        body: {
          errors: [
            {
              extensions: {
                code: "idempotency_key_invalid",
                details: [{ in: "body", field: "/idempotencyKey", code: "pattern_mismatch", allowed: null }],
              },
            },
          ],
        },
      });
      expect(body.data).toBeUndefined();
      expect([await versionOf(), await countRecords()]).toEqual([1, kept]);
    },
  );

  const pair = (second: string): string =>
    `mutation ($cartId: ID!, $key: String, $input: CartLinesAddInput!) { cartLinesAdd(cartId: $cartId,
      idempotencyKey: $key, input: $input) { id } ${second} }`;
  it.each([
    ["another mutation", pair("b: cartLinesAdd(cartId: $cartId, input: $input) { id }")],
    [
      "the same one twice",
      pair("b: cartLinesAdd(cartId: $cartId, idempotencyKey: $key, input: $input) { id }"),
    ],
    [
      "a second one in a fragment",
      `${pair("...More")} fragment More on Mutation { b: cartLinesAdd(cartId: $cartId, input: ` +
        "$input) { id } }",
    ],
  ])("is refused beside %s, and neither runs", async (_name, query) => {
    const { status, body } = await ask(query, { ...one(), key: randomUUID() });
    expect([status, codeOf({ body } as Answer), body.errors[0].extensions.details[0].code]).toEqual([
      400,
      "idempotency_key_invalid",
      "single_field",
    ]);
    expect(await versionOf()).toBe(1);
  });

  it("is replayed beside __typename, which clients add automatically", async () => {
    const sent = { ...one(), key: randomUUID() };
    const [first, second] = [await ask(pair("__typename"), sent), await ask(pair("__typename"), sent)];
    expect([first.status, replayed(first), replayed(second), Object.values(second.body.data).at(-1)]).toEqual(
      [200, "false", "true", "Mutation"],
    );
    expect(await versionOf()).toBe(2);
  });

  it("is not replayed to another buyer, whose request differs", async () => {
    const key = randomUUID();
    const create = `mutation ($key: String) { cartCreate(idempotencyKey: $key, input: { market: "DE" }) { id
      buyer { reference } } }`;
    const asBuyer = (buyer: string) =>
      world().send({
        method: "POST",
        url: "/graphql",
        headers: { authorization: `Bearer ${world().demo.tokens.storefront}`, "x-buyer-reference": buyer },
        body: { query: create, variables: { key } },
      });
    expect((await asBuyer("anna")).body.data.cartCreate.buyer).toEqual({ reference: "anna" });
    expect(codeOf(await asBuyer("berta"))).toBe("idempotency_key_reused");
    expect(replayed(await asBuyer("anna"))).toBe("true");
  });

  it("stores nothing if it is refused: the key can be used for another request", async () => {
    const key = randomUUID();
    const kept = await countRecords();
    const stale = { cartId, key, input: { lines: [{ variantId, quantity: 1 }], expectedVersion: 9 } };
    for (let times = 0; times < 2; times += 1) {
      const refused = await ask(add, stale);
      expect([codeOf(refused), replayed(refused)]).toEqual(["cart_version_conflict", undefined]);
    }
    expect([
      codeOf(await ask(add, { ...one(0), key })),
      codeOf(await ask(add, { ...one(), key, cartId: "cart_x" })),
    ]).toEqual(["invalid_field", "cart_not_found"]);
    expect([await versionOf(), await countRecords()]).toEqual([1, kept]);
    expect(replayed(await ask(add, { ...one(), key }))).toBe("false");
    expect([await versionOf(), await countRecords()]).toEqual([2, kept + 1]);
  });

  it.each([
    ["another field of the answer", { query: add.replace("{ id version }", "{ id }") }],
    ["another alias", { query: add.replace("{ cartLinesAdd(", "{ a: cartLinesAdd(") }],
    ["another variable", { quantity: 2 }],
    ["another operation's name", { query: add.replace("mutation (", "mutation Named(") }],
  ])(
    "is refused if its key was used with %s",
    async (_name, { query = add, quantity = 1 }: { query?: string; quantity?: number }) => {
      const key = randomUUID();
      await ask(add, { ...one(), key });
      const refused = await ask(query, { ...one(quantity), key });
      expect([codeOf(refused), refused.body.data, replayed(refused)]).toEqual([
        "idempotency_key_reused",
        null,
        undefined,
      ]);
      expect(await versionOf()).toBe(2);
    },
  );

  it("is the same request with other white space, comments and variable order", async () => {
    const key = randomUUID();
    const first = await ask(add, { cartId, key, input: one()["input"] });
    const again = await ask(`# a comment\n${add.replaceAll(" ", "\n ")}`, {
      input: one()["input"],
      key,
      cartId,
    });
    expect([again.body.data, replayed(again)]).toEqual([first.body.data, "true"]);
  });

  it("shares its key neither with another token nor with REST", async () => {
    const key = randomUUID();
    await ask(add, { ...one(), key }, "storefront");
    expect(replayed(await ask(add, { ...one(), key }, "admin"))).toBe("false");
    expect(await versionOf()).toBe(3);
    const rest = await world().send({
      method: "PUT",
      url: `/api/v1/open/storefront/carts/${cartId}/promotion`,
      headers: { authorization: `Bearer ${world().demo.keys.full}`, "idempotency-key": key },
      body: { code: shop.codes[0] },
    });
    expect([rest.status, rest.headers["idempotent-replayed"]]).toEqual([200, "false"]);
  });

  it("is refused to a role that may not run it, even with a used key", async () => {
    const key = randomUUID();
    const input = { variantId, delta: 1, reason: "RECEIVED", note: key };
    await ask(adjust, { key, input }, "admin");
    for (const token of ["storefront", "analyst"] as const) {
      const refused = await ask(adjust, { key, input }, token);
      expect([refused.status, codeOf(refused)]).toEqual([403, "role_not_allowed"]);
    }
    expect(await movements(key)).toBe(1);
  });

  it("ignores the key if the operation that runs is a query", async () => {
    const kept = await countRecords();
    const query = `query Reading($cartId: ID!) { cart(id: $cartId) { id } }
      ${add.replace("mutation (", "mutation Adding(")}`;
    const body = { query, operationName: "Reading", variables: { ...one(), key: randomUUID() } };
    const headers = { authorization: `Bearer ${world().demo.tokens.storefront}` };
    const answer = await world().send({ method: "POST", url: "/graphql", headers, body });
    expect([answer.body.data, replayed(answer)]).toEqual([{ cart: { id: cartId } }, undefined]);
    expect([await versionOf(), await countRecords()]).toEqual([1, kept]);
  });

  it("requires a key for stock adjustments", async () => {
    const note = randomUUID();
    const query = "mutation ($input: StockAdjustInput!) { stockAdjust(input: $input) { id } }";
    const { status, body } = await ask(
      query,
      { input: { variantId, delta: 1, reason: "RECEIVED", note } },
      "admin",
    );
    expect([status, body.errors[0].extensions.code]).toEqual([400, "malformed_request"]);
    expect(body.errors[0].message).toContain("idempotencyKey");
    expect(await movements(note)).toBe(0);
  });

  it("adjusts stock once for 20 concurrent requests", async () => {
    const key = randomUUID();
    const before = await world()
      .database.db.selectFrom("stockLevel")
      .select("onHand")
      .where("variantId", "=", variantId)
      .executeTakeFirstOrThrow();
    const send = (): Promise<Answer> =>
      ask(adjust, { key, input: { variantId, delta: 7, reason: "RECEIVED", note: key } }, "admin");
    const answers = await Promise.all(Array.from({ length: 20 }, send));
    const done = answers.filter((answer) => codeOf(answer) === undefined);
    expect(done.filter((answer) => replayed(answer) === "false")).toHaveLength(1);
    expect(new Set(done.map(({ text }) => text)).size).toBe(1);
    for (const answer of answers)
      if (!done.includes(answer)) expect(codeOf(answer)).toBe("idempotency_in_progress");
    expect(await movements(key)).toBe(1);
    const after = await world()
      .database.db.selectFrom("stockLevel")
      .select("onHand")
      .where("variantId", "=", variantId)
      .executeTakeFirstOrThrow();
    expect(after.onHand).toBe(before.onHand + 7);
    expect((await send()).text).toBe(done[0]?.text);
  });
});
