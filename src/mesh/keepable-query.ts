/**
 * Decides which documents have results that may be kept in memory (`graph/kept-results.ts`): queries that
 * read one object by its id, and select only fields that depend on this object and the viewer alone.
 */
import {
  type DocumentNode,
  type FieldNode,
  getNamedType,
  getOperationAST,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  isLeafType,
  isObjectType,
  Kind,
  type SelectionSetNode,
  type ValueNode,
} from "graphql";
import { isResolverOfObjectAndViewer, type KeptResultSource } from "#graph/kept-results.ts";
import type { GraphqlVariables } from "./contract-schema.ts";

/** A query whose results may be kept. */
export interface KeepableQuery {
  /** A number that identifies the document in this process. */
  readonly number: number;
  /** The name of the only member of the result's `data`. */
  readonly responseName: string;
  readonly load: KeptResultSource;
  /** Returns the id of the object that the query reads; undefined if the variables have no such text. */
  readonly getId: (variables: GraphqlVariables | null | undefined) => string | undefined;
}

const queries = new WeakMap<GraphQLSchema, WeakMap<DocumentNode, KeepableQuery | null>>();
let count = 0;

/** Returns the query of a document if its results may be kept; otherwise null. */
export function findKeepableQuery(schema: GraphQLSchema, document: DocumentNode): KeepableQuery | null {
  let ofSchema = queries.get(schema);
  if (ofSchema === undefined) queries.set(schema, (ofSchema = new WeakMap()));
  let query = ofSchema.get(document);
  if (query === undefined) ofSchema.set(document, (query = analyzeDocument(schema, document)));
  return query;
}

function analyzeDocument(schema: GraphQLSchema, document: DocumentNode): KeepableQuery | null {
  const root = findOnlyRootField(document);
  if (root?.selectionSet === undefined) return null;
  const source = findSource(schema, root.name.value);
  const id = findIdArgument(root);
  if (source === undefined || id === undefined) return null;
  const { load, type } = source;
  if (!createSelectionCheck(document)(type, root.selectionSet)) return null;
  return {
    number: (count += 1),
    responseName: root.alias?.value ?? root.name.value,
    load,
    getId: createIdReader(id),
  };
}

/** Returns the type and the loader of a root field whose results may be kept; undefined for other fields. */
function findSource(
  schema: GraphQLSchema,
  name: string,
): { readonly load: KeptResultSource; readonly type: GraphQLObjectType } | undefined {
  const field = schema.getQueryType()?.getFields()[name];
  const load = field?.extensions.keptResultSource;
  const type = field === undefined ? undefined : getNamedType(field.type);
  return load === undefined || !isObjectType(type) ? undefined : { load, type };
}

/** Returns the root field of a query; undefined for other operations, and for several root fields. */
function findOnlyRootField(document: DocumentNode): FieldNode | undefined {
  const operation = getOperationAST(document);
  if (!operation || operation.operation !== "query") return undefined;
  const [root, second] = operation.selectionSet.selections;
  if (root?.kind !== Kind.FIELD || second !== undefined || hasDirectives(root)) return undefined;
  return root;
}

const hasDirectives = ({ directives = [] }: Pick<FieldNode, "directives">): boolean => directives.length > 0;

/** Returns the value of the argument `id`; undefined if the field has other arguments. */
function findIdArgument({ arguments: given = [] }: FieldNode): ValueNode | undefined {
  const [argument, second] = given;
  return argument?.name.value === "id" && second === undefined ? argument.value : undefined;
}

function createIdReader(value: ValueNode): KeepableQuery["getId"] {
  if (value.kind === Kind.STRING) return () => value.value;
  if (value.kind !== Kind.VARIABLE) return () => undefined;
  const name = value.name.value;
  return (variables) => {
    const id = variables?.[name];
    return typeof id === "string" ? id : undefined;
  };
}

type SelectionCheck = (type: GraphQLObjectType, selectionSet: SelectionSetNode) => boolean;

/** Creates the function that checks that all selected fields depend only on their object and the viewer. */
function createSelectionCheck({ definitions }: DocumentNode): SelectionCheck {
  /** Names of the fragments that were checked. A fragment inside of itself makes a document invalid. */
  const checked = new Set<string>();
  const check: SelectionCheck = (type, { selections }) =>
    selections.every((selection) => {
      if (hasDirectives(selection)) return false;
      if (selection.kind === Kind.FIELD) return checkField(type, selection);
      if (selection.kind === Kind.INLINE_FRAGMENT) return check(type, selection.selectionSet);
      const name = selection.name.value;
      if (checked.has(name)) return true;
      checked.add(name);
      const fragment = definitions.find(
        (definition) => definition.kind === Kind.FRAGMENT_DEFINITION && definition.name.value === name,
      );
      return fragment?.kind === Kind.FRAGMENT_DEFINITION && check(type, fragment.selectionSet);
    });
  const checkField = (parent: GraphQLObjectType, node: FieldNode): boolean => {
    if (node.name.value === "__typename") return true;
    const field = parent.getFields()[node.name.value];
    if (field === undefined || !isComputedFromParent(field)) return false;
    const type = getNamedType(field.type);
    if (isLeafType(type)) return true;
    return isObjectType(type) && node.selectionSet !== undefined && check(type, node.selectionSet);
  };
  return check;
}

/** Returns true if a field depends only on the object to which it belongs, and on the viewer. */
function isComputedFromParent({
  args,
  extensions: { pothosOptions },
}: GraphQLField<unknown, unknown>): boolean {
  if (args.length > 0 || pothosOptions === undefined) return false;
  const { resolve } = pothosOptions;
  return resolve === undefined || isResolverOfObjectAndViewer(resolve);
}
