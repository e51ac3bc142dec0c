/** Public reads with a replica that fails, and comes back. */
import type { ExecutionResult } from "graphql";
import { GraphQLError } from "graphql";
import { beforeEach, describe, expect, it } from "vitest";
import { createDetour } from "#gateway/replica-fallback.ts";
import type { Database } from "#database/connect.ts";
import { fail } from "#foundation/failure.ts";
import { createLog } from "#foundation/log.ts";
import type { Replica, Source } from "#graph/context.ts";

const source = (name: string): Source => ({ db: { name } as unknown as Database });
const replica: Replica = { ofAnalysts: source("analysts"), ofThePublic: source("replica") };
const failed = (originalError: Error): ExecutionResult => ({ data: null, errors: [new GraphQLError("", { originalError })] });

let asked: string[] = [];
let told: string[] = [];
let answer: ExecutionResult = { data: {} };
const log = createLog("info", { write: (line: string) => void told.push((JSON.parse(line) as { msg: string }).msg) });
const ask = (from: Source | undefined): ExecutionResult => {
  asked.push(from === undefined ? "primary" : (from.db as unknown as { readonly name: string }).name);
  return from === undefined ? { data: { primary: true } } : answer;
};

beforeEach(() => {
  [asked, told, answer] = [[], [], { data: {} }];
});

describe("a public read", () => {
  it("is asked of the replica, and of the primary where there is none", async () => {
    await createDetour({ replica }, { log })(ask);
    await createDetour({ replica: undefined }, { log })(ask);
    expect([asked, told]).toEqual([["replica", "primary"], []]);
  });

  it("that the replica refuses is answered: a refusal is an answer", async () => {
    answer = failed(fail("product_not_found"));
    expect(await createDetour({ replica }, { log })(ask)).toBe(answer);
    expect(asked).toEqual(["replica"]);
  });

  it("that the replica fails is answered by the primary, and so are those of the next seconds", async () => {
    answer = failed(new Error("canceling statement due to conflict with recovery"));
    const run = createDetour({ replica }, { log, pauseMs: 60_000 });
    expect(await run(ask)).toEqual({ data: { primary: true } });
    answer = { data: {} };
    expect(await run(ask)).toEqual({ data: { primary: true } });
    expect([asked, told.length]).toEqual([["replica", "primary", "primary"], 1]);
  });

  it("is asked of the replica again after that, by one at a time until it answers", async () => {
    answer = failed(new Error("connect ECONNREFUSED"));
    const run = createDetour({ replica }, { log, pauseMs: 30 });
    await run(ask);
    await new Promise((resolve) => setTimeout(resolve, 40));
    asked = [];
    await Promise.all([run(ask), run(ask)]);
    expect(asked.toSorted()).toEqual(["primary", "primary", "replica"]);
    answer = { data: {} };
    await new Promise((resolve) => setTimeout(resolve, 40));
    asked = [];
    await run(ask);
    await run(ask);
    expect(asked).toEqual(["replica", "replica"]);
    expect(told.map((text) => text.slice(0, 26))).toEqual(["The replica does not answe", "The replica answers again."]);
  });
});
