/** Every value that the API promises is one that the service can give. */
import { isEnumType } from "graphql";
import { expect, it } from "vitest";
import graph from "#graph/schema.ts";
import { eventTypeNames } from "#webhooks/event-catalogue.ts";
import { failureKinds } from "#foundation/failure.ts";
import { findProducedTexts } from "#test/support/produced-values.ts";

it("x", () => {
  const isProduced = findProducedTexts();
  const missing = Object.values(graph.getTypeMap())
    .filter(isEnumType)
    .flatMap((type) => type.getValues().filter(({ value }) => !isProduced(String(value))).map(({ value }) => `${type.name}.${value}`));
  console.log(missing.join("\n"));
  const f = findProducedTexts({ except: ["src/foundation/failure.ts", "src/graph/mutation-failures.ts"] });
  console.log(Object.keys(failureKinds).filter((c) => !f(c)));
  const e = findProducedTexts({ except: ["src/webhooks/*event-types.ts"] });
  console.log(eventTypeNames.filter((c) => !e(c)));
  expect(1).toBe(1);
});
