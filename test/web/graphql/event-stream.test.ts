/**
 * Streaming results as server-sent events: heartbeats while idle, backpressure, and an end that nothing
 * delays.
 */
import { Readable } from "node:stream";
import Fastify from "fastify";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createFailure } from "#foundation/failure.ts";
import { type SubscriptionResultStream, sendSubscriptionResults } from "#graphql/event-streams.ts";

describe("events", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  /** Starts a stream, and returns it together with its controls. */
  async function sendOf(
    steps: AsyncIterator<unknown>,
  ): Promise<{ body: Readable; over: AbortController; rendered: unknown[]; ends: () => number }> {
    const over = new AbortController();
    const rendered: unknown[] = [];
    let ends = 0;
    const results: SubscriptionResultStream = {
      steps,
      signal: over.signal,
      end: () => void (ends += 1),
      renderStep: (step) => {
        rendered.push(step);
        return Promise.resolve({ result: { data: step }, isLast: step === "last" });
      },
      renderEnd: (reason) =>
        reason instanceof Error && "code" in reason ? { errors: [{ code: reason.code }] } : undefined,
    };
    const sent = Promise.withResolvers<Readable>();
    const server = Fastify();
    server.get("/", (_request, reply) => {
      const send = reply.send.bind(reply);
      reply.send = (payload) => {
        sent.resolve(payload as Readable);
        return send("");
      };
      return sendSubscriptionResults(reply, results);
    });
    void server.inject("/");
    return { body: await sent.promise, over, rendered, ends: () => ends };
  }
  const silent = (): AsyncIterator<unknown> & { wasReturned: boolean } => {
    const { promise, resolve } = Promise.withResolvers<IteratorResult<unknown>>();
    const steps = {
      wasReturned: false,
      next: () => promise,
      return: () => {
        steps.wasReturned = true;
        resolve({ done: true, value: undefined });
        return promise;
      },
    };
    return steps;
  };
  /** Returns the text received since the last call. */
  const listen = (body: Readable): (() => Promise<string>) => {
    let received = "";
    body.on("data", (bytes) => (received += String(bytes)));
    return async () => {
      for (let turn = 0; turn < 10; turn += 1) await vi.advanceTimersByTimeAsync(0);
      const text = received;
      received = "";
      return text;
    };
  };

  it("starts with a comment, and sends one every twelve seconds", async () => {
    const { body } = await sendOf(silent());
    const received = listen(body);
    expect(await received()).toBe(":\n\n");
    await vi.advanceTimersByTimeAsync(11_000);
    expect(await received()).toBe("");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await received()).toBe(":\n\n");
    await vi.advanceTimersByTimeAsync(12_000);
    expect(await received()).toBe(":\n\n");
    body.destroy();
  });

  it("produces results only as fast as they are read", async () => {
    const large = "x".repeat(10_000);
    const { body, rendered } = await sendOf({ next: () => Promise.resolve({ done: false, value: large }) });
    await vi.advanceTimersByTimeAsync(100);
    const made = rendered.length;
    expect(made).toBeLessThan(10);
    await vi.advanceTimersByTimeAsync(100_000);
    expect(rendered.length).toBe(made);
    body.destroy();
  });

  it("ends after the last result", async () => {
    const { body } = await sendOf({ next: () => Promise.resolve({ done: false, value: "last" }) });
    const text = (await Readable.from(body).toArray()).map(String).join("");
    expect(text).toBe(':\n\nevent: next\ndata: {"data":"last"}\n\nevent: complete\ndata:\n\n');
  });

  it("ends with the given reason, and releases its source", async () => {
    const steps = silent();
    const { body, over } = await sendOf(steps);
    const received = listen(body);
    await received();
    over.abort(createFailure("api_key_revoked"));
    expect(await received()).toBe(
      'event: next\ndata: {"errors":[{"code":"api_key_revoked"}]}\n\nevent: complete\ndata:\n\n',
    );
    expect(steps.wasReturned).toBe(true);
  });

  it("closes soon after its end if the client does not read", async () => {
    const large = "x".repeat(100_000);
    const { body, over, ends } = await sendOf({ next: () => Promise.resolve({ done: false, value: large }) });
    await vi.advanceTimersByTimeAsync(100);
    over.abort();
    expect(body.destroyed).toBe(false);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(body.destroyed).toBe(true);
    expect(ends()).toBe(1);
  });
});
