import { getEventListeners } from "node:events";
import { Resolver } from "node:dns/promises";
import { afterEach, describe, expect, test, vi } from "vitest";
import { resolveHostNameWithTimeout, resolveHostName } from "#webhooks/safe-addresses.ts";

afterEach(() => void vi.restoreAllMocks());

describe("the addresses of a name", () => {
  test("of this machine are known without a lookup", async () => {
    expect(await resolveHostName("localhost", AbortSignal.timeout(1000))).toEqual(["127.0.0.1", "::1"]);
  });

  test("are none if the lookup is canceled", async () => {
    const stop = new AbortController();
    const addresses = resolveHostName("nowhere.invalid", stop.signal);
    stop.abort();
    expect(await addresses).toEqual([]);
  });

  test("are all of its addresses, and none if the lookup fails or times out", async () => {
    const signal = AbortSignal.timeout(20);
    expect(
      await resolveHostNameWithTimeout("a.example.com", {
        resolve: async () => ["8.8.8.8", "8.8.4.4"],
        signal,
      }),
    ).toEqual(["8.8.8.8", "8.8.4.4"]);
    expect(
      await resolveHostNameWithTimeout("a.example.com", {
        resolve: () => Promise.reject(new Error("SERVFAIL")),
        signal,
      }),
    ).toEqual([]);
    expect(
      await resolveHostNameWithTimeout("a.example.com", { resolve: () => new Promise(() => {}), signal }),
    ).toEqual([]);
    expect(
      await resolveHostNameWithTimeout("a.example.com", {
        resolve: () => expect.unreachable(),
        signal: AbortSignal.abort(),
      }),
    ).toEqual([]);
  });

  test("are those of both families, or of one if the other has none", async () => {
    const four = vi.spyOn(Resolver.prototype, "resolve4").mockResolvedValue(["8.8.8.8"]);
    const six = vi.spyOn(Resolver.prototype, "resolve6").mockResolvedValue(["2606:4700::1"]);
    const { signal } = new AbortController();
    expect(await resolveHostName("shop.example.com", signal)).toEqual(["8.8.8.8", "2606:4700::1"]);
    six.mockRejectedValue(new Error("ENODATA"));
    expect(await resolveHostName("shop.example.com", signal)).toEqual(["8.8.8.8"]);
    four.mockRejectedValue(new Error("ENODATA"));
    expect(await resolveHostName("shop.example.com", signal)).toEqual([]);
    expect(four).toHaveBeenCalledWith("shop.example.com");
  });

  test("are abandoned with the signal, and no listener remains on it", async () => {
    const cancel = vi.spyOn(Resolver.prototype, "cancel");
    const { promise, reject } = Promise.withResolvers<never>();
    for (const family of ["resolve4", "resolve6"] as const)
      vi.spyOn(Resolver.prototype, family).mockReturnValue(promise);
    const stop = new AbortController();
    const addresses = resolveHostName("shop.example.com", stop.signal);
    stop.abort();
    expect(cancel).toHaveBeenCalledTimes(1);
    reject(new Error("ECANCELLED"));
    expect(await addresses).toEqual([]);

    const { signal } = new AbortController();
    await resolveHostName("shop.example.com", signal);
    await resolveHostNameWithTimeout("shop.example.com", {
      resolve: () => Promise.resolve(["8.8.8.8"]),
      signal,
    });
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
});
