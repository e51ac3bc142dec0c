/** Every type, field, argument, input field and enum value of the graph has a description. */
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

  it("names enum values in upper snake case and stores them in lower snake case", () => {
    for (const type of types) {
      if (!isEnumType(type) || type.name === "Scope") continue;
      for (const { name, value } of type.getValues())
        expect(value, `${type.name}.${name}`).toBe(name.toLowerCase());
    }
  });

  it("returns amounts only as Money, never as a float", () => {
    const floats = types
      .flatMap((type) => (isObjectType(type) ? Object.values(type.getFields()) : []))
      .filter((field) => getNamedType(field.type).name === "Float");
    expect(floats.map(({ name }) => name).toSorted()).toEqual([
      "average",
      "conversionRate",
      "conversionRate",
      "discountShare",
      "discountShare",
      "medianDeliveryHours",
      "popularityScore",
      "repeatRate",
      "returnRate",
      "returnRate",
      "score",
      "sizeBytes",
      "stockScore",
      "successRate",
      "successRate",
      "successRate",
      "successRate24h",
      "textScore",
      "tierScore",
    ]);
  });
});
