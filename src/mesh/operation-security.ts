/**
 * What a document's directives (`schema/rest.graphql`) say about its callers, and the check that a caller may
 * execute it.
 */
import {
  getArgumentValues,
  getOperationAST,
  type DocumentNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from "graphql";
import { formatAuthenticateChallenge } from "#access/authorization.ts";
import {
  type RateBucket,
  isRateBucket,
  isIntegrator,
  isScope,
  type Scope,
  type Viewer,
} from "#access/viewer.ts";
import { type Failure, fail } from "#foundation/failure.ts";

export type OperationSecurity =
  | { readonly kind: "anonymous"; readonly bucket: RateBucket }
  /** An API key or an OAuth access token. */
  | { readonly kind: "api_key"; readonly scope: Scope | null; readonly whileSuspended: boolean }
  /** An OAuth access token only. */
  | { readonly kind: "oauth"; readonly scope: null; readonly whileSuspended: false };

export type DirectiveArguments = Readonly<Record<string, unknown>>;

/** The arguments of a directive on an operation; undefined if the operation does not have the directive. */
export function getDirectiveArguments(
  schema: GraphQLSchema,
  node: OperationDefinitionNode,
  name: string,
): DirectiveArguments | undefined {
  const definition = schema.getDirective(name);
  const use = node.directives?.find((candidate) => candidate.name.value === name);
  return definition && use ? getArgumentValues(definition, use) : undefined;
}

/** Throws, with the operation's name, if a rate limit of that name does not exist. */
export function requireRateBucket(operation: string, name: unknown): RateBucket {
  if (typeof name !== "string" || !isRateBucket(name))
    throw new Error(`${operation}: there is no rate limit ${String(name)}.`);
  return name;
}

/**
 * Throws, with the operation's name, unless the operation has exactly one of `@anonymous`, `@requires` and
 * `@oauth`.
 */
export function readOperationSecurity(
  schema: GraphQLSchema,
  definition: OperationDefinitionNode,
): OperationSecurity {
  const id = definition.name?.value ?? "An unnamed operation";
  const [open, requires, oauth] = ["anonymous", "requires", "oauth"].map((name) =>
    getDirectiveArguments(schema, definition, name),
  );
  if ([open, requires, oauth].filter((one) => one !== undefined).length !== 1) {
    throw new Error(`${id} must have exactly one of @anonymous, @requires and @oauth.`);
  }
  if (open !== undefined) return { kind: "anonymous", bucket: requireRateBucket(id, open["bucket"]) };
  if (oauth !== undefined) return { kind: "oauth", scope: null, whileSuspended: false };
  const scope = (requires?.["scope"] ?? null) as string | null;
  if (typeof scope === "string" && !isScope(scope)) throw new Error(`${id}: there is no scope ${scope}.`);
  return { kind: "api_key", scope, whileSuspended: requires?.["whileSuspended"] === true };
}

/** Throws 403 `scope_missing` unless the caller's API key or access token has the scope. */
export function requireScope(viewer: Viewer, scope: Scope, publicUrl: string): void {
  if (isIntegrator(viewer) && viewer.scopes.has(scope)) return;
  const [what, scheme] =
    viewer.kind === "oauth" ? (["access token", "dpop"] as const) : (["key", "bearer"] as const);
  const message = `The ${what} needs the scope ${scope}.`;
  throw fail("scope_missing", {
    message,
    details: [{ in: "header", field: "Authorization", code: "scope_missing", message, allowed: [scope] }],
    headers: {
      "www-authenticate": formatAuthenticateChallenge(scheme, publicUrl, {
        error: "insufficient_scope",
        scope,
      }),
    },
  });
}

/** The credentials and the idempotency key that a document's caller needs. */
export interface DocumentRequirements {
  readonly security: OperationSecurity;
  /** Whether the document may run only as a request with an idempotency key. */
  readonly isIdempotent: boolean;
}

const demands = new WeakMap<DocumentNode, DocumentRequirements | null>();

/** Null if the document is no REST operation: it has no `@rest`. Read once for each document. */
export function getDocumentRequirements(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName?: string | null,
): DocumentRequirements | null {
  const read = demands.get(document);
  if (read !== undefined) return read;
  const definition = getOperationAST(document, operationName);
  const isOperation = definition?.directives?.some(({ name }) => name.value === "rest") === true;
  const found = isOperation
    ? {
        security: readOperationSecurity(schema, definition),
        isIdempotent: getDirectiveArguments(schema, definition, "idempotent") !== undefined,
      }
    : null;
  // With several operations in one document, the next request may name another one.
  if (document.definitions.length === 1) demands.set(document, found);
  return found;
}

/** Throws 401 or 403 unless the caller may execute a document with this security. */
export function requireAccess(viewer: Viewer, security: OperationSecurity, publicUrl: string): void {
  if (security.kind === "anonymous") return;
  if (viewer.kind === "internal") throw internalRefusal();
  if (!isIntegrator(viewer)) throw fail("credentials_missing");
  if (security.kind === "oauth" && viewer.kind !== "oauth")
    throw fail("oauth_token_invalid", { message: "This operation needs an access token." });
  if (security.scope !== null) requireScope(viewer, security.scope, publicUrl);
}

const internalRefusal = (): Failure =>
  fail("role_not_allowed", {
    message:
      "A document with @rest is executed with an API key. With an internal token, send it without its directives.",
  });
