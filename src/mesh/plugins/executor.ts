/**
 * Chooses the executor of a GraphQL document. Documents that are part of this service run as compiled queries
 * on the contract schema. Most trusted documents run as compiled queries on the graph. The document of a
 * subscription is executed once for each event. Every other document keeps Mesh's executor.
 */
import { getCompiledQuery, getContractSchema, isServiceDocument } from "#mesh/contract-schema.ts";
import { execute, getOperationAST } from "graphql";
import type { Plugin } from "graphql-yoga";
import { getPreparedDocument } from "#mesh/prepared-document.ts";
import { createExecutionPolicyPlugin } from "#mesh/run.ts";

export default (): Plugin =>
  createExecutionPolicyPlugin(({ schema, document, operationName }, executeWithMesh) => {
    if (isServiceDocument(document)) {
      const query = getCompiledQuery(getContractSchema(schema), document);
      return ({ rootValue, contextValue, variableValues }) =>
        query(rootValue, contextValue, variableValues ?? {});
    }
    const compiled = getPreparedDocument(document)?.query;
    if (compiled !== undefined) return (args) => compiled.execute(args, executeWithMesh);
    // A subscription document is executed for each event with graphql-js's `execute`. Mesh's executor would
    // start another subscription instead of resolving the fields of the event.
    return getOperationAST(document, operationName)?.operation === "subscription" ? execute : undefined;
  });
