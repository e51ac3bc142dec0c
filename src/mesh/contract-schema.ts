/**
 * The graph in the spelling of the REST contract: enum values in lower snake case (`in_stock` instead of
 * `IN_STOCK`), and scalars that need no conversion as plain strings. The service's own documents are compiled
 * on this schema with graphql-jit, once each, so the spelling costs nothing per request. Leaves are sent as
 * the resolvers give them: types and tests hold them to the contract.
 */
import { MapperKind, mapSchema } from "@graphql-tools/utils";
import {
  type DocumentNode,
  type ExecutionResult,
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
import { compileQuery, isCompiledQuery } from "graphql-jit";

/**
 * An enum with a value that is no GraphQL name keeps its upper-case names. No REST document selects such an
 * enum.
 */
const enumName = /^[_a-z][_a-z0-9]*$/;

const contractSchemas = new WeakMap<GraphQLSchema, GraphQLSchema>();

/** The contract's schema of a graph. Made once for each graph. */
export function getContractSchema(graph: GraphQLSchema): GraphQLSchema {
  let schema = contractSchemas.get(graph);
  if (schema === undefined) contractSchemas.set(graph, (schema = lowerCaseEnums(graph, "plain")));
  return schema;
}

/**
 * `leaves: "declared"` keeps the scalar types, for executors that serialize leaves; `"plain"` is for compiled
 * documents.
 */
export function lowerCaseEnums(schema: GraphQLSchema, leaves: "plain" | "declared"): GraphQLSchema {
  const lowered = mapSchema(schema, {
    [MapperKind.ENUM_TYPE]: (type) => {
      const config = type.toConfig();
      const values = Object.values(config.values);
      if (!values.every(({ value }) => typeof value === "string" && enumName.test(value))) return type;
      return new GraphQLEnumType({
        ...config,
        values: Object.fromEntries(values.map((value) => [value.value, value])),
      });
    },
    ...(leaves === "plain" ? { [MapperKind.COMPOSITE_FIELD]: withPlainLeaf } : {}),
  });
  restoreDefaults(schema, lowered);
  return lowered;
}

/**
 * A compiled document calls `serialize` for each value of a custom scalar and allocates for each call; a
 * plain string costs nothing. The declared scalar is kept in the field's extensions for the OpenAPI
 * document.
 */
function withPlainLeaf<Field extends Pick<GraphQLFieldConfig<unknown, unknown>, "type" | "extensions">>(
  field: Field,
): Field | undefined {
  const scalar = getNamedType(field.type);
  if (!isScalarType(scalar) || scalar.extensions["isSentAsIs"] !== true) return undefined;
  return { ...field, type: withLeaf(field.type, GraphQLString), extensions: { ...field.extensions, scalar } };
}

/** The type of a field of the contract schema, with the scalar that the graph declares. */
export function getDeclaredType({
  type,
  extensions,
}: Pick<GraphQLField<unknown, unknown>, "type" | "extensions">): GraphQLOutputType {
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
    if (isInputObjectType(type) && isInputObjectType(twin))
      restoreEach(Object.values(type.getFields()), Object.values(twin.getFields()));
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    if (!isObjectType(twin) && !isInterfaceType(twin)) continue;
    for (const field of Object.values(twin.getFields()))
      restoreEach(type.getFields()[field.name]?.args ?? [], field.args);
  }
}

type Defaulted = GraphQLArgument | GraphQLInputField;

function restoreEach(from: readonly Defaulted[], to: readonly Defaulted[]): void {
  for (const twin of to) twin.defaultValue = from.find(({ name }) => name === twin.name)?.defaultValue;
}

/**
 * The document with its enum literals as the contract schema spells them. Arguments of directives keep their
 * spelling.
 */
export function withContractEnums(contractSchema: GraphQLSchema, document: DocumentNode): DocumentNode {
  const types = new TypeInfo(contractSchema);
  return visit(
    document,
    visitWithTypeInfo(types, {
      [Kind.DIRECTIVE]: () => false,
      [Kind.ENUM]: (node) => {
        const type = types.getInputType();
        const named = type ? getNamedType(type) : undefined;
        return isEnumType(named) && named.getValue(node.value)
          ? undefined
          : { ...node, value: node.value.toLowerCase() };
      },
    }),
  );
}

/**
 * Compiles the service's own documents with graphql-jit, once each, on the contract schema. Leaves are sent
 * as the resolvers give them: types and tests hold them to the contract.
 */
export type QueryVariables = Readonly<Record<string, unknown>>;

type CompiledQuery = (
  root: unknown,
  context: unknown,
  variables: QueryVariables,
) => Promise<ExecutionResult> | ExecutionResult;

const names = new WeakMap<DocumentNode, string>();
const compiled = new WeakMap<GraphQLSchema, WeakMap<DocumentNode, CompiledQuery>>();

/**
 * Marks a document as one that this service wrote: it is compiled and answers in the contract's spelling.
 * Documents that clients send are never marked, because compiling costs memory and turns names of the
 * document into code.
 */
export function markServiceDocument(document: DocumentNode, name: string): DocumentNode {
  names.set(document, name);
  return document;
}

/** Whether this service wrote the document. */
export const isServiceDocument = (document: DocumentNode): boolean => names.has(document);

/**
 * The compiled form of an own document. Throws, with the document's name, if the document does not fit the
 * schema.
 */
export function getCompiledQuery(schema: GraphQLSchema, document: DocumentNode): CompiledQuery {
  let ofSchema = compiled.get(schema);
  if (ofSchema === undefined) compiled.set(schema, (ofSchema = new WeakMap()));
  let query = ofSchema.get(document);
  if (query === undefined) ofSchema.set(document, (query = compile(schema, document)));
  return query;
}

function compile(schema: GraphQLSchema, document: DocumentNode): CompiledQuery {
  const result = compileQuery(schema, document, "", { disableLeafSerialization: true });
  if (!isCompiledQuery(result))
    throw new Error(
      `${names.get(document) ?? "A document"} does not compile: ${result.errors?.[0]?.message}`,
    );
  return result.query;
}
