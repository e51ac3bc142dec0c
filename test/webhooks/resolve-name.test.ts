import { describe, expect, test } from "vitest";
import { resolveInTime, resolveName } from "#webhooks/resolve-name.ts";

describe("the addresses of a name", () => {
  test("that is this machine are known without asking anybody", async () => {
    expect(await resolveName("localhost", AbortSignal.timeout(1000))).toEqual(["127.0.0.1", "::1"]);
  });

  test("are none where the question is given up", async () => {
    const stop = new AbortController();
    const addresses = resolveName("nowhere.invalid", stop.signal);
    stop.abort();
    expect(await addresses).toEqual([]);
  });

  test("are all of them, and none where it fails or takes too long", async () => {
    const signal = AbortSignal.timeout(20);
    expect(await resolveInTime("a.example.com", { resolve: async () => ["8.8.8.8", "8.8.4.4"], signal })).toEqual(["8.8.8.8", "8.8.4.4"]);
    expect(await resolveInTime("a.example.com", { resolve: () => Promise.reject(new Error("SERVFAIL")), signal })).toEqual([]);
    expect(await resolveInTime("a.example.com", { resolve: () => new Promise(() => {}), signal })).toEqual([]);
    expect(await resolveInTime("a.example.com", { resolve: () => expect.unreachable(), signal: AbortSignal.abort() })).toEqual([]);
  });
});
