/** A credential without the operation's scope is refused before anything of the request is looked at, so that it learns nothing of the schema. */
import type { Scope } from "#access/scopes.ts";
import { isIntegrator, type Viewer } from "#access/viewer.ts";
import { fail } from "#foundation/failure.ts";
import { type Step } from "#gateway/call.ts";
import { challengeOf } from "#gateway/challenges.ts";
import type { Security } from "#gateway/contract.ts";

export const requireScope: Step = {
  name: "require scope",
  phase: "headers",
  appliesTo: ({ security }) => scopeOf(security) !== null,
  create: ({ publicUrl }, { security }) => {
    const scope = scopeOf(security);
    return ({ viewer }) => {
      if (scope === null || (isIntegrator(viewer) && viewer.scopes.has(scope))) return;
      const { what, scheme } = shown(viewer);
      const message = `The ${what} needs the scope ${scope}.`;
      throw fail("scope_missing", {
        message,
        details: [{ in: "header", field: "Authorization", code: "scope_missing", message, allowed: [scope] }],
        headers: { "www-authenticate": challengeOf(scheme, publicUrl, { error: "insufficient_scope", scope }) },
      });
    };
  },
};

const scopeOf = (security: Security): Scope | null => (security.kind === "anonymous" ? null : security.scope);

const shown = ({ kind }: Viewer): { what: string; scheme: "bearer" | "dpop" } =>
  kind === "oauth" ? { what: "access token", scheme: "dpop" } : { what: "key", scheme: "bearer" };
