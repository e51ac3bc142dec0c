/** The schema as a map: every type with its parts, what they lead to, what leads to it, and the area it lies in. */
import { areasOf } from "./areas.ts";
import type { Argument, Part } from "./parts.ts";
import { innermost, spell, type ToldField, type ToldInput, type ToldSchema, type ToldType } from "./introspection.ts";

export const kinds = ["object", "interface", "union", "input", "enum", "scalar"] as const;
export type Kind = (typeof kinds)[number];

/** What leads to a type: a part of another, or an argument of it. */
export interface Way {
  readonly from: string;
  readonly part: string;
}

export interface MapType {
  readonly name: string;
  readonly kind: Kind;
  readonly description: string;
  readonly area: string;
  readonly parts: readonly Part[];
  readonly ways: readonly Way[];
  /** Types that it is a kind of, or that are kinds of it. */
  readonly relatives: readonly string[];
}

export type TypeMap = ReadonlyMap<string, MapType>;

export function createTypeMap(schema: ToldSchema): TypeMap {
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
function contentsOf({ name, fields }: ToldType, told: readonly ToldType[]): readonly (readonly [string, string])[] {
  const edges = name.endsWith("Connection") ? fields?.find((field) => field.name === "edges") : undefined;
  const edge = told.find((type) => edges !== undefined && type.name === innermost(edges.type));
  const node = edge?.fields?.find((field) => field.name === "node");
  return node === undefined ? [] : [[name, innermost(node.type)]];
}

const toArgument = (input: ToldInput): Argument => ({
  name: input.name,
  type: spell(input.type),
  description: input.description ?? "",
  defaultValue: input.defaultValue,
  leadsTo: innermost(input.type),
});

function partsOf(type: ToldType, contents: ReadonlyMap<string, string>): readonly Part[] {
  const toPart = ({ name, description, type: of, ...rest }: ToldInput | ToldField): Part => {
    const direct = innermost(of);
    const args = "args" in rest ? rest.args.map(toArgument) : [];
    const deprecation = "deprecationReason" in rest ? rest.deprecationReason : null;
    return { name, description: description ?? "", deprecation, type: spell(of), leadsTo: contents.get(direct) ?? direct, args };
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

function waysIn(parts: ReadonlyMap<string, readonly Part[]>): ReadonlyMap<string, readonly Way[]> {
  const ways = new Map<string, Way[]>();
  const add = (to: string, way: Way): void => void (ways.get(to)?.push(way) ?? ways.set(to, [way]));
  for (const [from, held] of parts) {
    for (const { name, leadsTo, args } of held) {
      if (leadsTo !== null) add(leadsTo, { from, part: name });
      for (const argument of args) add(argument.leadsTo, { from, part: `${name}(${argument.name})` });
    }
  }
  return ways;
}

const kindNames: Readonly<Record<string, Kind>> = { OBJECT: "object", INTERFACE: "interface", UNION: "union", INPUT_OBJECT: "input", ENUM: "enum" };
const kindOf = ({ kind }: ToldType): Kind => kindNames[kind] ?? "scalar";

/** Pages of lists stand between what leads to a list and what is in it: the map looks through them. */
export const isPaging = ({ name }: Pick<MapType, "name">): boolean => /(?:Connection|Edge)$/.test(name) || name === "PageInfo";

/** Where the graph begins. */
export const rootNames: readonly string[] = ["Query", "Mutation", "Subscription"];
