/** The guide's retry code as printed: it repeats only requests that may be repeated, with the same key. */
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "./support/process.ts";

type Send = (url: string, init: RequestInit, attempts?: number) => Promise<unknown>;

async function guidedSend(): Promise<Send> {
  const guide = readFileSync(new URL("../docs/guides/errors-and-retries.md", import.meta.url), "utf8");
  const file = join(temporaryFolder(), "send.mjs");
  writeFileSync(file, /```js\n([\s\S]+?)```/.exec(guide)?.[1] ?? "");
  return ((await import(file)) as { send: Send }).send;
}

/**
 * Starts a server that gives these answers in order, the last one from then on; null closes the connection.
 * Returns the received keys.
 */
async function startServer(
  answers: readonly (readonly [number, object] | null)[],
): Promise<{ url: string; keys: unknown[] }> {
  const keys: unknown[] = [];
  const server = createServer((request, response) => {
    keys.push(request.headers["idempotency-key"]);
    const answer = answers[Math.min(keys.length, answers.length) - 1] ?? null;
    if (answer === null) request.socket.destroy();
    else response.writeHead(answer[0], { "content-type": "application/json" }).end(JSON.stringify(answer[1]));
  });
  await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, keys };
}

const failure = (code: string, retryable: boolean): object => ({
  error: { code, message: code, retryable, retryAfterSeconds: 0.01 },
});
const init = { method: "PUT", headers: { "idempotency-key": "one" } };

it("the guide's client repeats a retryable request with the same key until it succeeds", async () => {
  const { url, keys } = await startServer([
    [503, failure("service_unavailable", true)],
    [409, failure("idempotency_in_progress", true)],
    [200, { data: 1 }],
  ]);
  const send = await guidedSend();
  expect(await send(url, init)).toEqual({ data: 1 });
  expect(keys).toEqual(["one", "one", "one"]);
});

it("the guide's client does not repeat a request that would be refused again", async () => {
  const { url, keys } = await startServer([[409, failure("cart_version_conflict", false)]]);
  const send = await guidedSend();
  await expect(send(url, init)).rejects.toMatchObject({ code: "cart_version_conflict" });
  expect(keys).toEqual(["one"]);
});

it("the guide's client finally gives up", async () => {
  const { url, keys } = await startServer([[429, failure("rate_limited", true)]]);
  const send = await guidedSend();
  await expect(send(url, init, 3)).rejects.toMatchObject({ code: "rate_limited" });
  expect(keys).toHaveLength(3);
});
