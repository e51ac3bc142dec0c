/**
 * Buyer sessions: a browser without a backend has a cart and places an order, and sees nothing of other
 * buyers. Every place of the graph that takes an id and that a storefront may call is tried with the ids of
 * another buyer of the same merchant.
 */
import { SignJWT } from "jose";
import { sql } from "kysely";
import { beforeAll, describe, expect, it } from "vitest";
import { askGraph, variantOf } from "#test/operations/cart-calls.ts";
import { digestTables } from "#test/support/all-rows.ts";
import { useWorld } from "#test/support/use-world.ts";
import { createSubjects, type Subject, subjectAt, type Subjects } from "./id-owners.ts";
import { callWith, type IdPlace, idPlaces } from "./id-places.ts";
import { allowedRoles } from "./role-table.ts";

const world = useWorld("postgres", { environment: { RATE_LIMIT_SCALE: "1" } });
const allowedOrigin = "http://localhost:5173";

interface Call {
  readonly status: number;
  // eslint-disable-next-line typescript/no-explicit-any -- Tests look into answers of any shape.
  readonly data: any;
  readonly code: string | undefined;
  readonly headers: Readonly<Record<string, string | undefined>>;
  // eslint-disable-next-line typescript/no-explicit-any -- Tests look into answers of any shape.
  readonly error: any;
}

/** Sends a document with the token, as a page of an allowed origin does. */
async function callAs(
  token: string,
  query: string,
  { headers = {}, variables = {} }: { headers?: Record<string, string>; variables?: object } = {},
): Promise<Call> {
  const answer = await world().send({
    method: "POST",
    url: "/graphql",
    headers: { authorization: `Bearer ${token}`, origin: allowedOrigin, ...headers },
    body: { query, variables },
  });
  const [data = null] = Object.values(answer.body.data ?? {});
  const error = answer.body.errors?.[0]?.extensions;
  return { status: answer.status, data, code: error?.code, headers: answer.headers, error };
}

const createDocument =
  "mutation ($input: BuyerSessionCreateInput!) { buyerSessionCreate(input: $input) " +
  "{ id token buyerReference expiresAt } }";
const create = (input: object = {}, token = world().demo.tokens.browser, headers = {}): Promise<Call> =>
  callAs(token, createDocument, { variables: { input }, headers });
const guest = async (): Promise<string> => (await create()).data.token as string;
const cartOf = async (token: string, input = ""): Promise<Call> =>
  callAs(token, `mutation { cartCreate(input: { market: "DE" ${input} }) { id buyer { guest reference } } }`);

