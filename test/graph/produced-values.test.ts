/**
 * The API promises no value that the service never gives: enum values, error codes and event types have code
 * that produces them, and every column of the database is used.
 */
import { globSync, readFileSync } from "node:fs";
import {
  getNamedType,
  type GraphQLEnumType,
  type GraphQLNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  OperationTypeNode,
} from "graphql";
import { describe, expect, it } from "vitest";
import { failureKinds } from "#foundation/failure.ts";
import graph from "#graph/schema.ts";
import { eventTypeNames } from "#webhooks/event-catalogue.ts";
import { findProducedTexts } from "#test/support/produced-values.ts";

const types = Object.values(graph.getTypeMap()).filter((type) => !isIntrospectionType(type));
const enums = types.filter(isEnumType);
const valuesOf = (type: GraphQLEnumType): string[] => type.getValues().map(({ value }) => String(value));

const returned = new Set(
  types
    .filter((type) => isObjectType(type) || isInterfaceType(type))
    .flatMap((type) => Object.values(type.getFields()).map((field) => getNamedType(field.type))),
);
const stored = new Set(
  Object.values(graph.getMutationType()?.getFields() ?? {}).flatMap(({ args }) =>
    args.flatMap(({ type }) => inputTypesIn(getNamedType(type))),
  ),
);

function inputTypesIn(type: GraphQLNamedType): GraphQLNamedType[] {
  if (!isInputObjectType(type)) return [type];
  const fields = Object.values(type.getFields()).map((field) => getNamedType(field.type));
  return [type, ...fields.filter((field) => field !== type).flatMap(inputTypesIn)];
}

/** Values that come from elsewhere: clients send them as values of another enum, or a library gives them. */
const givenValues: Readonly<Record<string, readonly string[]>> = {
  RefundCause: valuesOf(enums.find(({ name }) => name === "RefundReason") as GraphQLEnumType),
  WarrantyClaimStatus: valuesOf(enums.find(({ name }) => name === "WarrantyClaimOutcome") as GraphQLEnumType),
  TrustedDocumentOperation: Object.values(OperationTypeNode),
};

/** Enums whose values are not returned as an enum, but as a text, for example as a payment's failure code. */
const returnedAsText: ReadonlySet<string> = new Set(["CheckoutFailReason"]);

describe("an enum value", () => {
  const isProduced = findProducedTexts();
  const isNamed = findProducedTexts({ withCompared: true });

  it("that the API returns is produced by code, or a mutation accepts and stores it", () => {
    const computed = enums.filter((type) => returned.has(type) && !stored.has(type));
    expect(computed.length).toBeGreaterThan(50);
    const missing = computed.flatMap((type) =>
      valuesOf(type)
        .filter((value) => !isProduced(value) && givenValues[type.name]?.includes(value) !== true)
        .map((value) => `${type.name}: ${value}`),
    );
    expect(missing).toEqual([]);
  });

  it("that the API only accepts has an effect; one value of each enum may stand for all other cases", () => {
    const accepted = enums.filter((type) => !returned.has(type) && !returnedAsText.has(type.name));
    expect(accepted.length).toBeGreaterThan(5);
    const isDoubtful = (type: GraphQLEnumType): boolean =>
      valuesOf(type).filter((value) => !isNamed(value)).length > 1;
    expect(accepted.filter(isDoubtful).map(({ name }) => name)).toEqual([]);
  });
});

it("an error code is raised by code", () => {
  const isRaised = findProducedTexts({
    except: ["src/foundation/failure.ts", "src/graph/mutation-failures.ts"],
  });
  expect(Object.keys(failureKinds).filter((code) => !isRaised(code))).toEqual([]);
});

it("an event type is published by code", () => {
  const isPublished = findProducedTexts({ except: ["src/webhooks/*event-types.ts"] });
  expect(eventTypeNames.filter((type) => !isPublished(type))).toEqual([]);
});

it("a column of the database is named by code or by a trigger of the database", () => {
  const root = new URL("../..", import.meta.url).pathname;
  const read = (path: string): string => readFileSync(`${root}${path}`, "utf8");
  const code = globSync("src/**/*.ts", { cwd: root, exclude: ["src/database/tables.ts", "src/demo/**"] });
  const words = new Set(code.flatMap((path) => read(path).match(/\w+/g) ?? []));
  const columns = [...read("src/database/tables.ts").matchAll(/^ {2}(\w+): /gm)].map(([, name = ""]) => name);
  expect(columns.length).toBeGreaterThan(500);
  const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  expect(columns.filter((name) => !words.has(name) && !words.has(snake(name)))).toEqual([]);
});
