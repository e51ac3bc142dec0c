/**
 * The quotas of `/graphql`, CSV reports and files of exports: requests and points of cost in a minute, for
 * each credential and for each merchant.
 */
import { createHash } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { useWorld } from "#test/support/use-world.ts";
import type { Answer } from "#test/support/world.ts";

/** The quotas are 12 and 24 requests, and 1500 and 3000 points. */
const world = useWorld("postgres", {
  environment: { RATE_LIMIT_SCALE: "1", GRAPHQL_QUOTA_SCALE: "0.002", TRUST_PROXY: "1" },
});
beforeEach(() => world().clock.advance(60_000));

type Token = keyof ReturnType<typeof world>["demo"]["tokens"];
const bearer = (token: Token): { authorization: string } => ({
  authorization: `Bearer ${world().demo.tokens[token]}`,
});
const cheap = "{ viewer { role } }";
/** Costs 551 points. */
const costly = "query Costly { orders(first: 50) { edges { node { id } } } }";
const repeat = async (times: number, call: () => Promise<Answer>): Promise<Answer[]> => {
  const answers: Answer[] = [];
  for (let count = 0; count < times; count += 1) answers.push(await call());
  return answers;
};
const ask = (query: string, token: Token = "admin"): Promise<Answer> => world().graphql(query, { token });
const statusesOf = (answers: readonly Answer[]): number[] => answers.map(({ status }) => status);

const refusal = (field: string, message: string) => ({
  code: "rate_limited",
  retryable: true,
  message: expect.stringContaining(message),
  details: [{ in: "limit", field, code: "quota_exceeded" }],
});

describe("requests", () => {
  it("of a token are refused above its quota until the minute ends, and those of other tokens are not", async () => {
    const answers = await repeat(12, () => ask(cheap));
    expect(statusesOf(answers)).toEqual(answers.map(() => 200));
    expect(answers[0]?.headers).toMatchObject({
      "ratelimit-policy": '"graphql";q=12;w=60',
      ratelimit: '"graphql";r=11;t=60',
    });
    world().clock.advance(20_000);
    const refused = await ask(cheap);
    expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "40"]);
    expect(refused.body.errors[0].extensions).toMatchObject({
      ...refusal("graphql", "At most 12 requests in 60 s; try again in 40 s."),
      retryAfterSeconds: 40,
    });
    expect((await world().get("/reports/inventory.csv", bearer("admin"))).status).toBe(429);
    expect((await ask(cheap, "storefront")).status).toBe(200);
    world().clock.advance(40_000);
    expect((await ask(cheap)).status).toBe(200);
  });

  it("of a merchant are refused above the merchant's quota, and those of the platform are not", async () => {
    for (const token of ["admin", "storefront"] as const)
      expect(statusesOf(await repeat(12, () => ask(cheap, token)))).not.toContain(429);
    // A request that exceeds the quota of its token is not counted for the merchant.
    const { status, body } = await ask(cheap, "analyst");
    expect(status).toBe(429);
    expect(body.errors[0].extensions).toMatchObject(
      refusal("graphql-merchant", "At most 24 requests of the merchant in 60 s"),
    );
    expect((await ask(cheap, "operator")).status).toBe(200);
  });

  it("above the quota of a token leave the merchant's quota to its other tokens", async () => {
    await repeat(40, () => ask(cheap));
    expect((await ask(cheap, "storefront")).status).toBe(200);
  });
});

