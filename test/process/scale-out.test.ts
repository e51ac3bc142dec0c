/**
 * Two gateways and two workers on one PostgreSQL behind nginx act as one service: the same contract on both,
 * idempotent replays across them, and one of them may be stopped or killed. Needs nginx; uses PgBouncer and
 * Redis if installed.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { randomUUID } from "node:crypto";
import { openCheckout, readSession, createSubmitWrite } from "#soak/checkout-shop.ts";
import { readDemoJsonFile } from "#demo/demo-file.ts";
import { type Cluster, startCluster } from "#soak/cluster.ts";
import { runScaleOut } from "#soak/scale-out.ts";
import { createHttpSender, type Service } from "#soak/service.ts";
import {
  type HttpAnswer,
  type SendRequest,
  openCart,
  openShop,
  parseAnswer,
  createRestWrite,
  type Shop,
  createStockWrite,
} from "#soak/shop.ts";
import { toArrivalKey, type Receiver, startReceiver } from "#soak/webhook-receiver.ts";
import { hasNginx, hasRedis } from "#test/support/balancer.ts";
import { hasPooler } from "#test/support/pooler.ts";
import { demoPlace } from "#test/support/copies.ts";

/** Four cold starts on a busy machine. */
const startsMsMax = 240_000;
/** Raises the rate limits for this file's load; shared limits are still tested to their end. */
const limitsScale = 20;
const guessesMax = 20 * limitsScale;

const say = (text: string): void => void process.stderr.write(`test/process/scale-out.test.ts ${text}\n`);
if (!hasNginx) say("is skipped: nginx is not installed (Debian: nginx-light).");
if (!hasRedis) say("runs without Redis, which is not installed (Debian: redis-server).");
if (!hasPooler) say("runs without PgBouncer, which is not installed (Debian: pgbouncer).");

