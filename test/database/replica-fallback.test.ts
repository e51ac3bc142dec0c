/** Public reads with a replica that fails, and comes back. */
import type { ExecutionResult } from "graphql";
import { GraphQLError } from "graphql";
import { beforeEach, describe, expect, it } from "vitest";
import { createReplicaReadRunnerWithFallback } from "#gateway/replica-fallback.ts";
import type { Database } from "#database/connect.ts";
import { createFailure } from "#foundation/failure.ts";
import { createLog } from "#foundation/log.ts";
import type { ReplicaReadSources, DatabaseReadSource } from "#graph/context.ts";

const source = (name: string): DatabaseReadSource => ({ db: { name } as unknown as Database });
const replica: ReplicaReadSources = {
  forAnalysts: source("analysts"),
  forPublicReads: source("replica"),
  isBehind: () => false,
};
const failed = (originalError: Error): ExecutionResult => ({
  data: null,
  errors: [new GraphQLError("", { originalError })],
});

let now = new Date("2026-06-01T12:00:00.000Z");
const clock = { now: () => now };
let asked: string[] = [];
let logged: string[] = [];
let answer: ExecutionResult = { data: {} };
const log = createLog("info", {
  write: (line: string) => void logged.push((JSON.parse(line) as { msg: string }).msg),
});
const ask = (from: DatabaseReadSource | undefined): ExecutionResult => {
  asked.push(from === undefined ? "primary" : (from.db as unknown as { readonly name: string }).name);
  return from === undefined ? { data: { primary: true } } : answer;
};

beforeEach(() => {
  [asked, logged, answer] = [[], [], { data: {} }];
});

describe("a public read", () => {
  it("goes to the replica, and to the primary if there is no replica", async () => {
    await createReplicaReadRunnerWithFallback({ replica }, { clock, log })(ask);
    await createReplicaReadRunnerWithFallback({ replica: undefined }, { clock, log })(ask);
    expect([asked, logged]).toEqual([["replica", "primary"], []]);
  });

  it("returns the replica's refusal, because a refusal is an answer", async () => {
    answer = failed(createFailure("product_not_found"));
    expect(await createReplicaReadRunnerWithFallback({ replica }, { clock, log })(ask)).toBe(answer);
    expect(asked).toEqual(["replica"]);
  });

  it("is answered by the primary after the replica fails, and during the pause that follows", async () => {
    answer = failed(new Error("canceling statement due to conflict with recovery"));
    const run = createReplicaReadRunnerWithFallback({ replica }, { clock, log, pauseMs: 60_000 });
    expect(await run(ask)).toEqual({ data: { primary: true } });
    answer = { data: {} };
    expect(await run(ask)).toEqual({ data: { primary: true } });
    expect([asked, logged.length]).toEqual([["replica", "primary", "primary"], 1]);
  });

  it("tries the replica again at once if the clock has been set back by more than the pause", async () => {
    answer = failed(new Error("connect ECONNREFUSED"));
    const run = createReplicaReadRunnerWithFallback({ replica }, { clock, log, pauseMs: 30_000 });
    await run(ask);
    now = new Date(now.getTime() - 3_600_000);
    [asked, answer] = [[], { data: {} }];
    await run(ask);
    expect(asked).toEqual(["replica"]);
  });

  it("tries the replica again after the pause, one read at a time until the replica answers", async () => {
    answer = failed(new Error("connect ECONNREFUSED"));
    const run = createReplicaReadRunnerWithFallback({ replica }, { clock, log, pauseMs: 30_000 });
    await run(ask);
    now = new Date(now.getTime() + 30_000);
    asked = [];
    await Promise.all([run(ask), run(ask)]);
    expect(asked.toSorted()).toEqual(["primary", "primary", "replica"]);
    answer = { data: {} };
    now = new Date(now.getTime() + 30_000);
    asked = [];
    await run(ask);
    await run(ask);
    expect(asked).toEqual(["replica", "replica"]);
    expect(logged.map((text) => text.slice(0, 26))).toEqual([
      "The replica does not answe",
      "The replica answers again.",
    ]);
  });
});
