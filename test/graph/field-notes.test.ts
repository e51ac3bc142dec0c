/**
 * The directives `@access` and `@cost`, and the same facts in the descriptions: they agree with the costs and
 * the access checks of the service, and everyone can read them.
 */
import { complexityFromQuery } from "@pothos/plugin-complexity";
import {
  buildSchema,
  type GraphQLField,
  GraphQLObjectType,
  GraphQLSchema,
  type GraphQLType,
  getDirectiveValues,
  getNamedType,
  isEnumType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from "graphql";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  defineGraphqlFieldCostByArguments,
  describeGraphqlFieldCost,
  getGraphqlFieldCost,
} from "#graph/field-costs.ts";
import { getFieldDescriptionWithoutNotes } from "#graph/field-notes.ts";
import graph from "#graph/schema.ts";
import { useWorld } from "#test/support/use-world.ts";
import { allowedRoles, type Role } from "./role-table.ts";

type Field = GraphQLField<unknown, unknown>;

const sdl = buildSchema(readFileSync(new URL("../../schema/schema.graphql", import.meta.url), "utf8"));

function fieldsOf(schema: GraphQLSchema): { type: GraphQLType; name: string; field: Field }[] {
  return Object.values(schema.getTypeMap()).flatMap((type) =>
    (isObjectType(type) || isInterfaceType(type)) && !type.name.startsWith("__")
      ? Object.values(type.getFields()).map((field) => ({ type, name: `${type.name}.${field.name}`, field }))
      : [],
  );
}

const fields = fieldsOf(graph);
const printed = new Map(fieldsOf(sdl).map(({ name, field }) => [name, field]));

/** The arguments of a directive of a field in schema.graphql; undefined without the directive. */
function directiveOf(name: string, directive: "access" | "cost"): Record<string, unknown> | undefined {
  const definition = sdl.getDirective(directive);
  const node = printed.get(name)?.astNode;
  if (!definition || !node) throw new Error(`schema.graphql has no field ${name}, or no @${directive}.`);
  return getDirectiveValues(definition, node);
}

/** A literal for an argument that a field requires. */
function literalOf(type: GraphQLType): string {
  const named = getNamedType(type);
  if (isEnumType(named)) return named.getValues()[0]?.name ?? "";
  const literals: Record<string, string> = { Int: "60", Date: '"2026-01-31"', CountryCode: '"SE"' };
  return literals[named.name] ?? '"sv"';
}

/** The cost of a field as the service computes it: for the field itself, and for each field below it. */
function measure(type: GraphQLType, field: Field, values: Readonly<Record<string, string>>): number[] {
  const named = getNamedType(type);
  if (!isObjectType(named) && !isInterfaceType(named)) throw new Error(`${named.name} has no fields.`);
  const schema = new GraphQLSchema({
    query: new GraphQLObjectType({ name: "Holder", fields: { holder: { type: named } } }),
    assumeValid: true,
  });
  const all = field.args.flatMap((argument) => {
    const literal = values[argument.name] ?? (isRequiredArgument(argument) ? literalOf(argument.type) : "");
    return literal === "" ? [] : [`${argument.name}: ${literal}`];
  });
  const costOf = (below: string): number => {
    const text = `{ holder { ${field.name}${all.length === 0 ? "" : `(${all.join(", ")})`} ${below} } }`;
    return complexityFromQuery(text, { schema }).complexity - 1;
  };
  if (isLeafType(getNamedType(field.type))) return [costOf(""), 1];
  const each = costOf("{ a: __typename b: __typename }") - costOf("{ a: __typename }");
  return [costOf("{ a: __typename }") - each, each];
}