describe.runIf(hasNginx)("two gateways and two workers behind nginx", () => {
  const stack = new AsyncDisposableStack();
  let cluster: Cluster;
  let receiver: Receiver;
  let shop: Shop;
  let ask: SendRequest;
  let productUrl: string;
  beforeAll(async () => {
    const place = await demoPlace("postgres");
    const environment = {
      ...place.environment,
      RATE_LIMIT_SCALE: String(limitsScale),
      PUBLIC_URL: "https://api.test",
    };
    cluster = stack.use(
      await startCluster({ databaseUrl: place.databaseUrl ?? "", folder: place.folder, environment }),
    );
    ask = cluster.ask;
    receiver = stack.use(await startReceiver({ reply: () => 204 }));
    shop = await openShop(ask, cluster.access);
    const [product] = readDemoJsonFile(place.folder)?.products ?? [];
    productUrl = `/api/v1/catalog/merchants/${product?.merchantSlug}/products/${product?.productSlug}`;
  }, startsMsMax);
  afterAll(() => stack.disposeAsync());

  const get = (
    url: string,
    headers: Record<string, string> = {},
    by: SendRequest = ask,
  ): Promise<HttpAnswer> => by({ method: "GET", url, headers, body: undefined });
  const bearer = (): Record<string, string> => ({ authorization: `Bearer ${shop.access.keys.full}` });
  /** Returns the answers of both gateways, one after the other. */
  const ofBoth = async (url: string, headers: Record<string, string> = {}): Promise<unknown[]> => {
    const answers = [await get(url, headers), await get(url, headers)];
    expect(new Set(answers.map((answer) => answer.headers["x-answered-by"])).size).toBe(2);
    return answers.map(({ status, text }) => ({ status, text }));
  };

  it("serve one contract, whichever answers", async () => {
    const { id } = await openCart(ask, shop);
    const urls = [
      productUrl,
      "/api/v1/search?q=&locale=en&market=DE&sort=relevance&page=1&pageSize=5",
      `/api/v1/open/storefront/carts/${id}`,
    ];
    for (const url of urls) {
      const [one, other] = await ofBoth(url, bearer());
      expect(other).toEqual(one);
      expect(one).toMatchObject({ status: 200 });
    }
  });

  it("replay each other's stored answers, byte for byte", async () => {
    const { id: cartId } = await openCart(ask, shop);
    const [code] = shop.codes;
    const { request } = createRestWrite(shop, { method: "PUT", cartId, path: "/promotion", body: { code } });
    const [first, second] = [await ask(request), await ask(request)];
    expect([first.status, first.headers["idempotent-replayed"]]).toEqual([200, "false"]);
    expect([second.status, second.headers["idempotent-replayed"], second.text]).toEqual([
      200,
      "true",
      first.text,
    ]);
    expect(second.headers["x-answered-by"]).not.toBe(first.headers["x-answered-by"]);
  });

  it("leave payments and webhooks to the workers, which do both", async () => {
    const endpoint = { url: `${receiver.origin}/hooks`, eventTypes: ["order.placed"] };
    const headers = { ...bearer(), "content-type": "application/json", "idempotency-key": randomUUID() };
    const made = await ask({
      method: "POST",
      url: "/api/v1/open/webhooks/endpoints",
      headers,
      body: JSON.stringify(endpoint),
    });
    expect(made.status).toBe(200);
    receiver.secrets.set("/hooks", JSON.parse(made.text).data.secret.value);

    const checkout = await openCheckout(ask, shop);
    expect(parseAnswer(await ask(createSubmitWrite(shop, checkout).request))).toMatchObject({
      status: 200,
      code: undefined,
    });
    await expect
      .poll(() => readSession(ask, shop, checkout.sessionId))
      .toMatchObject({ status: "COMPLETED", orderId: expect.stringMatching(/^ord_/) });
    const { id } = await cluster.database.db
      .selectFrom("event")
      .select("id")
      .where("type", "=", "order.placed")
      .orderBy("id", "desc")
      .executeTakeFirstOrThrow();
    await expect.poll(() => [...receiver.accepted]).toContain(toArrivalKey("/hooks", id));
    expect(receiver.violations).toEqual([]);
  });

  it("count guesses by the client address that nginx saw, whatever the client claims", async () => {
    const guess = async (by: SendRequest, claimed = ""): Promise<number> =>
      (await get("/api/v1/open/identity", { "x-forwarded-for": claimed, authorization: "Bearer wrong" }, by))
        .status;
    const [guesser, neighbour] = [
      createHttpSender(cluster.port, "127.0.0.7"),
      createHttpSender(cluster.port, "127.0.0.8"),
    ];
    // The limit is shared with Redis, and separate for each gateway without.
    const admitted = hasRedis ? guessesMax : 2 * guessesMax;
    const statuses: number[] = [];
    while (statuses.length < admitted + 2) statuses.push(await guess(guesser, `192.0.2.${statuses.length}`));
    expect(statuses).toEqual([...Array.from({ length: admitted }, () => 401), 429, 429]);
    expect(await guess(neighbour, "127.0.0.7")).toBe(401);
  });

  it("answer all requests while one of them is stopped", async () => {
    const [staying, leaving] = cluster.gateways;
    const over = new AbortController();
    const read: HttpAnswer[] = [];
    const reader = async (from: string): Promise<void> => {
      const by = createHttpSender(cluster.port, from);
      while (!over.signal.aborted) read.push(await get(productUrl, {}, by));
    };
    const keys: string[] = [];
    const writer = async (): Promise<void> => {
      while (!over.signal.aborted) {
        const { key, request } = createStockWrite(shop, shop.variantIds[0] ?? "");
        // A request on its way to the stopped gateway may have been processed: it is sent again with its
        // idempotency key.
        let answer = parseAnswer(await ask(request));
        if (answer.status === 502) answer = parseAnswer(await ask(request));
        expect(answer).toMatchObject({ status: 200, code: undefined });
        keys.push(key);
      }
    };
    const running = Promise.all(
      [1, 2, 3, 4].map((digit) => reader(`127.0.1.${digit}`)).concat(writer(), writer()),
    );
    const answeredBy = ({ port }: Service): number =>
      read.filter(({ headers }) => headers["x-answered-by"] === `127.0.0.1:${port}`).length;
    try {
      await expect
        .poll(() => Math.min(answeredBy(staying), answeredBy(leaving), keys.length))
        .toBeGreaterThan(10);
      expect(await leaving.stop()).toBe(0);
      const [before, written] = [read.length, keys.length];
      await expect.poll(() => Math.min(read.length - before, keys.length - written)).toBeGreaterThan(10);
    } finally {
      over.abort();
      await running;
    }
    expect(new Set(read.map(({ status }) => status))).toEqual(new Set([200]));
    const movements = await cluster.database.db
      .selectFrom("stockMovement")
      .select("note")
      .where("note", "in", keys)
      .execute();
    expect(movements).toHaveLength(keys.length);
    expect(new Set(movements.map(({ note }) => note))).toEqual(new Set(keys));
    expect(cluster.faults()).toEqual([]);
    await leaving.start();
  });

  it(
    "do each operation once, though it is sent to both at once, and a gateway and a worker are killed",
    async () => {
      const { violations, counts } = await runScaleOut(cluster, {
        copies: 20,
        areCopiesOver: ({ keys }) => keys >= 4,
        clients: 4,
        keysPerKill: 15,
        isOver: ({ kills }) => kills >= 2,
      });
      expect(violations).toEqual([]);
      expect(counts).toMatchObject({ copied: 4, kills: 2, replays: counts["keys"] });
    },
    startsMsMax,
  );
});
