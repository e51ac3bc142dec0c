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

/** Blocks the event loop for this time. */
function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

it("an overloaded process answers callers with credentials and refuses others", async () => {
  const server = await createFastifyServer({
    publicUrl: "https://shop.test",
    log: createLog("silent"),
    proxies: 0,
  });
  for (const url of ["/healthz", "/readyz", "/metrics", "/anything"]) server.get(url, () => "here");
  await server.listen({ port: 0, host: "127.0.0.1" });
  try {
    const statusOf = async (url: string): Promise<number> => (await server.inject(url)).statusCode;
    const blockTurn = async (): Promise<void> => {
      block(1_300);
      await nextTurn();
      await nextTurn();
    };
    // One long turn of the event loop is not overload.
    await blockTurn();
    expect(await statusOf("/anything")).toBe(200);
    // A pause of the process between two blocks is measured too, and can take the place of a block.
    let status = 200;
    for (let turn = 0; turn < 10 && status === 200; turn += 1) {
      await blockTurn();
      status = await statusOf("/anything");
    }
    expect(status).toBe(503);
    expect(await Promise.all(["/healthz", "/readyz", "/metrics"].map(statusOf))).toEqual([200, 200, 200]);
  } finally {
    await server.close();
  }
});