describe("@cost", () => {
  it("agrees with the cost of every field that the service computes", () => {
    const wrong = fields.flatMap(({ type, name, field }) => {
      const { points = 1, multiplier = 1 } = directiveOf(name, "cost") ?? {};
      if (multiplier === null) return [];
      const measured = measure(type, field, {});
      return String(measured) === String([points, multiplier]) ? [] : [`${name}: ${measured.join(", ")}`];
    });
    expect(wrong).toEqual([]);
  });

  it("names the arguments that set the factor", () => {
    const sized = fields.filter(({ name }) => directiveOf(name, "cost")?.["sizedBy"]?.toString());
    expect(sized.length).toBeGreaterThan(35);
    for (const { type, name, field } of sized) {
      const sizedBy = directiveOf(name, "cost")?.["sizedBy"];
      if (!Array.isArray(sizedBy) || sizedBy.includes("from") || sizedBy.includes("pageSize")) continue;
      // The cost of this list counts a hundredth of its argument.
      if (name === "SalesReport.taxes") continue;
      for (const argument of sizedBy)
        expect(measure(type, field, { [String(argument)]: "7" })[1], `${name}(${argument})`).toBe(7);
    }
  });

  it("says the rule of a factor that is not the number of an argument", () => {
    const rules = fields.filter(({ name }) => directiveOf(name, "cost")?.["multiplier"] === null);
    expect(rules.map(({ name }) => name).toSorted()).toEqual([
      "Query.funnelReport",
      "Query.productSearch",
      "Query.salesReport",
      "Query.webhookHealthReport",
    ]);
    const factors = rules.map(({ type, field }) =>
      [
        { from: '"2026-01-01"', to: '"2026-01-10"', interval: "DAY", pageSize: "60" },
        { from: '"2026-01-01"', to: '"2026-01-28"', interval: "WEEK", pageSize: "10" },
      ].map((values) => measure(type, field, values)[1]),
    );
    expect(Object.fromEntries(rules.map(({ field }, index) => [field.name, factors[index]]))).toEqual({
      funnelReport: [11, 5],
      productSearch: [3, 1],
      salesReport: [11, 5],
      webhookHealthReport: [11, 5],
    });
    for (const { field } of rules)
      expect(field.description).toMatch(
        field.name === "productSearch"
          ? / times `pageSize` \/ 20, at least 1\.$/
          : / times one more than the number of buckets of the period\.$/,
      );
  });

  it("is refused for a cost function without a description", () => {
    const orders = fields.find(({ name }) => name === "Query.orders");
    const bare = { ...(orders as { field: Field }).field, extensions: { complexity: () => ({ field: 2 }) } };
    expect(() => getGraphqlFieldCost(bare)).toThrow("define it with defineGraphqlFieldCostByArguments");
    const sized = defineGraphqlFieldCostByArguments({ sizedBy: ["first"], factor: "`first`" }, () => ({
      field: 2,
      multiplier: 3,
    }));
    expect(
      describeGraphqlFieldCost(getGraphqlFieldCost({ ...bare, extensions: { complexity: sized } })),
    ).toBe("Cost: 2 points, plus the cost of the selected fields times `first` (by default 3).");
  });
});

describe("@access", () => {
  /** Storefronts may read these lists for the buyer of a request only; the role table has no buyer. */
  const withBuyer = new Set(["carts", "orders"]);
  const roots = fields.filter(({ name }) => /^(?:Query|Mutation)\./.test(name));

  it("names the roles of every query and mutation that the role table has", () => {
    for (const { name, field } of roots) {
      const roles: unknown = directiveOf(name, "access")?.["roles"];
      const listed = Array.isArray(roles) ? roles.map((role) => String(role).toLowerCase()) : [];
      const expected: readonly Role[] = allowedRoles[field.name] ?? [];
      const extra = withBuyer.has(field.name) ? ["storefront"] : [];
      expect(listed.toSorted(), name).toEqual([...expected, ...extra].toSorted());
    }
  });
});

describe("the notes of a field", () => {
  const world = useWorld();

  it("are in the description that introspection returns, and in its directives", async () => {
    const { body } = await world().graphql(
      `{ query: __type(name: "Query") { fields { name description } }
        mutation: __type(name: "Mutation") { fields { name description } }
        schema: __schema { directives { name description locations } } }`,
      { token: "storefront" },
    );
    const text = (fieldList: { name: string; description: string }[], name: string): string =>
      fieldList.find((field) => field.name === name)?.description ?? "";
    expect(text(body.data.query.fields, "orders")).toMatch(
      / Roles: STOREFRONT, ADMIN, ANALYST, OPERATOR\. Cost: 1 point, plus the cost of the selected fields times `first` or `last` \(by default 20\)\.$/,
    );
    expect(text(body.data.mutation.fields, "orderHold")).toMatch(
      / Roles: ADMIN, OPERATOR\. Cost: 100 points, plus the cost of the selected fields\. Error codes: `order_not_found`, `version_conflict`, `invalid_state`, `missing_field`, `merchant_not_found`\.$/,
    );
    expect(body.data.schema.directives).toEqual(
      expect.arrayContaining([
        { name: "access", description: expect.any(String), locations: ["FIELD_DEFINITION"] },
        { name: "cost", description: expect.any(String), locations: ["FIELD_DEFINITION"] },
      ]),
    );
  });

  it("give the cost that docs/guides/graphql.md computes from them", async () => {
    const { body } = await world().graphql("{ orders(first: 50) { edges { node { id number } } } }");
    expect(body.extensions.cost.requested).toBe(601);
  });

  it("are the same in schema.graphql and in the schema that the service runs", () => {
    for (const { name, field } of fields) {
      expect(printed.get(name)?.description, name).toBe(field.description);
      const { access, cost } = field.extensions.directives ?? {};
      const roles = directiveOf(name, "access")?.["roles"];
      expect(roles === undefined, name).toBe(access === undefined);
      expect(directiveOf(name, "cost") === undefined, name).toBe(cost === undefined);
    }
  });

  it("are left out of the descriptions of the REST API", async () => {
    const { text } = await world().get("/openapi.json");
    expect(text).toContain("The categories of the product, the main category first.");
    expect(text).not.toMatch(/ (?:Roles|Cost|Error codes): /);
    for (const { name, field } of fields)
      expect(field.description?.startsWith(getFieldDescriptionWithoutNotes(field) ?? ""), name).toBe(true);
  });
});
