/**
 * The schema as a map: every type with its parts, the types that they lead to, what leads to it, and the area
 * that it belongs to.
 */
import {
  unwrappedTypeName,
  formatTypeReference,
  type IntrospectedField,
  type IntrospectedInput,
  type IntrospectedSchema,
  type IntrospectedType,
} from "./introspection.ts";

export const typeKinds = ["object", "interface", "union", "input", "enum", "scalar"] as const;
export type TypeKind = (typeof typeKinds)[number];

/** What leads to a type: a part of another, or an argument of it. */
export interface TypeReference {
  readonly from: string;
  readonly part: string;
}

export interface MapType {
  readonly name: string;
  readonly kind: TypeKind;
  readonly description: string;
  readonly area: string;
  readonly parts: readonly TypePart[];
  readonly ways: readonly TypeReference[];
  /** Types that it is a kind of, or that are kinds of it. */
  readonly relatives: readonly string[];
}

export type TypeMap = ReadonlyMap<string, MapType>;

export function createTypeMap(schema: IntrospectedSchema): TypeMap {
  const told = schema.types.filter(({ name }) => !name.startsWith("__"));
  const pageContents = new Map(told.flatMap((type) => contentsOf(type, told)));
  const parts = new Map(told.map((type) => [type.name, partsOf(type, pageContents)]));
  const ways = waysIn(parts);
  const areas = areasOf(parts);
  return new Map(
    told
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
      .map((type) => [
        type.name,
        {
          name: type.name,
          kind: kindOf(type),
          description: type.description ?? "",
          area: areas.get(type.name) ?? "",
          parts: parts.get(type.name) ?? [],
          ways: ways.get(type.name) ?? [],
          relatives: [...(type.interfaces ?? []), ...(type.possibleTypes ?? [])].map(({ name }) => name),
        },
      ]),
  );
}

/** What the pages of a list hold: `OrderConnection` leads to what its edges' nodes are. */
function contentsOf(
  { name, fields }: IntrospectedType,
  told: readonly IntrospectedType[],
): readonly (readonly [string, string])[] {
  const edges = name.endsWith("Connection") ? fields?.find((field) => field.name === "edges") : undefined;
  const edge = told.find((type) => edges !== undefined && type.name === unwrappedTypeName(edges.type));
  const node = edge?.fields?.find((field) => field.name === "node");
  return node === undefined ? [] : [[name, unwrappedTypeName(node.type)]];
}

const toArgument = (input: IntrospectedInput): FieldArgument => ({
  name: input.name,
  type: formatTypeReference(input.type),
  description: input.description ?? "",
  defaultValue: input.defaultValue,
  leadsTo: unwrappedTypeName(input.type),
});

