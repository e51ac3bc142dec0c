/**
 * The same graph with every enum spelled by its value (`in_stock` instead of `IN_STOCK`), which is how REST reads and writes it, and with scalars that
 * are sent as they are given out as plain strings. Documents are compiled on this one, so that spelling and looking at each value cost nothing per request.
 */
import { MapperKind, mapSchema } from "@graphql-tools/utils";
import {
  type DocumentNode,
  getNamedType,
  type GraphQLArgument,
  GraphQLEnumType,
  type GraphQLField,
  type GraphQLFieldConfig,
  type GraphQLInputField,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLOutputType,
  type GraphQLScalarType,
  type GraphQLSchema,
  GraphQLString,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
  Kind,
  visit,
} from "graphql";

/** Values that GraphQL could not spell as a name keep the one they have: no document of REST selects such an enum. */
const enumName = /^[_a-z][_a-z0-9]*$/;

/** `declared` leaves are for who executes documents without compiling them. */
export function respelledSchema(schema: GraphQLSchema, leaves: "plain" | "declared" = "plain"): GraphQLSchema {
  const respelled = mapSchema(schema, {
    [MapperKind.ENUM_TYPE]: (type) => {
      const config = type.toConfig();
      const values = Object.values(config.values);
      if (!values.every(({ value }) => typeof value === "string" && enumName.test(value))) return type;
      return new GraphQLEnumType({ ...config, values: Object.fromEntries(values.map((value) => [value.value, value])) });
    },
    ...(leaves === "plain" ? { [MapperKind.COMPOSITE_FIELD]: withPlainLeaf } : {}),
  });
  restoreDefaults(schema, respelled);
  return respelled;
}

/** A compiled document looks at each value of a scalar that is not GraphQL's own, and makes something for each look. Which scalar it was is kept. */
function withPlainLeaf<Field extends Pick<GraphQLFieldConfig<unknown, unknown>, "type" | "extensions">>(field: Field): Field | undefined {
  const scalar = getNamedType(field.type);
  if (!isScalarType(scalar) || scalar.extensions["isSentAsIs"] !== true) return undefined;
  return { ...field, type: withLeaf(field.type, GraphQLString), extensions: { ...field.extensions, scalar } };
}

/** What a field of the respelled graph gives, by the name it has in the graph. */
export function declaredType({ type, extensions }: Pick<GraphQLField<unknown, unknown>, "type" | "extensions">): GraphQLOutputType {
  const { scalar } = extensions as { readonly scalar?: GraphQLScalarType };
  return scalar === undefined ? type : withLeaf(type, scalar);
}

function withLeaf(type: GraphQLOutputType, leaf: GraphQLScalarType): GraphQLOutputType {
  if (isNonNullType(type)) return new GraphQLNonNull(withLeaf(type.ofType, leaf));
  return isListType(type) ? new GraphQLList(withLeaf(type.ofType, leaf)) : leaf;
}

/** mapSchema writes enum defaults as the names they had: put the values back. */
function restoreDefaults(from: GraphQLSchema, to: GraphQLSchema): void {
  for (const [name, type] of Object.entries(from.getTypeMap())) {
    const twin = to.getType(name);
    if (isInputObjectType(type) && isInputObjectType(twin)) restoreEach(Object.values(type.getFields()), Object.values(twin.getFields()));
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    if (!isObjectType(twin) && !isInterfaceType(twin)) continue;
    for (const field of Object.values(twin.getFields())) restoreEach(type.getFields()[field.name]?.args ?? [], field.args);
  }
}

type Defaulted = GraphQLArgument | GraphQLInputField;

function restoreEach(from: readonly Defaulted[], to: readonly Defaulted[]): void {
  for (const twin of to) twin.defaultValue = from.find(({ name }) => name === twin.name)?.defaultValue;
}

/** Enum values written in a document follow; directives keep theirs. */
export function respelledDocument(document: DocumentNode): DocumentNode {
  return visit(document, {
    [Kind.DIRECTIVE]: () => false,
    [Kind.ENUM]: (node) => ({ ...node, value: node.value.toLowerCase() }),
  });
}