describe("a buyer session", () => {
  it("of a guest has a cart that only this session finds, and remains a guest's cart", async () => {
    const [anna, berta] = [await guest(), await guest()];
    const { data: cart } = await cartOf(anna);
    expect(cart).toMatchObject({ buyer: { guest: true, reference: null } });
    const read = `{ cart(id: "${cart.id}") { id } }`;
    const list = "{ carts { edges { node { id } } totalCount } }";
    expect((await callAs(anna, read)).data).toEqual({ id: cart.id });
    expect((await callAs(anna, list)).data).toEqual({ edges: [{ node: { id: cart.id } }], totalCount: 1 });
    expect((await callAs(berta, read)).data).toBeNull();
    expect((await callAs(berta, list)).data).toEqual({ edges: [], totalCount: 0 });
    expect((await callAs(berta, "{ orders { totalCount } }")).data).toEqual({ totalCount: 0 });
  });

  it("keeps the guest's cart after signing in, and then has the carts of the buyer", async () => {
    const { storefront } = world().demo.tokens;
    const first = await guest();
    const { data: cart } = await cartOf(first);
    const signedIn = await create({ buyerReference: "nora", sessionToken: first }, storefront);
    expect(signedIn.data).toMatchObject({ buyerReference: "nora" });
    const { token } = signedIn.data;
    expect((await callAs(token, `{ cart(id: "${cart.id}") { id } }`)).data).toEqual({ id: cart.id });
    expect((await callAs(token, "{ carts { edges { node { id } } totalCount } }")).data).toEqual({
      edges: [{ node: { id: cart.id } }],
      totalCount: 1,
    });
    const claimed = await callAs(
      token,
      `mutation { cartBuyerSet(cartId: "${cart.id}", input: {}) { buyer { reference } } }`,
    );
    expect(claimed.data).toEqual({ buyer: { reference: "nora" } });
    expect((await callAs(token, "{ carts { totalCount } }")).data).toEqual({ totalCount: 1 });
    // The token of the guest does not open the cart of the buyer.
    expect((await callAs(first, `{ cart(id: "${cart.id}") { id } }`)).data).toBeNull();
  });

  it("lists the orders of the guest after signing in, beside those of the buyer, and only to this session", async () => {
    const { tokens, merchants } = world().demo;
    const first = await create();
    const signedIn = await create(
      { buyerReference: "olga", sessionToken: first.data.token },
      tokens.storefront,
    );
    const { id: sessionId, token } = signedIn.data;
    expect(sessionId).toBe(first.data.id);
    const [own, ofGuest, ofOther] = await world()
      .database.db.selectFrom("salesOrder")
      .select("id")
      .where("merchantId", "=", merchants.first.id)
      .orderBy("id")
      .limit(3)
      .execute();
    if (own === undefined || ofGuest === undefined || ofOther === undefined)
      throw new Error("The demo has at least three orders.");
    const assign = async (id: string, buyerReference: string | null): Promise<void> => {
      await sql`update sales_order set version = version + 1, buyer_reference = ${buyerReference},
        buyer_session_id = ${sessionId} where id = ${id}`.execute(world().database.db);
    };
    await assign(own.id, "olga");
    await assign(ofGuest.id, null);
    await assign(ofOther.id, "pia");
    const list = "{ orders { edges { node { id } } totalCount } }";
    const listed = (...ids: string[]) => ({
      edges: ids.map((id) => ({ node: { id } })),
      totalCount: ids.length,
    });
    expect((await callAs(token, list)).data).toEqual(listed(own.id, ofGuest.id));
    expect((await callAs(token, list.replace("orders", 'orders(buyerReference: "olga")'))).data).toEqual(
      listed(own.id),
    );
    expect((await callAs(first.data.token, list)).data).toEqual(listed(ofGuest.id));
    const elsewhere = await create({ buyerReference: "olga" }, tokens.storefront);
    expect((await callAs(elsewhere.data.token, list)).data).toEqual(listed(own.id));
    const byHeader = await callAs(tokens.storefront, list, { headers: { "x-buyer-reference": "olga" } });
    expect(byHeader.data).toEqual(listed(own.id));
  });

  it("acts for no other buyer, whatever the request names", async () => {
    const token = await guest();
    expect(await cartOf(token, ', buyerReference: "nora"')).toMatchObject({
      code: "invalid_field",
      error: { details: [{ field: "/buyerReference", code: "not_allowed" }] },
    });
    const { data: cart } = await cartOf(token);
    const rename = `mutation { cartBuyerSet(cartId: "${cart.id}", input: { buyerReference: "nora" }) { id } }`;
    expect(await callAs(token, rename)).toMatchObject({ code: "invalid_field" });
    expect(
      await callAs(token, "{ viewer { role } }", { headers: { "x-buyer-reference": "nora" } }),
    ).toMatchObject({
      status: 400,
      code: "malformed_request",
      error: { details: [{ code: "not_allowed" }] },
    });
    expect(await callAs(token, '{ orders(buyerReference: "nora") { totalCount } }')).toMatchObject({
      code: "role_not_allowed",
    });
    expect(await callAs(token, '{ savedAddresses(buyerReference: "nora") { id } }')).toMatchObject({
      data: null,
      code: "invalid_field",
    });
  });

  it("has idempotency keys of its own", async () => {
    const createOnce = async (token: string): Promise<string> =>
      (
        await callAs(
          token,
          'mutation { cartCreate(idempotencyKey: "first", input: { market: "DE" }) { id } }',
        )
      ).data.id;
    const [anna, berta] = [await guest(), await guest()];
    const cart = await createOnce(anna);
    expect(await createOnce(anna)).toBe(cart);
    expect(await createOnce(berta)).not.toBe(cart);
  });

  it("cannot create sessions, and a publishable token can name no buyer", async () => {
    expect((await create({}, await guest())).code).toBe("role_not_allowed");
    expect((await create({ buyerReference: "nora" })).code).toBe("role_not_allowed");
    expect((await create({}, world().demo.tokens.browser, { "x-buyer-reference": "nora" })).code).toBe(
      "role_not_allowed",
    );
    const signedIn = await create({ buyerReference: "nora" }, world().demo.tokens.storefront);
    expect(await create({ sessionToken: signedIn.data.token })).toMatchObject({
      code: "invalid_field",
      error: { details: [{ field: "/sessionToken", code: "invalid_value" }] },
    });
    expect((await create({}, world().demo.tokens.admin)).code).toBe("role_not_allowed");
  });

  it("ends at its expiry, and at once when its internal token is revoked", async () => {
    const { data: shown } = await create({ expiresInMinutes: 5 });
    expect(new Date(shown.expiresAt).getTime() - world().clock.now().getTime()).toBeLessThanOrEqual(300_000);
    expect((await callAs(shown.token, "{ viewer { role } }")).data).toEqual({ role: "storefront" });
    world().clock.advance(300_000);
    expect(await callAs(shown.token, "{ viewer { role } }")).toMatchObject({
      status: 401,
      code: "api_key_expired",
    });

    const made = await askGraph(
      world(),
      `mutation { internalTokenCreate(input: { name: "Pages", role: BROWSER,
        allowedOrigins: ["${allowedOrigin}"] }) { value internalToken { id allowedOrigins } } }`,
      {},
      { token: "admin" },
    );
    expect(made.data.internalToken.allowedOrigins).toEqual([allowedOrigin]);
    const { data } = await create({}, made.data.value);
    expect((await callAs(data.token, "{ viewer { role } }")).status).toBe(200);
    await askGraph(
      world(),
      `mutation { internalTokenRevoke(input: { internalTokenId: "${made.data.internalToken.id}" }) { id } }`,
      {},
      { token: "admin" },
    );
    expect(await callAs(data.token, "{ viewer { role } }")).toMatchObject({
      status: 401,
      code: "api_key_revoked",
    });
  });

  it("is refused if its token was changed or signed with another key", async () => {
    const token = await guest();
    const [header = "", payload = "", signature = ""] = token.slice("cbs_".length).split(".");
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as Record<string, unknown>;
    const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    const forged = await new SignJWT(claims)
      .setProtectedHeader({ alg: "HS256", typ: "buyer-session+jwt" })
      .sign(new Uint8Array(32));
    for (const value of [
      `${header}.${encode({ ...claims, buyerReference: "nora" })}.${signature}`,
      `${encode({ alg: "none", typ: "buyer-session+jwt" })}.${payload}.`,
      `${header}.${payload}`,
      forged,
      "",
    ])
      expect(await callAs(`cbs_${value}`, "{ viewer { role } }")).toMatchObject({
        status: 401,
        code: expect.stringMatching(/^(?:api_key_invalid|credentials_malformed)$/),
      });
  });
});

