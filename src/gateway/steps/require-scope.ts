/** Refuses a credential without the operation's scope before the body is read, so that an unscoped key learns nothing of the schema. */
import type { Scope } from "#access/viewer.ts";
import { type Step } from "#gateway/call.ts";
import { requireScope as requireScopeOf, type Security } from "#mesh/operation-security.ts";

export const requireScope: Step = {
  name: "require scope",
  phase: "headers",
  appliesTo: ({ security }) => scopeOf(security) !== null,
  create: ({ publicUrl }, { security }) => {
    const scope = scopeOf(security);
    return ({ viewer }) => (scope === null ? undefined : requireScopeOf(viewer, scope, publicUrl));
  },
};

const scopeOf = (security: Security): Scope | null => (security.kind === "anonymous" ? null : security.scope);
