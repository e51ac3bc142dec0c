/** A key without the operation's scope is refused before anything of the request is looked at, so that it learns nothing of the schema. */
import { fail } from "#foundation/failure.ts";
import { type Step } from "#gateway/call.ts";

export const requireScope: Step = {
  name: "require scope",
  phase: "headers",
  appliesTo: ({ security }) => security.kind === "api_key" && security.scope !== null,
  create: ({ publicUrl }, { security }) => {
    const scope = security.kind === "api_key" ? security.scope : null;
    return ({ viewer }) => {
      if (scope === null || (viewer.kind === "api_key" && viewer.scopes.has(scope))) return;
      const message = `The key needs the scope ${scope}.`;
      throw fail("scope_missing", {
        message,
        details: [{ in: "header", field: "Authorization", code: "scope_missing", message, allowed: [scope] }],
        headers: { "www-authenticate": `Bearer realm="${publicUrl}", error="insufficient_scope", scope="${scope}"` },
      });
    };
  },
};
