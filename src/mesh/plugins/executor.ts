/**
 * Chooses the executor of a GraphQL document. Documents that are part of this service run as compiled queries
 * on the contract schema (enum values in lower case). Most trusted documents run as compiled queries on the
 * schema of `/graphql`. The document of a subscription is executed once for each event. Every other document
 * keeps Mesh's executor.
 */
import {
  getCompiledBuiltInGraphqlDocument,
  getLowerCaseEnumSchema,
  isBuiltInGraphqlDocument,
} from "#mesh/contract-schema.ts";
import { execute, getOperationAST } from "graphql";
import type { Plugin } from "graphql-yoga";
import { getParsedAndCompiledGraphqlDocument } from "#mesh/prepared-document.ts";
import { createMeshExecutorWrappingPlugin } from "#mesh/run.ts";

export default (): Plugin =>
  createMeshExecutorWrappingPlugin(({ schema, document, operationName }, executeWithMesh) => {
    if (isBuiltInGraphqlDocument(document)) {
      const query = getCompiledBuiltInGraphqlDocument(getLowerCaseEnumSchema(schema), document);
      return ({ rootValue, contextValue, variableValues }) =>
        query(rootValue, contextValue, variableValues ?? {});
    }
    const compiled = getParsedAndCompiledGraphqlDocument(document)?.query;
    if (compiled !== undefined) return (args) => compiled.execute(args, executeWithMesh);
    // A subscription document is executed for each event with graphql-js's `execute`. Mesh's executor would
    // start another subscription instead of resolving the fields of the event.
    return getOperationAST(document, operationName)?.operation === "subscription" ? execute : undefined;
  });
