/** The report examples of GraphiQL run on the demo and return data. */
import { describe, expect, it } from "vitest";
import { useWorld } from "#test/support/use-world.ts";
import { reportExamples } from "#pages/graphiql/report-examples.ts";

describe.each(["pglite", "postgres"] as const)("report examples on %s", (engine) => {
  const world = useWorld(engine);

  it.each(reportExamples)("$title", async ({ query, variables }) => {
    for (const token of ["analyst", "admin", "operator"]) {
      const { status, body } = await world().graphql(query, {
        token,
        variables: JSON.parse(variables ?? "{}") as Record<string, unknown>,
      });
      expect({ status, errors: body.errors }).toEqual({ status: 200, errors: undefined });
      expect(Object.values(body.data)[0]).not.toBeNull();
    }
  });
});