describe("a page of a browser", () => {
  it("may send a publishable token and its sessions only from allowed origins", async () => {
    const { browser } = world().demo.tokens;
    const elsewhere = { origin: "https://evil.example" };
    const token = await guest();
    for (const value of [browser, token]) {
      const refused = await callAs(value, "{ viewer { role } }", { headers: elsewhere });
      expect(refused).toMatchObject({ status: 403, code: "role_not_allowed" });
      expect(refused.headers["access-control-allow-origin"]).toBeUndefined();
      const allowed = await callAs(value, "{ viewer { role } }");
      expect(allowed.headers["access-control-allow-origin"]).toBe(allowedOrigin);
    }
    const preflight = (origin: string) =>
      world().send({ method: "OPTIONS", url: "/graphql", headers: { origin } });
    expect((await preflight(allowedOrigin)).headers["access-control-allow-headers"]).toContain(
      "authorization",
    );
    expect((await preflight("https://evil.example")).headers["access-control-allow-origin"]).toBeUndefined();
  });

  it.each([
    [undefined, "BROWSER"],
    [[], "BROWSER"],
    [["https://shop.example/"], "BROWSER"],
    [["https://shop.example/path"], "BROWSER"],
    [["http://shop.example"], "BROWSER"],
    [["*"], "BROWSER"],
    [["null"], "BROWSER"],
    [["https://shop.example"], "STOREFRONT"],
  ])("cannot be allowed by the origins %j for the role %s", async (allowedOrigins, role) => {
    const { error } = await askGraph(
      world(),
      "mutation ($input: InternalTokenCreateInput!) { internalTokenCreate(input: $input) { value } }",
      { input: { name: "Pages", role, allowedOrigins } },
      { token: "admin" },
    );
    expect(error).toMatchObject({
      code: "invalid_field",
      details: [{ field: expect.stringMatching(/^\/allowedOrigins/) }],
    });
  });

  it("cannot guess promotion codes: sixty wrong codes of an address, and one code in a document", async () => {
    const token = await guest();
    const variantId = await variantOf(world(), "KIT-KVERN");
    const { data: cart } = await cartOf(token, `, lines: [{ variantId: "${variantId}", quantity: 1 }]`);
    const apply = (code: string) => `cartPromotionApply(cartId: "${cart.id}", input: { code: "${code}" })`;
    const twice = `mutation { a: ${apply("A1")} { state } b: ${apply("B1")} { state } }`;
    expect(await callAs(token, twice)).toMatchObject({ code: "malformed_request" });
    const codes: (string | undefined)[] = [];
    for (let index = 0; index < 62; index += 1)
      codes.push((await callAs(await guest(), `mutation { ${apply(`X${index}`)} { state } }`)).code);
    expect(codes.slice(0, 2)).toEqual(["cart_not_found", "cart_not_found"]);
    const own: (string | undefined)[] = [];
    for (let index = 0; index < 62; index += 1)
      own.push((await callAs(token, `mutation { ${apply(`X${index}`)} { state } }`)).code);
    expect(own.slice(0, 60)).toEqual(Array.from({ length: 60 }, () => "promotion_code_not_found"));
    expect(own.slice(60)).toEqual(["rate_limited", "rate_limited"]);
  });
});

