/**
 * Compares the served OpenAPI document and the service by requests generated from the document: a short
 * version of `npm run soak -- --only contract`.
 */
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { loadContractData, runContract } from "#soak/contract.ts";
import { digestTables, withoutProofs } from "#test/support/all-rows.ts";
import { portOf } from "#test/support/raw-http.ts";
import { createTokenClient, type TokenClient } from "#test/support/token-client.ts";
import { useWorld } from "#test/support/use-world.ts";
import type { World } from "#test/support/world.ts";
import { errorOf, faultsOf } from "./checks.ts";
import { type DocumentOperation, readOperations } from "./document.ts";
import { soundRequest } from "./requests.ts";
import { type Market, subjectOf } from "./subjects.ts";
import { type WireAnswer, openWire, type Sent, type Wire } from "./wire.ts";

const seed = Number(process.env["PROPERTY_SEED"] ?? 20_261_122);

/** The log of recent requests is left out, because it is written after every request. */
async function rowsOf(world: World): Promise<Readonly<Record<string, string>>> {
  const { api_request: _requests, ...others } = withoutProofs(await digestTables(world));
  return others;
}

const world = useWorld("postgres", { environment: { PORT: "0" }, role: "gateway" });

describe("a request generated from the document", () => {
  let client: TokenClient;
  let wire: Wire;
  let market: Market;

  beforeAll(async () => {
    await world().app.listen();
    client = await createTokenClient(world());
    wire = openWire(portOf(world()));
    market = await loadContractData({ send: wire.send, demo: world().demo });
    return () => wire[Symbol.dispose]();
  });

  const tokenFor = async (sent: Pick<Sent, "method" | "url">): Promise<Sent["headers"]> => {
    const token = await client.token();
    return [
      ["Authorization", `DPoP ${token}`],
      ["DPoP", await client.proof(sent, token)],
    ];
  };

  it("is answered as the document says, and changes nothing if refused", async () => {
    const { send } = wire;
    const { demo } = world();
    const sizes = { perOperation: 3, brokenPerOperation: 2 };
    const plan = {
      engine: "postgres",
      send,
      demo,
      seed,
      ...sizes,
      rows: () => rowsOf(world()),
      tokenFor,
      isOver: () => true,
    } as const;
    const { violations, counts } = await runContract(plan);
    expect(violations).toEqual([]);
    const rules = Number(counts["rules"]);
    expect(rules).toBeGreaterThan(400);
    expect(counts).toMatchObject({ broken: rules + 40, allowed: 60, sound: 60, stories: 3 });
  });

  it.each([
    "setPublicCartAddress",
    "applyPublicCartPromotion",
    "removePublicCartPromotion",
    "revokePublicCart",
    "cancelHostedCheckoutSession",
    "createInstallationWebhook",
    "replayInstallationWebhookDelivery",
  ])("to %s has an effect, and none when repeated", async (operationId) => {
    const operation = market.ground.operations.find(({ id }) => id === operationId);
    if (operation === undefined) throw new Error(`There is no operation ${operationId}.`);
    const subject = (await subjectOf(market, operation)) ?? {};
    const outcomes: { readonly status: number; readonly isChanged: boolean }[] = [];
    const [generated] = fc.sample(
      soundRequest(market.ground, operation, { ...subject, ...applicable(operationId) }),
      { numRuns: 1, seed },
    );
    let before = JSON.stringify(await rowsOf(world()));
    while (outcomes.length < 2) {
      const { status } = await wire.send(generated?.sent ?? missing);
      const after = JSON.stringify(await rowsOf(world()));
      outcomes.push({ status, isChanged: before !== after });
      before = after;
    }
    expect(outcomes).toEqual([
      { status: 200, isChanged: true },
      { status: 200, isChanged: false },
    ]);
  });

  it.each(["\ud800", "a\u0000b"])(
    "is also refused for a name in a body that is no valid text: %j",
    async (name) => {
      const body = { url: "https://names.example.com/", eventTypes: ["*"], metadata: { [name]: "x" } };
      const headers = { authorization: `Bearer ${world().demo.keys.full}`, "idempotency-key": "names" };
      const answer = await world().send({
        method: "POST",
        url: "/api/v1/open/webhooks/endpoints",
        headers,
        body,
      });
      expect(answer).toMatchObject({
        status: 400,
        body: {
          error: { code: "invalid_field", details: [{ field: "/metadata", code: "control_character" }] },
        },
      });
    },
  );

  /** Operations whose valid requests may be refused because of the state of their object. */
  const applicable = (operationId: string): object => {
    if (operationId === "applyPublicCartPromotion")
      return { body: { code: market.shop.codes[0], expectedVersion: 1 } };
    if (operationId !== "replayInstallationWebhookDelivery") return {};
    return { path: { id: world().demo.webhooks.deliveries.exhausted }, body: { force: true } };
  };
  const missing: Sent = { method: "GET", url: "/nothing", headers: [], body: null };
});

