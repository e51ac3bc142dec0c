/** The benchmark's scenario `mixed`: its shares, and how its pages, carts and orders are drawn. */
import { describe, expect, it } from "vitest";
import { drawMixture, createMixedSequence } from "#bench/mixture.ts";
import { createSeededRandom, createZipfDraw } from "#bench/random.ts";
import type { BenchRequest, MixedScenario, Scenario } from "#bench/scenario.ts";
import { servers } from "#bench/servers.ts";

const countBy = (values: readonly number[], count: number): number[] =>
  values.reduce((counts, value) => counts.with(value, (counts[value] ?? 0) + 1), Array(count).fill(0));

describe("drawing by Zipf's law", () => {
  it("gives the same numbers for the same seed", () => {
    const draw = (seed: number): number[] => {
      const next = createZipfDraw(500, createSeededRandom(seed));
      return Array.from({ length: 50 }, next);
    };
    expect(draw(1)).toEqual(draw(1));
    expect(draw(1)).not.toEqual(draw(2));
  });

  it("draws the index k with a probability that is proportional to 1 / (k + 1)", () => {
    const [subjects, draws] = [20, 40_000];
    const next = createZipfDraw(subjects, createSeededRandom(7));
    const counts = countBy(Array.from({ length: draws }, next), subjects);
    const sum = counts.reduce((total, _, index) => total + 1 / (index + 1), 0);
    for (const [index, count] of counts.entries()) {
      const expected = draws / (index + 1) / sum;
      expect(Math.abs(count - expected), `index ${index}`).toBeLessThan(5 * Math.sqrt(expected));
    }
  });

  it("reaches the first and the last index, and refuses to draw from nothing", () => {
    const drawAt = (value: number): number => createZipfDraw(3, () => value)();
    expect([drawAt(0), drawAt(0.999_999_999)]).toEqual([0, 2]);
    expect(() => createZipfDraw(0, () => 0)).toThrow("at least one item");
  });
});

describe("a mixture", () => {
  const parts = [
    { perHundred: 90, subjects: 30 },
    { perHundred: 8, subjects: 5 },
    { perHundred: 2, subjects: 1 },
  ];

  it("is the same in every run", () => {
    expect(drawMixture(parts)).toEqual(drawMixture(parts));
  });

  it("has the exact shares in each hundred requests, in different orders", () => {
    const draws = drawMixture(parts);
    expect(draws.length % 100).toBe(0);
    const orders = new Set<string>();
    for (let from = 0; from < draws.length; from += 100) {
      const order = draws.slice(from, from + 100).map(({ part }) => part);
      expect(countBy(order, parts.length)).toEqual([90, 8, 2]);
      orders.add(order.join(""));
    }
    expect(orders.size).toBe(draws.length / 100);
  });

  it("only draws existing subjects", () => {
    expect(drawMixture(parts).filter(({ part, subject }) => subject >= (parts[part]?.subjects ?? 0))).toEqual(
      [],
    );
  });
});

describe("the sequence of a mixed scenario", () => {
  const toRequest = (path: string, body?: unknown): BenchRequest => ({
    method: body === undefined ? "GET" : "PUT",
    path,
    headers: {},
    variables: {},
    ...(body === undefined ? {} : { body }),
  });
  const toScenario = (name: string, requests: readonly BenchRequest[]): Scenario => ({
    name,
    document: "",
    envelope: [],
    requests,
    fault: () => undefined,
    effect: null,
  });
  const mixed: MixedScenario = {
    name: "mixed",
    parts: [
      { scenario: toScenario("product", [toRequest("/a"), toRequest("/b")]), perHundred: 50 },
      {
        scenario: toScenario("promotion", [
          toRequest("/cart", { code: "ONE" }),
          toRequest("/cart", { code: "TWO" }),
        ]),
        perHundred: 50,
      },
    ],
  };
  const [server] = servers;
  if (server === undefined) throw new Error("The benchmark has no servers.");

  it("sends the same requests to each server, and lets the changes of a cart alternate across loads", () => {
    const start = createMixedSequence(mixed);
    const load = (): string[] => {
      const next = start(server)();
      return Array.from({ length: 100 }, () => next().toString());
    };
    const [first, second] = [load(), load()];
    const pathsOf = (texts: readonly string[]): string[] => texts.map((text) => text.split(" ")[1] ?? "");
    expect(pathsOf(first)).toEqual(pathsOf(second));
    expect(new Set(pathsOf(first))).toEqual(new Set(["/a", "/b", "/cart"]));
    const codes = [...first, ...second].flatMap((text) => /ONE|TWO/.exec(text)?.[0] ?? []);
    expect(codes).toEqual(codes.map((_, index) => (index % 2 === 0 ? "ONE" : "TWO")));
    expect(codes).toHaveLength(100);
  });
});
