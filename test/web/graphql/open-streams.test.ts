/** The open streams of a process: their number is limited, and their credentials are checked once a second. */
import { EventEmitter } from "node:events";
import type { FastifyRequest } from "fastify";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createFailure } from "#foundation/failure.ts";
import {
  createServerSentEventStreamManager,
  type ServerSentEventStream,
  type ServerSentEventStreams,
  streamsMax,
  streamsPerCallerMax,
} from "#graphql/event-streams.ts";
import { TestClock } from "#test/support/test-clock.ts";

describe("open streams", () => {
  const checked: string[] = [];
  let refusal: Error | undefined;
  let streams: ServerSentEventStreams;
  beforeEach(() => {
    vi.useFakeTimers();
    checked.length = 0;
    refusal = undefined;
    streams = createServerSentEventStreamManager({
      clock: new TestClock(),
      recheck: ({ headers }) => {
        checked.push(headers.authorization ?? "");
        return refusal === undefined ? Promise.resolve() : Promise.reject(refusal);
      },
    });
  });
  afterEach(() => {
    streams.close();
    vi.useRealTimers();
  });
  const requestOf = (authorization: string): FastifyRequest => {
    const raw = { socket: new EventEmitter(), headers: { authorization } };
    return { raw, headers: raw.headers } as unknown as FastifyRequest;
  };

  const open = (authorization: string, callerId = authorization, merchantId = "m"): ServerSentEventStream =>
    streams.open(requestOf(authorization), { callerId, merchantId });

  it("are limited in number", () => {
    const opened = Array.from({ length: streamsMax }, (_none, index) =>
      open("a", String(index % (streamsMax / streamsPerCallerMax)), String(index)),
    );
    expect(() => open("a", "another")).toThrow(expect.objectContaining({ code: "service_unavailable" }));
    opened[0]?.end();
    expect(() => open("a", "another")).not.toThrow();
  });

  it("are limited per credential", () => {
    for (let count = 0; count < streamsPerCallerMax; count += 1) open("a");
    expect(() => open("a")).toThrow(expect.objectContaining({ code: "rate_limited" }));
    expect(() => open("b")).not.toThrow();
  });

  it("are shared between merchants: each can open as many as are still free", () => {
    const openAll = (merchantId: string): number => {
      for (let count = 0; ; count += 1)
        try {
          open("a", `${merchantId} ${Math.floor(count / streamsPerCallerMax)}`, merchantId);
        } catch (error) {
          expect(error).toMatchObject({
            code: "rate_limited",
            message: expect.stringContaining(`The merchant has ${count} streams open`),
          });
          return count;
        }
    };
    expect(["one", "two", "three", "four"].map(openAll)).toEqual([250, 125, 63, 31]);
    expect(() => open("a", "a", "five")).not.toThrow();
  });

  it("are checked once a second, all of a credential together, and not at all if none is open", async () => {
    const opened = ["a", "a", "b"].map((authorization) => open(authorization));
    await vi.advanceTimersByTimeAsync(2_000);
    expect(checked).toEqual(["a", "b", "a", "b"]);
    for (const { end } of opened) end();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(checked).toHaveLength(4);
  });

  it("end when the credential becomes invalid, but not when the database is unreachable", async () => {
    const { signal } = open("a");
    refusal = createFailure("service_unavailable");
    await vi.advanceTimersByTimeAsync(3_000);
    expect(signal.aborted).toBe(false);
    refusal = createFailure("api_key_revoked");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(signal.reason).toMatchObject({ code: "api_key_revoked" });
  });

  it("end with their connection, and are refused while the process stops", () => {
    const request = requestOf("a");
    const { signal } = streams.open(request, { callerId: "a", merchantId: "m" });
    request.raw.socket.emit("close");
    expect(signal.aborted).toBe(true);
    expect(request.raw.socket.listenerCount("close")).toBe(0);
    const other = open("b");
    streams.close();
    expect(other.signal.aborted).toBe(true);
    expect(() => open("b")).toThrow(expect.objectContaining({ code: "service_unavailable" }));
  });
});
