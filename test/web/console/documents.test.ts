/**
 * Every GraphQL document in the browser code of pages (src/pages) is valid, and none exceeds the cost limit
 * with its largest page.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  buildSchema,
  type DocumentNode,
  type GraphQLInputType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  Kind,
  type OperationDefinitionNode,
  parse,
  typeFromAST,
  validate,
} from "graphql";
import { describe, expect, it } from "vitest";
import type { GraphqlContext } from "#graph/context.ts";
import { getGraphqlQueryCostLimit, queryDepthMax } from "#graph/limits.ts";
import graphSchema from "#graph/schema.ts";
import { computeGraphqlDocumentCost } from "#mesh/document-cost.ts";

const root = join(import.meta.dirname, "../../../src/pages");
const published = buildSchema(
  readFileSync(join(import.meta.dirname, "../../../schema/schema.graphql"), "utf8"),
);
const readText = (file: string): string => readFileSync(join(root, file), "utf8");
const files = globSync("*/browser/**/*.{ts,tsx}", { cwd: root });

/**
 * Documents that are assembled from parts are taken from their file's exports; others are found in the source
 * text.
 */
const exported = await Promise.all(
  files
    .filter((file) => file.endsWith("-documents.ts"))
    .map(async (file) => {
      const module = (await import(pathToFileURL(join(root, file)).href)) as Record<string, unknown>;
      return Object.entries(module).filter(
        (entry): entry is [string, string] => typeof entry[1] === "string",
      );
    }),
);
const literal = /[`"]\s*((?:query|mutation|subscription) \w+[^`"]*\})\s*[`"]/g;
const found = files
  .filter((file) => !file.endsWith("-documents.ts"))
  .flatMap((file) =>
    [...readText(file).matchAll(literal)].map(([, text = ""]): [string, string] => [file, text]),
  );
const documents = [...exported.flat(), ...found];

const limit = getGraphqlQueryCostLimit({
  viewer: { kind: "internal", staffId: "stf_1", role: "admin", merchantId: "mer_1" },
  isReportFile: false,
});

describe("documents of pages", () => {
  it.each(documents)("%s is one operation that is valid in the schema", (_name, text) => {
    const document = parse(text);
    expect(document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION).length).toBe(1);
    expect(validate(published, document)).toEqual([]);
    if (!text.includes("__schema")) expect(depthOf(text)).toBeLessThanOrEqual(queryDepthMax);
  });

  it.each(documents)("%s does not exceed the cost limit", (_name, text) => {
    const document = parse(text);
    const cost = computeGraphqlDocumentCost(graphSchema, document, {
      contextValue: {} as GraphqlContext,
      variableValues: largestVariables(document),
    });
    expect(cost).toBeLessThanOrEqual(limit);
  });

  it("have unique names", () => {
    const names = documents.map(([, text]) => /^\s*(?:query|mutation|subscription) (\w+)/.exec(text)?.[1]);
    expect(names).not.toContain(undefined);
    expect(new Set(names).size).toBe(names.length);
  });

  it("send an idempotency key with every mutation of the console", () => {
    const changes = documents.filter(([, text]) => /^\s*mutation Console/.test(text));
    expect(changes.length).toBeGreaterThanOrEqual(23);
    expect(changes.filter(([, text]) => !text.includes("idempotencyKey: $idempotencyKey"))).toEqual([]);
  });
});

/** The largest page sizes of the graph, and below it the longest period of a chart. */
const largest: Readonly<Record<string, unknown>> = {
  first: 100,
  last: 100,
  timeZone: "UTC",
};
const longestPeriod: Readonly<Record<string, string>> = { from: "2026-01-01", to: "2026-01-30" };

function largestVariables(document: DocumentNode): Record<string, unknown> {
  const operation = document.definitions.find(
    (definition): definition is OperationDefinitionNode => definition.kind === Kind.OPERATION_DEFINITION,
  );
  return Object.fromEntries(
    (operation?.variableDefinitions ?? []).map(({ variable: { name }, type }) => {
      const input = typeFromAST(published, type as never) as GraphQLInputType | undefined;
      const period = String(input).startsWith("DateTime") ? undefined : longestPeriod[name.value];
      return [name.value, largest[name.value] ?? period ?? (input === undefined ? null : valueOf(input))];
    }),
  );
}

function valueOf(type: GraphQLInputType): unknown {
  if (!isNonNullType(type)) return null;
  const inner = type.ofType;
  if (isListType(inner)) return [];
  if (isEnumType(inner)) return inner.getValues()[0]?.name;
  if (isInputObjectType(inner))
    return Object.fromEntries(
      Object.values(inner.getFields())
        .filter(isRequiredInputField)
        .map((field) => [field.name, valueOf(field.type)]),
    );
  return scalarValues[String(inner)] ?? "x";
}

const scalarValues: Readonly<Record<string, unknown>> = {
  Int: 1,
  Float: 1,
  Boolean: true,
  DateTime: "2026-01-01T00:00:00.000Z",
  Date: "2026-01-01",
  CountryCode: "DE",
};

function depthOf(text: string): number {
  let depth = 0;
  let most = 0;
  for (const [brace] of text.matchAll(/[{}]/g)) {
    depth += brace === "{" ? 1 : -1;
    most = Math.max(most, depth);
  }
  return most - 1;
}
