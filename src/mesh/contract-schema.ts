/**
 * The graph in the spelling of the REST contract: enum values in lower snake case (`in_stock` instead of
 * `IN_STOCK`), and scalars that need no conversion as plain strings. The service's own documents are compiled on
 * this schema, so the spelling costs nothing per request.
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
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from "graphql";

/** An enum with a value that is no GraphQL name keeps its upper-case names. No REST document selects such an enum. */
const enumName = /^[_a-z][_a-z0-9]*$/;

const contractSchemas = new WeakMap<GraphQLSchema, GraphQLSchema>();

/** The contract's schema of a graph. Made once for each graph. */
export function contractSchemaOf(graph: GraphQLSchema): GraphQLSchema {
  let schema = contractSchemas.get(graph);
  if (schema === undefined) contractSchemas.set(graph, (schema = lowerCaseEnums(graph, "plain")));
  return schema;
}

/** `leaves: "declared"` keeps the scalar types, for executors that serialize leaves; `"plain"` is for compiled documents. */
export function lowerCaseEnums(schema: GraphQLSchema, leaves: "plain" | "declared"): GraphQLSchema {
  const lowered = mapSchema(schema, {
    [MapperKind.ENUM_TYPE]: (type) => {
      const config = type.toConfig();
      const values = Object.values(config.values);
      if (!values.every(({ value }) => typeof value === "string" && enumName.test(value))) return type;
      return new GraphQLEnumType({ ...config, values: Object.fromEntries(values.map((value) => [value.value, value])) });
    },
    ...(leaves === "plain" ? { [MapperKind.COMPOSITE_FIELD]: withPlainLeaf } : {}),
  });
  restoreDefaults(schema, lowered);
  return lowered;
}

/**
 * A compiled document calls `serialize` for each value of a custom scalar and allocates for each call; a plain
 * string costs nothing. The declared scalar is kept in the field's extensions for the OpenAPI document.
 */
function withPlainLeaf<Field extends Pick<GraphQLFieldConfig<unknown, unknown>, "type" | "extensions">>(field: Field): Field | undefined {
  const scalar = getNamedType(field.type);
  if (!isScalarType(scalar) || scalar.extensions["isSentAsIs"] !== true) return undefined;
  return { ...field, type: withLeaf(field.type, GraphQLString), extensions: { ...field.extensions, scalar } };
}

/** The type of a field of the contract schema, with the scalar that the graph declares. */
export function declaredType({ type, extensions }: Pick<GraphQLField<unknown, unknown>, "type" | "extensions">): GraphQLOutputType {
  const { scalar } = extensions as { readonly scalar?: GraphQLScalarType };
  return scalar === undefined ? type : withLeaf(type, scalar);
}

function withLeaf(type: GraphQLOutputType, leaf: GraphQLScalarType): GraphQLOutputType {
  if (isNonNullType(type)) return new GraphQLNonNull(withLeaf(type.ofType, leaf));
  return isListType(type) ? new GraphQLList(withLeaf(type.ofType, leaf)) : leaf;
}

/** mapSchema writes enum defaults as upper-case names: this puts the values back. */
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

/** The document with its enum literals as the contract schema spells them. Arguments of directives keep their spelling. */
export function withContractEnums(contractSchema: GraphQLSchema, document: DocumentNode): DocumentNode {
  const types = new TypeInfo(contractSchema);
  return visit(
    document,
    visitWithTypeInfo(types, {
      [Kind.DIRECTIVE]: () => false,
      [Kind.ENUM]: (node) => {
        const type = types.getInputType();
        const named = type ? getNamedType(type) : undefined;
        return isEnumType(named) && named.getValue(node.value) ? undefined : { ...node, value: node.value.toLowerCase() };
      },
    }),
  );
}
