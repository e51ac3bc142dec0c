/** Compiles a document on the respelled graph (spelling.ts), whose leaves are sent as they are given: that they fit the contract is the types' business and the tests'. */
import { compileQuery, isCompiledQuery } from "graphql-jit";
import type { DocumentNode, ExecutionResult, GraphQLSchema } from "graphql";

export type RunDocument = (context: unknown, variables: Readonly<Record<string, unknown>>) => Promise<ExecutionResult> | ExecutionResult;

/** Throws, naming it by `place`, where it does not compile. */
export function compileDocument(schema: GraphQLSchema, document: DocumentNode, place: string): RunDocument {
  const compiled = compileQuery(schema, document, "", { disableLeafSerialization: true });
  if (!isCompiledQuery(compiled)) throw new Error(`${place} does not compile: ${compiled.errors?.[0]?.message}`);
  return (context, variables) => compiled.query(undefined, context, variables);
}
