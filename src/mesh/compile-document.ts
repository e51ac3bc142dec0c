/**
 * Compiles the service's own documents with graphql-jit, once each, on the contract schema. Leaves are sent as the
 * resolvers give them: types and tests hold them to the contract.
 */
import type { DocumentNode, ExecutionResult, GraphQLSchema } from "graphql";
import { compileQuery, isCompiledQuery } from "graphql-jit";

export type Variables = Readonly<Record<string, unknown>>;

type CompiledQuery = (root: unknown, context: unknown, variables: Variables) => Promise<ExecutionResult> | ExecutionResult;

const names = new WeakMap<DocumentNode, string>();
const compiled = new WeakMap<GraphQLSchema, WeakMap<DocumentNode, CompiledQuery>>();

/**
 * Marks a document as one that this service wrote: it is compiled and answers in the contract's spelling. Documents
 * that clients send are never marked, because compiling costs memory and turns names of the document into code.
 */
export function ownDocument(document: DocumentNode, name: string): DocumentNode {
  names.set(document, name);
  return document;
}

/** Whether this service wrote the document. */
export const isOwnDocument = (document: DocumentNode): boolean => names.has(document);

/** The compiled form of an own document. Throws, with the document's name, if the document does not fit the schema. */
export function compiledQueryOf(schema: GraphQLSchema, document: DocumentNode): CompiledQuery {
  let ofSchema = compiled.get(schema);
  if (ofSchema === undefined) compiled.set(schema, (ofSchema = new WeakMap()));
  let query = ofSchema.get(document);
  if (query === undefined) ofSchema.set(document, (query = compile(schema, document)));
  return query;
}

function compile(schema: GraphQLSchema, document: DocumentNode): CompiledQuery {
  const result = compileQuery(schema, document, "", { disableLeafSerialization: true });
  if (!isCompiledQuery(result)) throw new Error(`${names.get(document) ?? "A document"} does not compile: ${result.errors?.[0]?.message}`);
  return result.query;
}
