/** Creates one test world for a whole test file or suite and frees it afterwards. */
import { afterAll, beforeAll } from "vitest";
import type { Engine } from "./databases.ts";
import { createWorld, type World, type WorldOptions } from "./world.ts";

export function useWorld(engine: Engine = "pglite", options: WorldOptions = {}): () => World {
  let world: World | undefined;
  beforeAll(async () => {
    world = await createWorld(engine, options);
  });
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
  });
  return () => {
    if (world === undefined) throw new Error("The world is there for tests, not for their collection.");
    return world;
  };
}

/**
 * Returns the SQL statements of a call, without the update of the credential's last use, which runs after the
 * answer.
 */
export async function statementsOf(world: World, call: () => Promise<unknown>): Promise<string[]> {
  world.statements.length = 0;
  await call();
  return world.statements.filter((text) => !/^update (?:api_key|oauth_grant) set last_used_at/.test(text));
}
