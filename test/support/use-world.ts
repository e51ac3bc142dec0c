/** Creates one test world for a whole test file or suite and frees it afterwards. */
import { afterAll, beforeAll } from "vitest";
import type { Engine } from "./databases.ts";
import { createWorld, type StatementExecution, type World, type WorldOptions } from "./world.ts";

export function useWorld(engine: Engine = "postgres", options: WorldOptions = {}): () => World {
  let world: World | undefined;
  beforeAll(async () => {
    world = await createWorld(engine, options);
  });
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
    // vitest keeps the functions of a test file until the end of its process, which many test files share.
    world = undefined;
  });
  return () => {
    if (world === undefined) throw new Error("The world is there for tests, not for their collection.");
    return world;
  };
}

/**
 * Matches the statements that no request waits for: the last use of a credential or of a trusted document,
 * and the request log. They may run during any later request, so tests that count statements leave them out.
 */
const unawaitedStatement =
  /^(?:insert into api_request\b|update "?(?:api_key|internal_token|oauth_grant|staff_session|trusted_document)"? set "?last_used_at)/;

/** Returns the SQL statements of a call, without those that no request waits for. */
export async function statementsOf(world: World, call: () => Promise<unknown>): Promise<string[]> {
  return (await statementsAndAnswerOf(world, call))[0];
}

/** Returns the SQL statements of a call as `statementsOf` does, and the result of the call. */
export async function statementsAndAnswerOf<Result>(
  world: World,
  call: () => Promise<Result>,
): Promise<[statements: string[], result: Result]> {
  world.statements.length = 0;
  const result = await call();
  return [world.statements.filter((text) => !unawaitedStatement.test(text)), result];
}

/**
 * Counts the statements of the only transaction in a list, and its round trips, without statements that no
 * request waits for. A statement that was sent before an earlier statement was answered belongs to the same
 * round trip.
 */
export function countTransaction(executions: readonly StatementExecution[]): {
  readonly statements: number;
  readonly roundTrips: number;
} {
  const begin = executions.findIndex(({ text }) => /^begin\b/.test(text));
  const end = executions.findIndex(({ text }) => text === "commit");
  if (begin === -1 || end === -1) throw new Error("The statements contain no committed transaction.");
  const sent = executions
    .slice(begin, end + 1)
    .filter(({ text }) => !unawaitedStatement.test(text))
    .toSorted((a, b) => a.sentAt - b.sentAt);
  let roundTrips = 0;
  let firstAnswerAt = 0;
  for (const { sentAt, answeredAt } of sent) {
    const isLater = sentAt >= firstAnswerAt;
    if (isLater) roundTrips += 1;
    firstAnswerAt = isLater ? answeredAt : Math.min(firstAnswerAt, answeredAt);
  }
  return { statements: sent.length, roundTrips };
}

interface CountedWrite<Prepared> {
  readonly prepare: () => Promise<Prepared>;
  /** Writes once. Throws an error if the write fails. */
  readonly write: (prepared: Prepared) => Promise<void>;
}

/**
 * Counts the transaction of a write to newly prepared objects. If it has more round trips than expected,
 * counts two more writes: a pause of this process directly after an answer makes a statement look as if it
 * was sent later.
 */
export async function countTransactionOf<Prepared>(
  world: World,
  expectedRoundTrips: number,
  { prepare, write }: CountedWrite<Prepared>,
): Promise<{ readonly prepared: Prepared; readonly counts: ReturnType<typeof countTransaction> }> {
  for (let attempt = 1; ; attempt += 1) {
    const prepared = await prepare();
    world.executions.length = 0;
    await write(prepared);
    const counts = countTransaction(world.executions);
    if (counts.roundTrips <= expectedRoundTrips || attempt === 3) return { prepared, counts };
  }
}
