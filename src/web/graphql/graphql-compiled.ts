/**
 * A query as graphql-jit compiles it. It makes code of a document and leaves some of GraphQL's rules out, so only documents are compiled of which
 * nothing but names reaches that code, and which have nothing that it would execute differently; all others are undefined.
 */
import {
  type DocumentNode,
  type ExecutionResult,
  type FieldNode,
  getNamedType,
  getNullableType,
  type GraphQLSchema,
  isEnumType,
  isLeafType,
  isListType,
  isSpecifiedScalarType,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
  typeFromAST,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from "graphql";
import { compileQuery, isCompiledQuery } from "graphql-jit";
import type { SpanStart } from "#foundation/tracing.ts";
import type { GraphContext } from "#graph/context.ts";
import { costOf } from "./graphql-limits.ts";
import { spanOfDocument } from "./graphql-trace.ts";

export type Variables = Readonly<Record<string, unknown>>;

export interface CompiledDocument {
  /** How many it has, with its fragments written out: what it takes of memory hangs on it. */
  readonly fields: number;
  /** Of its one operation. */
  readonly operationName: string | null;
  readonly span: SpanStart;
  readonly costOf: (context: GraphContext, variables: Variables) => number;
  /** Without `data` where the variables are not what the document says. */
  readonly run: (context: GraphContext, variables: Variables) => Promise<ExecutionResult> | ExecutionResult;
}

/** With its fragments written out: beyond it compiling takes so long that others would wait. */
const fieldsMax = 500;

/** The text is one that was found valid on the schema, and within the limits. */
export function compileQueryText(schema: GraphQLSchema, text: string): CompiledDocument | undefined {
  // One of its own: the compiler writes into the document.
  const document = parse(text);
  const operation = onlyQuery(document);
  if (operation === undefined || text.includes(magic) || !isPlain(schema, document, operation)) return undefined;
  const fields = countPlainFields(document, operation);
  if (fields === undefined) return undefined;
  const compiled = compileQuery(schema, document, operation.name?.value ?? "");
  if (!isCompiledQuery(compiled)) return undefined;
  const bare = parse(text);
  const cost = hasCostByArguments(schema, bare) ? undefined : { known: undefined as number | undefined };
  return {
    fields,
    operationName: operation.name?.value ?? null,
    span: spanOfDocument(bare, operation.name?.value),
    costOf: (contextValue, variableValues) => {
      if (cost === undefined) return costOf(schema, bare, { contextValue, variableValues });
      return (cost.known ??= costOf(schema, bare, { contextValue, variableValues }));
    },
    run: (context, variables) => {
      const running = compiled.query(undefined, context, variables);
      return running instanceof Promise ? running.then(withoutEchoes) : withoutEchoes(running);
    },
  };
}

function isPlain(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode): boolean {
  return hasPlainNodes(document) && hasPlainEnums(schema, document) && hasPlainVariables(schema, document, operation);
}

function onlyQuery({ definitions }: DocumentNode): OperationDefinitionNode | undefined {
  const operations = definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  const [operation] = operations;
  return operations.length === 1 && operation?.operation === "query" ? operation : undefined;
}

/** Names are joined by `_` in the code, and types begin with a capital letter: two places of the answer must not get one name. */
const plainName = /^[a-z][0-9A-Za-z]*$/;

const unplainValues: ReadonlySet<string> = new Set([Kind.STRING, Kind.OBJECT, Kind.LIST]);

/** What the compiler writes as a text to find it again in its code, where it then makes an expression of it: dates, infinities and what is no number. */
const magic = "__MAGIC";

/**
 * No text of a client becomes code: literals other than numbers, booleans and enum values do not, whatever is made of them. Introspection is
 * seldom asked and large.
 */
function hasPlainNodes(document: DocumentNode): boolean {
  let arePlain = true;
  visit(document, {
    enter: (node) => {
      if (unplainValues.has(node.kind)) arePlain = false;
      if (node.kind !== Kind.FIELD) return;
      const { name, alias } = node;
      if (name.value.startsWith("__") && name.value !== "__typename") arePlain = false;
      if (alias !== undefined && !plainName.test(alias.value)) arePlain = false;
    },
  });
  return arePlain;
}

/** A scalar of ours takes a bare name as a text, which is not for the compiler either. */
function hasPlainEnums(schema: GraphQLSchema, document: DocumentNode): boolean {
  const types = new TypeInfo(schema);
  let arePlain = true;
  visit(
    document,
    visitWithTypeInfo(types, {
      [Kind.ENUM]: () => {
        const type = types.getInputType();
        if (!isEnumType(type === undefined || type === null ? type : getNamedType(type))) arePlain = false;
      },
    }),
  );
  return arePlain;
}

/** What a failure has made null tells of that failure alone; the compiler tells of each that happened below it. */
function withoutEchoes(result: ExecutionResult): ExecutionResult {
  const { errors = [] } = result;
  if (errors.length < 2) return result;
  const told = new Set<string>();
  const kept = errors.filter(({ path = [] }) => {
    const place = nulledPath(result.data, path);
    const isNew = !told.has(place);
    told.add(place);
    return isNew;
  });
  return kept.length === errors.length ? result : { ...result, errors: kept };
}

/** As far as the answer goes. */
function nulledPath(data: unknown, path: readonly (string | number)[]): string {
  let value: unknown = data;
  let depth = 0;
  while (depth < path.length && typeof value === "object" && value !== null) {
    value = (value as Readonly<Record<string | number, unknown>>)[path[depth] ?? ""];
    depth += 1;
  }
  return JSON.stringify(path.slice(0, depth));
}

/**
 * Of input objects the compiler checks less than GraphQL does, defaults of scalars of ours would not be what they parse to, and a directive takes null for
 * an answer.
 */
function hasPlainVariables(schema: GraphQLSchema, document: DocumentNode, { variableDefinitions = [] }: OperationDefinitionNode): boolean {
  const deciding = variablesOfDirectives(document);
  return variableDefinitions.every(({ variable, type: node, defaultValue }) => {
    if (deciding.has(variable.name.value) && node.kind !== Kind.NON_NULL_TYPE) return false;
    const type = typeFromAST(schema, node);
    if (type === undefined) return false;
    const nullable = getNullableType(type);
    const leaf = getNamedType(type);
    if (!isLeafType(leaf)) return false;
    if (isListType(nullable)) return defaultValue === undefined && !isListType(getNullableType(nullable.ofType));
    return defaultValue === undefined || isEnumType(leaf) || isSpecifiedScalarType(leaf);
  });
}

function variablesOfDirectives(document: DocumentNode): ReadonlySet<string> {
  const names = new Set<string>();
  visit(document, {
    [Kind.DIRECTIVE]: ({ arguments: given = [] }) => {
      for (const { value } of given) if (value.kind === Kind.VARIABLE) names.add(value.name.value);
    },
  });
  return names;
}

/** Undefined: too many, or @skip and @include where something is merged: what the compiler leaves of it is not what GraphQL would leave. */
function countPlainFields(document: DocumentNode, { selectionSet }: OperationDefinitionNode): number | undefined {
  const fragments = fragmentsOf(document);
  let count = 0;
  let hasDirectives = false;
  let isMerged = false;
  const look = ({ selections }: SelectionSetNode): void => {
    const fields = selections.filter((selection) => selection.kind === Kind.FIELD);
    count += fields.length;
    if (fields.length < selections.length || new Set(fields.map(nameOf)).size < fields.length) isMerged = true;
    for (const selection of selections) {
      if ((selection.directives ?? []).length > 0) hasDirectives = true;
      const below = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection.selectionSet;
      if (below !== undefined && count <= fieldsMax) look(below);
    }
  };
  look(selectionSet);
  return count > fieldsMax || (hasDirectives && isMerged) ? undefined : count;
}

function fragmentsOf({ definitions }: DocumentNode): ReadonlyMap<string, SelectionSetNode> {
  const fragments = definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
  return new Map(fragments.map(({ name, selectionSet }) => [name.value, selectionSet]));
}

const nameOf = ({ alias, name }: FieldNode): string => (alias ?? name).value;

/** Otherwise it is the same for everybody. */
function hasCostByArguments(schema: GraphQLSchema, document: DocumentNode): boolean {
  const types = new TypeInfo(schema);
  let isByArguments = false;
  visit(
    document,
    visitWithTypeInfo(types, {
      [Kind.FIELD]: () => {
        if (typeof types.getFieldDef()?.extensions["complexity"] === "function") isByArguments = true;
      },
    }),
  );
  return isByArguments;
}
