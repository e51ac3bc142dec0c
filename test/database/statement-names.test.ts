/**
 * Statements are prepared under names. Statements with dozens of variants use only a bounded share of the
 * server's memory.
 */
import type pg from "pg";
import { describe, expect, it } from "vitest";
import { createPreparedStatementConnectionPool } from "#database/statement-pool.ts";
import { manyFormsMark } from "#database/statement-sender.ts";

async function namesOf(texts: readonly string[]): Promise<(string | undefined)[]> {
  const asked: (string | undefined)[] = [];
  const client = {
    connection: { stream: { cork: () => undefined, uncork: () => undefined } },
    query: ({ name }: { readonly name?: string }) => Promise.resolve(asked.push(name)),
    getTransactionStatus: () => null,
    release: () => undefined,
  };
  const pool = { options: {}, connect: () => Promise.resolve(client) } as unknown as pg.Pool;
  const connection = await createPreparedStatementConnectionPool(pool, {
    prepared: true,
    limits: undefined,
  }).connect();
  for (const text of texts) await connection.query(text, [1]);
  return asked;
}

describe("names of prepared statements", () => {
  it("are one per text, whatever the parameters", async () => {
    const [one, other, again] = await namesOf(["select $1", "select $1 + 1", "select $1"]);
    expect(one).toMatch(/^q[0-9a-f]{20}$/);
    expect(other).not.toBe(one);
    expect(again).toBe(one);
  });

  it("are given to 24 statements with many variants, and then to others in turn", async () => {
    const forms = Array.from({ length: 100 }, (_, index) => `${manyFormsMark} select $1 + ${index}`);
    const names = await namesOf([...forms, "select $1", ...forms]);
    expect(names.slice(0, 100).filter((name) => name !== undefined)).toHaveLength(24);
    expect(names[100]).toBeDefined();
    expect(names.slice(101)).toEqual(names.slice(0, 100));
  });
});
