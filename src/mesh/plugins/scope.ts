/**
 * Holds every document that is a REST operation to its own `@requires`, `@oauth` or `@anonymous`. The gateway has
 * checked the scope before it read the body; this check makes sure that no other way of executing the document
 * avoids it. A document without any caller is refused too, for example under `mesh dev`.
 */
import type { Plugin } from "graphql-yoga";
import { fail } from "#foundation/failure.ts";
import { demandsOf, requireAccess } from "#mesh/operation-security.ts";
import { type Execute, policyPlugin } from "#mesh/policy.ts";
import type { ForeignContext } from "./caller.ts";

export default (): Plugin =>
  policyPlugin(({ schema, document, operationName, contextValue }, execute): Execute | undefined => {
    const { viewer, publicUrl, refusal }: ForeignContext = contextValue;
    if (viewer === undefined) {
      return () => {
        throw refusal ?? fail("credentials_missing");
      };
    }
    const demands = demandsOf(schema, document, operationName);
    if (demands === null) return undefined;
    return (args) => {
      requireAccess(viewer, demands.security, publicUrl ?? "");
      return execute(args);
    };
  });
