/** The graph explains itself: every type, field, argument, input field and enum value says what it is. */
import {
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
} from "graphql";
import { describe, expect, it } from "vitest";
import graph from "#graph/schema.ts";

const types = Object.values(graph.getTypeMap()).filter(
  (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
);

function* described(): Generator<readonly [string, string | null | undefined]> {
  for (const type of types) {
    yield [type.name, type.description];
    if (isEnumType(type))
      for (const value of type.getValues()) yield [`${type.name}.${value.name}`, value.description];
    if (isInputObjectType(type))
      for (const field of Object.values(type.getFields()))
        yield [`${type.name}.${field.name}`, field.description];
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      yield [`${type.name}.${field.name}`, field.description];
      for (const argument of field.args)
        yield [`${type.name}.${field.name}(${argument.name})`, argument.description];
    }
  }
}

describe("the graph", () => {
  it("has a description on everything", () => {
    expect(
      [...described()].filter(([, description]) => (description ?? "").length < 5).map(([name]) => name),
    ).toEqual([]);
  });

  it("spells every enum value in upper snake case and keeps it in lower snake case", () => {
    for (const type of types) {
      if (!isEnumType(type) || type.name === "Scope") continue;
      for (const { name, value } of type.getValues())
        expect(value, `${type.name}.${name}`).toBe(name.toLowerCase());
    }
  });

  it("gives amounts only as money, never as a float", () => {
    const floats = types
      .flatMap((type) => (isObjectType(type) ? Object.values(type.getFields()) : []))
      .filter((field) => getNamedType(field.type).name === "Float");
    expect(floats.map(({ name }) => name).toSorted()).toEqual([
      "average",
      "conversionRate",
      "conversionRate",
      "score",
      "successRate",
      "successRate",
      "successRate",
      "successRate24h",
    ]);
  });
});
