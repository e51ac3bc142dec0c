/**
 * Requests that end by timeout or signal, against a silent server and a garbage collector that frees
 * everything unreferenced: timers and signals must stay referenced while the request runs.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCommerceClient } from "#client/index.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const params = { path: { cartId: "cart_1" } };
const body = { code: "TEN" };

describe.each([
  ["nothing", ""],
  ["the half of an answer", '{"data":'],
])("a request to a server that sends %s", (_name, said) => {
  const server = createServer((_, response) => {
    if (said !== "") response.writeHead(200, { "content-length": 100 }).write(said);
  });
  let baseUrl: string;
  let collecting: NodeJS.Timeout;
  beforeAll(async () => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    collecting = setInterval(collect, 100);
  });
  afterAll(async () => {
    clearInterval(collecting);
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  });

  it("ends at the timeout", async () => {
    const client = createCommerceClient({ baseUrl, retries: { attemptsMax: 1, timeoutMs: 300 } });
    const change = client.put("/api/v1/open/storefront/carts/{cartId}/promotion", { params, body });
    await expect(change).rejects.toMatchObject({ code: "no_answer", cause: { name: "TimeoutError" } });
  });

  it.each([
    ["a controller", () => stopLater(new AbortController()), "AbortError"],
    ["a time", () => AbortSignal.timeout(300), "TimeoutError"],
  ])("ends when the caller aborts it with the signal of %s", async (_what, signalOf, name) => {
    const client = createCommerceClient({ baseUrl });
    const change = client.put("/api/v1/open/storefront/carts/{cartId}/promotion", {
      params,
      body,
      signal: signalOf(),
    });
    await expect(change).rejects.toMatchObject({ name });
  });
});

function stopLater(controller: AbortController): AbortSignal {
  setTimeout(() => controller.abort(), 300);
  return controller.signal;
}
