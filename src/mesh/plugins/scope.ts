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
  policyPlugin(({ schema, document, operationName, contextValue }): Execute | undefined => {
    const { viewer, publicUrl, refusal }: ForeignContext = contextValue;
    try {
      if (viewer === undefined) throw refusal ?? fail("credentials_missing");
      const demands = demandsOf(schema, document, operationName);
      if (demands !== null) requireAccess(viewer, demands.security, publicUrl ?? "");
      return undefined;
    } catch (error) {
      // Thrown by the executor, so that the plugin `failures.ts` translates the refusal as every other one.
      return () => {
        throw error;
      };
    }
  });
