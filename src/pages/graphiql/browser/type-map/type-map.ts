/**
 * Builds the data of the type map (a picture of the schema). For each type, the data contains the fields or
 * values, the types to which they refer, and the references to the type. It also contains the type's area,
 * the group to which the type belongs.
 */
import {
  getUnwrappedGraphqlTypeName,
  formatGraphqlTypeReference,
  type IntrospectedField,
  type IntrospectedInputValue,
  type IntrospectedSchema,
  type IntrospectedType,
} from "./introspection.ts";

export const typeKinds = ["object", "interface", "union", "input", "enum", "scalar"] as const;
export type GraphqlTypeKind = (typeof typeKinds)[number];

/** A reference to a type, from a field of another type or from a field's argument. */
export interface ReferenceToGraphqlType {
  readonly from: string;
  readonly part: string;
}

export interface GraphqlTypeMapEntry {
  readonly name: string;
  readonly kind: GraphqlTypeKind;
  readonly description: string;
  readonly area: string;
  readonly parts: readonly GraphqlTypeMember[];
  readonly references: readonly ReferenceToGraphqlType[];
  /**
   * The types that are related to the type: the interfaces of an object type, the implementing types of an
   * interface, or the member types of a union.
   */
  readonly relatives: readonly string[];
}

export type TypeMap = ReadonlyMap<string, GraphqlTypeMapEntry>;

export function createGraphqlTypeMap(schema: IntrospectedSchema): TypeMap {
  const publicTypes = schema.types.filter(({ name }) => !name.startsWith("__"));
  const pageContents = new Map(publicTypes.flatMap((type) => connectionContents(type, publicTypes)));
  const parts = new Map(publicTypes.map((type) => [type.name, listParts(type, pageContents)]));
  const references = referencesByType(parts);
  const areas = findAreas(parts);
  return new Map(
    publicTypes
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
      .map((type) => [
        type.name,
        {
          name: type.name,
          kind: kindOf(type),
          description: type.description ?? "",
          area: areas.get(type.name) ?? "",
          parts: parts.get(type.name) ?? [],
          references: references.get(type.name) ?? [],
          relatives: [...(type.interfaces ?? []), ...(type.possibleTypes ?? [])].map(({ name }) => name),
        },
      ]),
  );
}

/** Returns for each connection type the type of its items, for example `Order` for `OrderConnection`. */
function connectionContents(
  { name, fields }: IntrospectedType,
  publicTypes: readonly IntrospectedType[],
): readonly (readonly [string, string])[] {
  const edges = name.endsWith("Connection") ? fields?.find((field) => field.name === "edges") : undefined;
  const edge = publicTypes.find(
    (type) => edges !== undefined && type.name === getUnwrappedGraphqlTypeName(edges.type),
  );
  const node = edge?.fields?.find((field) => field.name === "node");
  return node === undefined ? [] : [[name, getUnwrappedGraphqlTypeName(node.type)]];
}

const toArgument = (input: IntrospectedInputValue): GraphqlFieldArgument => ({
  name: input.name,
  type: formatGraphqlTypeReference(input.type),
  description: input.description ?? "",
  defaultValue: input.defaultValue,
  leadsTo: getUnwrappedGraphqlTypeName(input.type),
});

function listParts(
  type: IntrospectedType,
  contents: ReadonlyMap<string, string>,
): readonly GraphqlTypeMember[] {
  const toPart = ({
    name,
    description,
    type: of,
    ...rest
  }: IntrospectedInputValue | IntrospectedField): GraphqlTypeMember => {
    const direct = getUnwrappedGraphqlTypeName(of);
    const args = "args" in rest ? rest.args.map(toArgument) : [];
    const deprecation = "deprecationReason" in rest ? rest.deprecationReason : null;
    return {
      name,
      description: description ?? "",
      deprecation,
      type: formatGraphqlTypeReference(of),
      leadsTo: contents.get(direct) ?? direct,
      args,
    };
  };
  return [
    ...(type.fields ?? []).map(toPart),
    ...(type.inputFields ?? []).map(toPart),
    ...(type.enumValues ?? []).map(({ name, description, deprecationReason }) => ({
      name,
      description: description ?? "",
      deprecation: deprecationReason,
      type: null,
      leadsTo: null,
      args: [],
    })),
  ];
}

function referencesByType(
  parts: ReadonlyMap<string, readonly GraphqlTypeMember[]>,
): ReadonlyMap<string, readonly ReferenceToGraphqlType[]> {
  const references = new Map<string, ReferenceToGraphqlType[]>();
  const add = (to: string, reference: ReferenceToGraphqlType): void =>
    void (references.get(to)?.push(reference) ?? references.set(to, [reference]));
  for (const [from, typeParts] of parts) {
    for (const { name, leadsTo, args } of typeParts) {
      if (leadsTo !== null) add(leadsTo, { from, part: name });
      for (const argument of args) add(argument.leadsTo, { from, part: `${name}(${argument.name})` });
    }
  }
  return references;
}

const kindNames: Readonly<Record<string, GraphqlTypeKind>> = {
  OBJECT: "object",
  INTERFACE: "interface",
  UNION: "union",
  INPUT_OBJECT: "input",
  ENUM: "enum",
};
const kindOf = ({ kind }: IntrospectedType): GraphqlTypeKind => kindNames[kind] ?? "scalar";

/**
 * Returns true for types that exist only to read lists in parts (connection, edge and page-info types). The
 * type map does not show these types; it shows the type of the list's items instead.
 */
