/**
 * Every place of the graph that takes an id, read from the schema, and a call with an id at that place. The
 * name of the place says what it identifies. The calls extend those of role-calls.ts.
 */
import {
  astFromValue,
  type FieldNode,
  getNamedType,
  getNullableType,
  type GraphQLField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isScalarType,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  valueFromAST,
} from "graphql";
import graph from "#graph/schema.ts";
import { roleCalls } from "./role-calls.ts";

export interface IdPlace {
  readonly field: string;
  /** The path of argument and input fields, joined by dots. */
  readonly path: string;
}

type Value = Record<string, unknown>;
type RootField = GraphQLField<unknown, unknown>;

const buyTwoGetOne = "kind: BUY_X_GET_Y, buyQuantity: 2, getQuantity: 1, basisPoints: 5000";
const exchange = "kind: EXCHANGE";
/**
 * Places that are read only in another kind of call than in role-calls.ts: the text to replace and its
 * replacement.
 */
const otherKinds: Readonly<Record<string, readonly [string, string]>> = {
  "promotionCreate.input.buyProductIds": ["kind: FREE_SHIPPING", buyTwoGetOne],
  "promotionCreate.input.buyCategoryIds": ["kind: FREE_SHIPPING", buyTwoGetOne],
  "returnRequest.input.exchangeVariantId": ["kind: RETURN_REFUND", exchange],
};

const queries = graph.getQueryType()?.getFields() ?? {};
const mutations = graph.getMutationType()?.getFields() ?? {};
const rootFields: Readonly<Record<string, RootField>> = { ...queries, ...mutations };

export const idPlaces: readonly IdPlace[] = Object.values(rootFields).flatMap(({ name: field, args }) =>
  args.flatMap((arg) => placesIn(arg.type, arg.name).map((path) => ({ field, path }))),
);

function placesIn(type: GraphQLInputType, path: string): string[] {
  const named = getNamedType(type);
  if (isScalarType(named)) return named.name === "ID" ? [path] : [];
  if (!isInputObjectType(named)) return [];
  return Object.values(named.getFields()).flatMap((field) => placesIn(field.type, `${path}.${field.name}`));
}

export const isQuery = ({ field }: IdPlace): boolean => field in queries;

export type IdFor = (place: IdPlace) => string;

/** Returns a document that calls the field with `idFor`'s ids at all places. */
export function callWith({ field, path }: IdPlace, idFor: IdFor): string {
  const root = rootFields[field];
  const call = callOf({ field, path });
  if (root === undefined) throw new Error(`There is no field ${field}.`);
  const args = root.args.flatMap((arg) => {
    const given = call.arguments?.find(({ name }) => name.value === arg.name);
    const isWanted = path === arg.name || path.startsWith(`${arg.name}.`);
    if (given === undefined && !isWanted) return [];
    const value = given === undefined ? undefined : valueFromAST(given.value, arg.type);
    const filled = fill(
      { type: arg.type, value, path: arg.name },
      { wanted: path, idFor: (at) => idFor({ field, path: at }) },
    );
    const node = astFromValue(filled, arg.type);
    return node === null || node === undefined ? [] : [`${arg.name}: ${print(node)}`];
  });
  const selection = call.selectionSet === undefined ? "" : ` ${print(call.selectionSet)}`;
  return `${field in mutations ? "mutation" : "query"} { ${field}(${args.join(", ")})${selection} }`;
}

function callOf({ field, path }: IdPlace): FieldNode {
  const [usual, wanted] = otherKinds[`${field}.${path}`] ?? ["", ""];
  const document = parse(`{ ${(roleCalls[field] ?? "").replace(usual, wanted)} }`);
  const [selection] = (document.definitions[0] as OperationDefinitionNode).selectionSet.selections;
  if (selection?.kind !== Kind.FIELD) throw new Error(`role-calls.ts has no call of ${field}.`);
  return selection;
}

interface At {
  readonly type: GraphQLInputType;
  readonly value: unknown;
  readonly path: string;
}

interface Filling {
  /** The path that must be present. */
  readonly wanted: string;
  readonly idFor: (path: string) => string;
}

/**
 * Returns the given value with its ids replaced. Adds the required fields and the path to the wanted place,
 * with minimal values.
 */
function fill({ type, value, path }: At, filling: Filling): unknown {
  const bare = getNullableType(type);
  if (isListType(bare)) {
    const items =
      Array.isArray(value) && value.length > 0
        ? (value as unknown[])
        : filling.wanted.startsWith(path)
          ? [undefined]
          : [];
    return items.map((item) => fill({ type: bare.ofType, value: item, path }, filling));
  }
  if (isInputObjectType(bare)) return fillObject(bare, { value: (value ?? {}) as Value, path }, filling);
  if (isScalarType(bare) && bare.name === "ID") return filling.idFor(path);
  return value ?? leastOf(bare);
}

function fillObject(
  type: GraphQLInputObjectType,
  { value, path }: { readonly value: Value; readonly path: string },
  filling: Filling,
): Value {
  const fields = Object.values(type.getFields()).flatMap((field): [string, unknown][] => {
    const at = `${path}.${field.name}`;
    const isWanted = filling.wanted === at || filling.wanted.startsWith(`${at}.`);
    const isNeeded = isNonNullType(field.type) && field.defaultValue === undefined;
    if (!(field.name in value) && !isWanted && !isNeeded) return [];
    return [[field.name, fill({ type: field.type, value: value[field.name], path: at }, filling)]];
  });
  return Object.fromEntries(fields);
}

function leastOf(type: GraphQLInputType): unknown {
  if (isEnumType(type)) return type.getValues()[0]?.value;
  const { name } = getNamedType(type);
  if (name === "Boolean") return false;
  return name === "Int" || name === "MinorUnits" ? 1 : "x";
}
