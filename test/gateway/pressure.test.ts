/**
 * Under overload the service refuses callers without a credential first. Routes of operators are always
 * answered.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { createLog } from "#foundation/log.ts";
import { createFastifyServer, shouldShedRequestUnderLoad } from "#http/server.ts";

it.each([
  ["a caller without credentials", {}, [true, true]],
  ["a key or a token", { authorization: "Bearer x" }, [false, true]],
  [
    "the console's pages, whose session is in a cookie",
    { cookie: "console=x", "x-commerce-console": "1" },
    [false, true],
  ],
  [
    "background requests of the console's pages",
    { cookie: "console=x", "x-commerce-console": "background" },
    [false, true],
  ],
])("an overloaded process decides by the request whether to refuse it: %s", (_who, headers, shed) => {
  expect([
    shouldShedRequestUnderLoad({ headers, route: "/graphql" }, 1_500),
    shouldShedRequestUnderLoad({ headers, route: "/graphql" }, 3_000),
  ]).toEqual(shed);
});

it.each(["/healthz", "/readyz", "/metrics"])("an overloaded process always answers %s", (route) => {
  expect(shouldShedRequestUnderLoad({ headers: {}, route }, 60_000)).toBe(false);
});

const turnMs = 1_300;

/** Blocks the event loop for several turns. */
async function blockTurns(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) {
    const until = performance.now() + turnMs;
    while (performance.now() < until);
    await nextTurn();
    await nextTurn();
  }
}

/**
 * Returns the statuses of an anonymous request after one blocked turn, then of the same request and of the
 * routes of operators after three more. Starts again, at most four times, if the process paused between the
 * blocks: the service measures every 250 ms, so that a pause could take the place of a block.
 */
async function statusesOfBlockedProcess(attempt = 1): Promise<number[]> {
  const server = await createFastifyServer({
    publicUrl: "https://shop.test",
    log: createLog("silent"),
    proxies: 0,
  });
  for (const url of ["/healthz", "/readyz", "/metrics", "/anything"]) server.get(url, () => "here");
  await server.listen({ port: 0, host: "127.0.0.1" });
  try {
    const statusOf = async (url: string): Promise<number> => (await server.inject(url)).statusCode;
    const startedAt = performance.now();
    await blockTurns(1);
    const first = await statusOf("/anything");
    await blockTurns(3);
    const later = await Promise.all(["/anything", "/healthz", "/readyz", "/metrics"].map(statusOf));
    const pausedMs = performance.now() - startedAt - 4 * turnMs;
    if (pausedMs < 200 || attempt === 5) return [first, ...later];
  } finally {
    await server.close();
  }
  return statusesOfBlockedProcess(attempt + 1);
}

it("an overloaded process answers callers with credentials and refuses others", async () => {
  // One long turn of the event loop is not overload.
  expect(await statusesOfBlockedProcess()).toEqual([200, 503, 200, 200, 200]);
});
