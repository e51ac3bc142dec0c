/** What GraphiQL opens with runs on the demo data, for who reads, with a known number of statements. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { exampleQueries } from "#web/example-queries.ts";
import { createWorld, type World } from "#test/support/world.ts";

/** Beside the statement that verifies the token. */
const statementsOf: Readonly<Record<string, number>> = { Search: 5, Products: 4, Markets: 4, "Who am I": 2 };

describe.each(["pglite", "postgres"] as const)("GraphiQL's example queries on %s", (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld(engine);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  it.each(exampleQueries)("$title runs and costs the statements it should", async ({ title, query }) => {
    for (const token of ["admin", "analyst"]) {
      world.statements.length = 0;
      const { status, body } = await world.graphql(query, { token });
      expect({ status, errors: body.errors }).toEqual({ status: 200, errors: undefined });
      expect(JSON.stringify(body.data).length).toBeGreaterThan(50);
      const statements = world.statements.filter((text) => !text.includes("internal_token"));
      expect(statements.length, statements.join("\n\n")).toBe(statementsOf[title]);
    }
  });
});