describe("an id of another buyer of the same merchant is answered like an unknown id by", () => {
  let subjects: Subjects = {};
  let own: Subjects = {};
  let token = "";
  let before: Readonly<Record<string, string>> = {};
  beforeAll(async () => {
    subjects = await createSubjects(world(), "first");
    token = await guest();
    own = { cart: (await cartOf(token)).data.id as string };
    before = await digestTables(world());
  });

  const ofBuyers: ReadonlySet<Subject> = new Set<Subject>([
    "cart",
    "cartLine",
    "session",
    "order",
    "return",
    "warranty",
    "claim",
    "savedAddress",
    "addressToken",
    "payment",
    "fulfillment",
  ]);
  const places = idPlaces.filter(
    (place) =>
      allowedRoles[place.field]?.includes("storefront") === true &&
      !place.path.endsWith("merchantId") &&
      ofBuyers.has(subjectAt(place)),
  );

  it("at least thirty-five places", () => {
    expect(places.length).toBeGreaterThanOrEqual(35);
  });

  const missing = (subject: Subject): string => {
    const some = subjects[subject] ?? "";
    const prefix = some.slice(0, some.indexOf("_") + 1);
    return prefix + "0".repeat(some.length - prefix.length);
  };
  const tryWith = async (place: IdPlace, id: string): Promise<object> => {
    const query = callWith(place, (at) => {
      if (at.path === place.path) return id;
      return at.path.endsWith("merchantId")
        ? world().demo.merchants.first.id
        : (own[subjectAt(at)] ?? missing(subjectAt(at)));
    });
    const { data, code, status } = await callAs(token, query);
    return { data, code, status };
  };

  it.each(places.map((place) => [`${place.field}.${place.path}`, place] as const))(
    "%s",
    async (_name, place) => {
      const subject = subjectAt(place);
      world().clock.advance(1000);
      const tried = await tryWith(place, subjects[subject] ?? "");
      expect(tried).toEqual(await tryWith(place, missing(subject)));
      expect(tried).toMatchObject({ data: null });
      expect(await digestTables(world())).toEqual(before);
    },
  );
});
