/**
 * Chooses the executor of a GraphQL document. Documents that are part of this service run as compiled queries
 * on the contract schema. The document of a subscription is executed once for each event. Every other
 * document is run by Mesh's own executor.
 */
import { getCompiledQuery, getContractSchema, isServiceDocument } from "#mesh/contract-schema.ts";
import { execute, getOperationAST } from "graphql";
import type { Plugin } from "graphql-yoga";
import { createPolicyPlugin } from "#mesh/run.ts";

export default (): Plugin =>
  createPolicyPlugin(({ schema, document, operationName }) => {
    if (isServiceDocument(document)) {
      const query = getCompiledQuery(getContractSchema(schema), document);
      return ({ rootValue, contextValue, variableValues }) =>
        query(rootValue, contextValue, variableValues ?? {});
    }
    // A subscription document is executed for each event with graphql-js's `execute`. Mesh's executor would
    // start another subscription instead of resolving the fields of the event.
    return getOperationAST(document, operationName)?.operation === "subscription" ? execute : undefined;
  });