describe("points", () => {
  const throttleStatusOf = ({ body }: Answer): unknown => body.extensions.cost.throttleStatus;
  const spendAll = (token: Token = "admin"): Promise<Answer[]> => repeat(3, () => ask(costly, token));

  it("are subtracted from the quota, and a document is refused before it runs if none are left", async () => {
    const answers = await spendAll();
    expect(statusesOf(answers)).toEqual([200, 200, 200]);
    expect(answers.map(throttleStatusOf)).toEqual(
      [949, 398, 0].map((currentlyAvailable) => ({
        maximumAvailable: 1_500,
        currentlyAvailable,
        resetSeconds: 60,
      })),
    );
    world().statements.length = 0;
    const refused = await ask(costly);
    expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "60"]);
    expect(refused.body.errors[0].extensions).toMatchObject(
      refusal("graphql-cost", "At most 1500 points of cost, of which 2204 are used, in 60 s"),
    );
    expect(refused.body.extensions.cost).toMatchObject({
      requested: 551,
      throttleStatus: { currentlyAvailable: 0, resetSeconds: 60 },
    });
    expect(world().statements.filter((text) => text.includes("customer_order"))).toEqual([]);
    const { text } = await world().get("/metrics");
    expect(text).toMatch(/^commerce_rate_limit_refusals_total\{bucket="graphql-cost"\} [1-9]/m);
    world().clock.advance(60_000);
    expect((await ask(costly)).status).toBe(200);
  });

  it("are also needed for trusted documents, subscriptions, CSV reports and files of exports", async () => {
    const { body } = await world().graphql(
      `mutation ($input: TrustedDocumentsRegisterInput!) { trustedDocumentsRegister(input: $input) { added } }`,
      { variables: { input: { documents: [{ document: costly }] } } },
    );
    expect(body.errors).toBeUndefined();
    const made = await ask("mutation { exportCreate(input: { kind: ORDERS }) { id } }");
    await world().app.exports.drain();
    world().clock.advance(60_000);
    const documentId = `sha256:${createHash("sha256").update(costly).digest("hex")}`;
    const post = (payload: unknown, accept = "application/json"): Promise<Answer> =>
      world().send({
        method: "POST",
        url: "/graphql",
        headers: { ...bearer("admin"), accept },
        body: payload,
      });
    const trusted = (): Promise<Answer> => post({ documentId });
    const csv = (): Promise<Answer> => world().get("/reports/inventory.csv", bearer("admin"));
    const file = (): Promise<Answer> =>
      world().get(`/exports/${made.body.data.exportCreate.id}.ndjson`, bearer("admin"));
    expect(await trusted()).toMatchObject({
      status: 200,
      body: { extensions: { cost: { requested: 551, throttleStatus: { currentlyAvailable: 949 } } } },
    });
    expect((await file()).status).toBe(200);
    world().clock.advance(60_000);
    expect((await csv()).status).toBe(200);
    const subscription = `subscription { cartChanged(id: "${world().demo.carts.active}") { id } }`;
    for (const refused of [await trusted(), await post({ query: subscription }, "text/event-stream")])
      expect([refused.status, refused.body.errors[0].extensions.details[0].field]).toEqual([
        429,
        "graphql-cost",
      ]);
    for (const refused of [await csv(), await file()]) {
      expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "60"]);
      expect(refused.body.error).toMatchObject(refusal("graphql-cost", "At most 1500 points of cost"));
    }
  });

  it("of a merchant are shared by its tokens, and those of the platform are not concerned", async () => {
    for (const token of ["admin", "analyst"] as const) await spendAll(token);
    const refused = await ask(cheap, "storefront");
    expect(refused.status).toBe(429);
    expect(refused.body.errors[0].extensions).toMatchObject(
      refusal("graphql-cost-merchant", "At most 3000 points of cost of the merchant"),
    );
    expect((await ask(costly, "operator")).status).toBe(200);
  });

  it("of a publishable token are counted per network address, and not for the merchant's other tokens", async () => {
    const search =
      '{ productSearch(q: "tent", locale: "en", market: "DE", sort: RELEVANCE, page: 1, pageSize: 100) ' +
      "{ items { slug title } } }";
    const from = (address: string): Promise<Answer> =>
      world().send({
        method: "POST",
        url: "/graphql",
        headers: { ...bearer("browser"), "x-forwarded-for": address },
        body: { query: search },
      });
    const answers = await repeat(2, () => from("203.0.113.7"));
    expect(statusesOf(answers)).toEqual([200, 429]);
    expect(answers[1]?.body.errors[0].extensions).toMatchObject(
      refusal("graphql-cost-browser", "At most 300 points of cost"),
    );
    // The other addresses spend more than the 3000 points of a merchant.
    const others = Array.from({ length: 9 }, (_, index) => from(`203.0.113.${10 + index}`));
    expect(statusesOf(await Promise.all(others))).toContain(429);
    expect((await ask(cheap, "storefront")).status).toBe(200);
  });
});