export const isPaginationType = ({ name }: Pick<GraphqlTypeMapEntry, "name">): boolean =>
  /(?:Connection|Edge)$/.test(name) || name === "PageInfo";

/** The names of the root types of the GraphQL schema. */
export const rootTypeNames: readonly string[] = ["Query", "Mutation", "Subscription"];

/** An argument of a GraphQL field. */
export interface GraphqlFieldArgument {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  readonly defaultValue: string | null;
  readonly leadsTo: string;
}

/** A part of a GraphQL type: a field, an input field or an enum value. */
export interface GraphqlTypeMember {
  readonly name: string;
  readonly description: string;
  readonly deprecation: string | null;
  /** The type of the field as GraphQL writes it, for example `[Order!]!`; null for an enum value. */
  readonly type: string | null;
  /**
   * The name of the type to which the field refers; for a connection (a list with cursors), the type of its
   * items. Null for an enum value.
   */
  readonly leadsTo: string | null;
  readonly args: readonly GraphqlFieldArgument[];
}

/**
 * The name of the area for types that belong to no other area. An area is a group of types in the type map,
 * for example Orders. The name of a type determines its area; otherwise, the type belongs to the only area
 * whose types refer to it.
 */
export const nameOfSharedArea = "Shared";

/**
 * The areas (groups of types in the type map), each with a pattern for the names of its types. A type belongs
 * to the first area whose pattern matches, so narrower patterns come first.
 */
const areaPatterns: readonly (readonly [string, RegExp])[] = [
  ["Analytics", /Report|Interval$|Funnel/],
  ["Webhooks", /^(?:Webhook|PublicWebhook|Event|Signature|Payload)/],
  ["After-sales", /^(?:Return|Warranty|AfterSales|Exchange)/],
  ["Promotions", /^(?:Promotion|Automatic|ReplacedPromotion|Discount)/],
  ["Checkout", /^(?:HostedCheckout|Checkout)/],
  ["Carts", /^(?:Cart|PublicCart|SavedAddress|Address|Serviceability)/],
  ["Orders", /^(?:Order|Fulfillment|Payment|Refund|Cancellation|Dispute)/],
  ["Inventory", /^(?:Stock|Availability|Restock|Reservation)/],
  ["Markets", /^(?:Market|TaxRate|DeliveryMethod|DeliveryOption|Policy|Policies)/],
  ["Catalog", /^(?:Product|PublicProduct|Variant|Category|Media|Price|Image|Option|Attribute)/],
  ["Catalog", /^(?:Search|Facet|Import|Catalog|Restriction|Rating|Localized)/],
  ["Identity", /^(?:Viewer|ApiKey|ApiInfo|App|Installation|InternalToken|OAuth|Staff|Audit)/],
  ["Identity", /^(?:Merchant|Role|Scope|Credential|Mode|RateLimit|Readiness)/],
];

/** The names of the areas (groups of types), in the order of the type map's overview. */
export const areaNames: readonly string[] = [
  "Identity",
  "Catalog",
  "Markets",
  "Inventory",
  "Promotions",
  "Carts",
  "Checkout",
  "Orders",
  "After-sales",
  "Webhooks",
  "Analytics",
  nameOfSharedArea,
];

type Parts = ReadonlyMap<string, readonly GraphqlTypeMember[]>;

function findAreas(parts: Parts): ReadonlyMap<string, string> {
  const areas = new Map([...parts.keys()].flatMap((name) => namedArea(name)));
  // The assignment of types to areas is repeated until no type gets a new area. An input type inside another
  // input type gets its area only after the outer one.
  for (let areaCount = -1; areaCount !== areas.size;) {
    areaCount = areas.size;
    for (const [name, area] of typesReachedFromOneArea(parts, areas)) areas.set(name, area);
  }
  return new Map([...parts.keys()].map((name) => [name, areas.get(name) ?? nameOfSharedArea]));
}

function namedArea(name: string): readonly (readonly [string, string])[] {
  const found = areaPatterns.find(([, pattern]) => pattern.test(name));
  return found === undefined ? [] : [[name, found[0]]];
}

/** Finds the types without an area to which types of exactly one area refer. */
function typesReachedFromOneArea(
  parts: Parts,
  areas: ReadonlyMap<string, string>,
): readonly (readonly [string, string])[] {
  const from = new Map<string, Set<string>>();
  for (const [name, typeParts] of parts) {
    const area = areas.get(name);
    if (area === undefined) continue;
    for (const target of typeParts.flatMap(({ leadsTo, args }) =>
      [leadsTo].concat(args.map((argument) => argument.leadsTo)),
    )) {
      if (target === null || !parts.has(target) || areas.has(target)) continue;
      from.set(target, (from.get(target) ?? new Set()).add(area));
    }
  }
  return [...from].flatMap(([target, found]) =>
    found.size === 1 ? [[target, [...found][0] ?? nameOfSharedArea] as const] : [],
  );
}

/**
 * Returns the area of a query, mutation or subscription. Its name determines the area (`orders`,
 * `orderCancel`), otherwise the area is that of its result type.
 */
export function getSubjectAreaOfRootField(
  { name, leadsTo }: Pick<GraphqlTypeMember, "name" | "leadsTo">,
  areaOf: (type: string) => string | undefined,
): string {
  const named = namedArea(`${name.charAt(0).toUpperCase()}${name.slice(1)}`)[0]?.[1];
  return named ?? areaOf(leadsTo ?? "") ?? nameOfSharedArea;
}