describe("with rate limits", () => {
  const limitedWorld = useWorld("postgres", {
    environment: { PORT: "0", RATE_LIMIT_SCALE: "0.05" },
    role: "gateway",
  });

  it("every operation refuses as the document says, with the time to retry", async () => {
    await limitedWorld().app.listen();
    using wire = openWire(portOf(limitedWorld()));
    const { json } = await wire.send({ method: "GET", url: "/openapi.json", headers: [], body: null });
    const ground = {
      demo: limitedWorld().demo,
      operations: readOperations(json),
      eventTypes: [
        "order.placed",
        "cart.created",
        "product.created",
        "webhook.ping",
        "return.closed",
        "payment.failed",
        "refund.failed",
      ],
    };
    const limited = new Set<string>();
    const faults: string[] = [];
    for (const operation of ground.operations) {
      for (const { sent } of fc.sample(soundRequest(ground, operation), { numRuns: 40, seed })) {
        const answer = await wire.send(sent);
        faults.push(...faultsOf(operation, sent, answer).map((fault) => `${operation.id}: ${fault}`));
        if (answer.status !== 429) continue;
        limited.add(operation.id);
        break;
      }
    }
    expect(faults).toEqual([]);
    expect([...limited].toSorted()).toEqual(ground.operations.map(({ id }) => id).toSorted());
  });
});

describe("the checks of an answer", () => {
  const identity: Sent = { method: "GET", url: "/api/v1/open/identity", headers: [], body: null };

  let operation: DocumentOperation;

  beforeAll(async () => {
    const found = readOperations((await world().get("/openapi.json")).body).find(
      ({ id }) => id === "getApiKeyIdentity",
    );
    if (found === undefined) throw new Error("There is no such operation.");
    operation = found;
  });

  async function faultsWith(
    bend: (answer: WireAnswer) => Partial<WireAnswer>,
    key = world().demo.keys.full,
  ): Promise<string[]> {
    const { status, headers, text, body } = await world().get(identity.url, {
      authorization: `Bearer ${key}`,
    });
    const answer: WireAnswer = { status, headers, text, json: body };
    return faultsOf(operation, identity, { ...answer, ...bend(answer) });
  }
  const wrong = "cpk_wrong";
  const withError =
    (more: object) =>
    (answer: WireAnswer): Partial<WireAnswer> => ({ json: { error: { ...errorOf(answer), ...more } } });
  const withData =
    (change: (data: Record<string, unknown>) => unknown) =>
    ({ json }: WireAnswer): Partial<WireAnswer> => ({
      json: { data: change((json as { data: Record<string, unknown> }).data) },
    });
  const withHeader =
    (name: string, value: string | undefined) =>
    ({ headers }: WireAnswer): Partial<WireAnswer> => ({ headers: { ...headers, [name]: value } });

  it("accept a valid answer", async () => {
    expect(await faultsWith(() => ({}))).toEqual([]);
    expect(await faultsWith(() => ({}), wrong)).toEqual([]);
  });

  it.each([
    ["another status", () => ({ status: 500 }), /not declared/],
    ["a field that is not declared", withData((data) => ({ ...data, secret: 1 })), /additional properties/],
    ["without a field", withData(({ app: _app, ...data }) => data), /required property 'app'/],
    [
      "a time of another form",
      withData((data) => ({ ...data, api: { version: "v1", serverTime: "today" } })),
      /serverTime.*format/,
    ],
    ["without a request id", withHeader("x-request-id", undefined), /X-Request-Id/],
    ["without its stability", withHeader("x-api-stability", undefined), /x-api-stability/],
    ["of another stability", withHeader("x-api-stability", "candidate"), /X-Api-Stability is candidate/],
  ])("%s", async (_what, bend, fault) => {
    expect((await faultsWith(bend)).join()).toMatch(fault);
  });

  it.each([
    ["a code of another status", withError({ code: "scope_missing" }), /not a code of 401/],
    [
      "a code of another operation",
      withError({ code: "installation_suspended" }),
      /not a code of the operation/,
    ],
    ["another request id", withError({ requestId: "req_another" }), /requestId is another/],
    [
      "what a driver says",
      withError({ message: 'duplicate key value violates unique constraint "cart_pkey".' }),
      /A message says/,
    ],
    [
      "where the code broke",
      withError({ message: "Failed.\n    at read (/srv/src/main.ts:1:2)." }),
      /A message says/,
    ],
    ["a wait that its header does not have", withError({ retryAfterSeconds: 3 }), /Retry-After is undefined/],
    ["a refusal without a challenge", withHeader("www-authenticate", undefined), /WWW-Authenticate/],
  ])("%s", async (_what, bend, fault) => {
    expect((await faultsWith(bend, wrong)).join()).toMatch(fault);
  });
});
