/**
 * Analysts see no personal data: every text field that their queries can reach is decided on, and withheld
 * fields are withheld from them.
 */
import {
  getNamedType,
  isAbstractType,
  isObjectType,
  isScalarType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLResolveInfo,
} from "graphql";
import { describe, expect, it } from "vitest";
import graph from "#graph/schema.ts";
import { decisions, withheldTypes } from "./personal-data-table.ts";
import { allowedRoles } from "./role-table.ts";

type Field = GraphQLField<unknown, unknown>;

/** Ids, times, numbers, country codes and currency codes identify no person. */
const speaking = new Set([
  "String",
  "EmailAddress",
  "PhoneNumber",
  "JSON",
  "StringMap",
  "AttributeValue",
  "URL",
  "SearchText",
]);
const isPaging = (name: string): boolean => /Edge$|Connection$/.test(name) || name === "PageInfo";

/** Every object type that an analyst's query or subscription can reach. */
function reachedTypes(): ReadonlyMap<string, readonly Field[]> {
  const reached = new Map<string, readonly Field[]>();
  const walk = (type: GraphQLNamedType): void => {
    if (isAbstractType(type)) for (const possible of graph.getPossibleTypes(type)) walk(possible);
    if (!isObjectType(type) || reached.has(type.name)) return;
    const fields = Object.values(type.getFields());
    reached.set(type.name, fields);
    for (const field of fields) walk(getNamedType(field.type));
  };
  const queries = Object.values(graph.getQueryType()?.getFields() ?? {}).filter(
    ({ name }) => allowedRoles[name]?.includes("analyst") !== false,
  );
  for (const field of [...queries, ...Object.values(graph.getSubscriptionType()?.getFields() ?? {})])
    walk(getNamedType(field.type));
  return reached;
}

const words = (text = ""): string[] => text.split(" ").filter((word) => word !== "");
const fieldOf = (type: string, name: string): Field => {
  const found = graph.getType(type);
  const field = isObjectType(found) ? found.getFields()[name] : undefined;
  if (field === undefined) throw new Error(`The graph has no ${type}.${name}.`);
  return field;
};

/** An object that returns a value for every property. */
const anyObject: unknown = new Proxy(() => undefined, {
  get: (_target, key) => (key === "then" || typeof key === "symbol" ? undefined : anyObject),
});

/** Resolves a field for an internal token of the role. */
async function ask(type: string, name: string, role: "analyst" | "admin"): Promise<unknown> {
  const context = { viewer: { kind: "internal", role, tokenId: "cit", merchantId: "mer" } };
  const info = { parentType: graph.getType(type), fieldName: name } as GraphQLResolveInfo;
  try {
    return await fieldOf(type, name).resolve?.(anyObject, {}, context, info);
  } catch (error) {
    return error;
  }
}

const withheld = [
  ...Object.entries(decisions).flatMap(([type, decision]) =>
    words(decision.withheld).map((name) => [type, name] as const),
  ),
  ...Object.values(withheldTypes).flatMap((places) =>
    places.map((place) => place.split(".") as [string, string]),
  ),
];

const sealed = new Set(["Order.buyerEmail", "Order.shippingAddress"]);

describe("personal data", () => {
  it("is decided for each text that analysts can reach: add new fields to personal-data-table.ts", () => {
    const texts = [...reachedTypes()].flatMap(([type, fields]) =>
      isPaging(type) || type in withheldTypes
        ? []
        : fields
            .filter(({ type: of }) => isScalarType(getNamedType(of)) && speaking.has(getNamedType(of).name))
            .map(({ name }) => `${type}.${name}`),
    );
    const decided = Object.entries(decisions).flatMap(([type, decision]) =>
      Object.values(decision).flatMap((names: string) => words(names).map((name) => `${type}.${name}`)),
    );
    expect(decided.toSorted()).toEqual(texts.toSorted());
  });

  it("in withheld types is reachable through no other field", () => {
    const ways = [...reachedTypes()].flatMap(([type, fields]) =>
      fields
        .filter(({ type: of }) => getNamedType(of).name in withheldTypes)
        .map(({ name }) => `${type}.${name}`),
    );
    expect(ways).toEqual(Object.values(withheldTypes).flat());
  });

  it.each(withheld)("%s.%s is shown to staff, not to analysts", async (type, name) => {
    const answer = await ask(type, name, "analyst");
    expect(
      answer === null || (answer instanceof Error && "code" in answer && answer.code === "role_not_allowed"),
      String(answer),
    ).toBe(true);
    // Sealed fields are decrypted from the database: order-recipient.test.ts checks that staff sees them.
    if (!sealed.has(`${type}.${name}`)) expect(await ask(type, name, "admin")).not.toBeNull();
  });

  it.each(["successUrl", "cancelUrl"])(
    "HostedCheckoutSession.%s is shown without query and fragment",
    (name) => {
      const { resolve } = fieldOf("HostedCheckoutSession", name);
      const shownTo = (role: string): unknown =>
        resolve?.(
          { [name]: "https://shop.example/done?buyer=anna@example.com#x", stored: {} },
          {},
          { viewer: { kind: "internal", role, merchantId: "mer" } },
          {} as GraphQLResolveInfo,
        );
      expect([shownTo("analyst"), shownTo("admin")]).toEqual([
        "https://shop.example/done",
        "https://shop.example/done?buyer=anna@example.com#x",
      ]);
    },
  );
});