function partsOf(type: IntrospectedType, contents: ReadonlyMap<string, string>): readonly TypePart[] {
  const toPart = ({
    name,
    description,
    type: of,
    ...rest
  }: IntrospectedInput | IntrospectedField): TypePart => {
    const direct = unwrappedTypeName(of);
    const args = "args" in rest ? rest.args.map(toArgument) : [];
    const deprecation = "deprecationReason" in rest ? rest.deprecationReason : null;
    return {
      name,
      description: description ?? "",
      deprecation,
      type: formatTypeReference(of),
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

function waysIn(
  parts: ReadonlyMap<string, readonly TypePart[]>,
): ReadonlyMap<string, readonly TypeReference[]> {
  const ways = new Map<string, TypeReference[]>();
  const add = (to: string, way: TypeReference): void => void (ways.get(to)?.push(way) ?? ways.set(to, [way]));
  for (const [from, held] of parts) {
    for (const { name, leadsTo, args } of held) {
      if (leadsTo !== null) add(leadsTo, { from, part: name });
      for (const argument of args) add(argument.leadsTo, { from, part: `${name}(${argument.name})` });
    }
  }
  return ways;
}

const kindNames: Readonly<Record<string, TypeKind>> = {
  OBJECT: "object",
  INTERFACE: "interface",
  UNION: "union",
  INPUT_OBJECT: "input",
  ENUM: "enum",
};
const kindOf = ({ kind }: IntrospectedType): TypeKind => kindNames[kind] ?? "scalar";

/** Pages of lists stand between what leads to a list and what is in it: the map looks through them. */
export const isPaginationType = ({ name }: Pick<MapType, "name">): boolean =>
  /(?:Connection|Edge)$/.test(name) || name === "PageInfo";

/** Where the graph begins. */
export const rootTypeNames: readonly string[] = ["Query", "Mutation", "Subscription"];

/** What a type consists of, and where each leads. */
export interface FieldArgument {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  readonly defaultValue: string | null;
  readonly leadsTo: string;
}

/** A field, a field of an input, a value of an enum. */
export interface TypePart {
  readonly name: string;
  readonly description: string;
  readonly deprecation: string | null;
  /** As GraphQL writes it; null: the value of an enum. */
  readonly type: string | null;
  /** The type that it leads to: of a list in pages, what is in it. */
  readonly leadsTo: string | null;
  readonly args: readonly FieldArgument[];
}

/**
 * Which area of the service a type belongs to. Its name says it mostly (`OrderLine`); what has no such name
 * lies where most of what leads to it lies, and what several areas lead to is shared. So a new type finds its
 * place by itself.
 */
export const sharedArea = "Shared";

/** In the order in which they are tried: the narrower name first. */
const namesOfAreas: readonly (readonly [string, RegExp])[] = [
  ["Analytics", /Report|Interval$|Funnel/],
  ["Webhooks", /^(?:Webhook|PublicWebhook|Event|Signature|Payload)/],
  ["After-sales", /^(?:Return|Warranty|AfterSales|Exchange)/],
  ["Promotions", /^(?:Promotion|Automatic|ReplacedPromotion|Discount)/],
  ["Checkout", /^(?:HostedCheckout|Checkout)/],
  ["Carts", /^(?:Cart|PublicCart|SavedAddress|Address|Serviceability)/],
  ["Orders", /^(?:Order|Fulfillment|Payment|Refund|Cancellation|Dispute)/],
  ["Inventory", /^(?:Stock|Availability|Restock|Reservation)/],
  ["Markets", /^(?:Market|TaxRate|DeliveryMethod|DeliveryOption|Policy|Policies)/],
  [
    "Catalog",
    /^(?:Product|PublicProduct|Variant|Category|Media|Price|Image|Option|Attribute|Search|Facet|Import|Catalog|Restriction|Rating|Localized)/,
  ],
  [
    "Identity",
    /^(?:Viewer|ApiKey|ApiInfo|App|Installation|InternalToken|OAuth|Staff|Audit|Merchant|Role|Scope|Credential|Mode|RateLimit|Readiness)/,
  ],
];

/** As the overview has them. */
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
  sharedArea,
];

type Parts = ReadonlyMap<string, readonly TypePart[]>;

function areasOf(parts: Parts): ReadonlyMap<string, string> {
  const areas = new Map([...parts.keys()].flatMap((name) => namedArea(name)));
  // As often as something new was placed: inputs of inputs take a turn each.
  for (let placed = -1; placed !== areas.size;) {
    placed = areas.size;
    for (const [name, area] of reached(parts, areas)) areas.set(name, area);
  }
  return new Map([...parts.keys()].map((name) => [name, areas.get(name) ?? sharedArea]));
}

function namedArea(name: string): readonly (readonly [string, string])[] {
  const found = namesOfAreas.find(([, pattern]) => pattern.test(name));
  return found === undefined ? [] : [[name, found[0]]];
}

/** The types without an area that are led to from one area alone. */
function reached(parts: Parts, areas: ReadonlyMap<string, string>): readonly (readonly [string, string])[] {
  const from = new Map<string, Set<string>>();
  for (const [name, held] of parts) {
    const area = areas.get(name);
    if (area === undefined) continue;
    for (const target of held.flatMap(({ leadsTo, args }) =>
      [leadsTo].concat(args.map((argument) => argument.leadsTo)),
    )) {
      if (target === null || !parts.has(target) || areas.has(target)) continue;
      from.set(target, (from.get(target) ?? new Set()).add(area));
    }
  }
  return [...from].flatMap(([target, found]) =>
    found.size === 1 ? [[target, [...found][0] ?? sharedArea] as const] : [],
  );
}

/** A root field lies where what it answers lies, or else where its name says: `orders`, `orderCancel`. */
export function areaOfRootField(
  { name, leadsTo }: Pick<TypePart, "name" | "leadsTo">,
  areaOf: (type: string) => string | undefined,
): string {
  const named = namedArea(`${name.charAt(0).toUpperCase()}${name.slice(1)}`)[0]?.[1];
  return named ?? areaOf(leadsTo ?? "") ?? sharedArea;
}
