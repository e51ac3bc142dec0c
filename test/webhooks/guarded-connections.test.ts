/**
 * The resources of a guarded request: sockets are counted and closed, listeners on the signal are removed,
 * the duration is measured.
 */
import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { createSsrfSafeConnector } from "#webhooks/safe-connector.ts";
import { createWebhookSender } from "#webhooks/safe-request.ts";
import { answer, emptyAnswer, saying, send, startReceiver, startSender } from "./receivers.ts";

const ok = emptyAnswer("200 OK");
const closings = (received: string): number => received.split("connection: close").length - 1;

describe("a guarded connection", () => {
  test.each(["ftp:", "ws:", ""])("allows no other scheme, not even to this machine: %j", async (protocol) => {
    const receiver = await startReceiver(saying(ok));
    const connect = createSsrfSafeConnector({
      isLoopbackAllowed: true,
      resolve: () => expect.unreachable(),
      connectTimeoutMs: 1_000,
      onOpen: () => expect.unreachable(),
    });
    const fault = await new Promise((resolve) => {
      connect({ protocol, hostname: "127.0.0.1", port: String(receiver.port) }, (...[error]) =>
        resolve(error),
      );
    });
    expect(fault).toMatchObject({ errorCode: "blocked_address" });
    expect(receiver.connections).toEqual([]);
  });

  test("is kept alive while few are open, and closed after its answer if many are", async () => {
    const receiver = await startReceiver(saying(ok));
    const sender = startSender({ limits: { keptSockets: 1 } });
    const url = `http://127.0.0.1:${receiver.port}/`;
    expect(await send(sender, url)).toEqual(answer(200));
    expect(closings(receiver.received().toLowerCase())).toBe(0);
    expect(await send(sender, url)).toEqual(answer(200));
    expect(closings(receiver.received().toLowerCase())).toBe(1);
    for (const connection of receiver.connections) connection.destroy();
    // Closed connections are no longer counted, so the next one is kept again.
    await expect
      .poll(async () => {
        const before = closings(receiver.received().toLowerCase());
        await send(sender, url);
        return closings(receiver.received().toLowerCase()) - before;
      })
      .toBe(0);
  });

  test("is closed with its sender", async () => {
    const receiver = await startReceiver(saying(ok));
    const sender = createWebhookSender({ isLoopbackAllowed: true });
    expect(await send(sender, `http://127.0.0.1:${receiver.port}/`)).toEqual(answer(200));
    await sender.close();
    await receiver.isLeft();
    expect(receiver.connections.map(({ closed }) => closed)).toEqual([true]);
  });
});

describe("an attempt", () => {
  test("reports its duration in whole milliseconds, and removes its listeners from the signal", async () => {
    const receiver = await startReceiver(saying(ok));
    const { signal } = new AbortController();
    const startedAt = performance.now();
    const request = {
      url: `http://127.0.0.1:${receiver.port}/`,
      headers: {},
      body: "{}",
      isLoopbackAllowed: true,
      signal,
    };
    const { durationMs } = await startSender().send(request);
    expect(Number.isInteger(durationMs)).toBe(true);
    expect(durationMs >= 0 && durationMs <= Math.ceil(performance.now() - startedAt)).toBe(true);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test.each([
    [299, null],
    [300, "redirect"],
    [399, "redirect"],
    [400, "http_status"],
  ] as const)("answered with %d ends as %s", async (status, errorCode) => {
    const receiver = await startReceiver(saying(emptyAnswer(`${status} Any`)));
    expect(await send(startSender(), `http://127.0.0.1:${receiver.port}/`)).toEqual(
      answer(status, errorCode),
    );
  });
});
