/**
 * Reads the security directives of REST documents (`schema/rest.graphql`), and checks that a caller may
 * execute a document.
 */
import {
  getArgumentValues,
  getOperationAST,
  type DocumentNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from "graphql";
import { formatWwwAuthenticateChallenge } from "#access/authorization.ts";
import {
  type RateLimitBucket,
  isRateLimitBucket,
  isApiKeyOrOauthViewer,
  isPermissionScope,
  type PermissionScope,
  type Viewer,
} from "#access/viewer.ts";
import { type Failure, createFailure } from "#foundation/failure.ts";

/** The kind of credential that callers of a REST operation need. */
export type RestOperationSecurity =
  | { readonly kind: "anonymous"; readonly bucket: RateLimitBucket }
  /**
   * The REST operation requires an API key or an OAuth access token. `scope` is the scope that the API key or
   * token must have; null if any scope is accepted.
   */
  | { readonly kind: "api_key"; readonly scope: PermissionScope | null; readonly whileSuspended: boolean }
  /** The REST operation requires an OAuth access token; an API key is refused. */
  | { readonly kind: "oauth"; readonly scope: null; readonly whileSuspended: false };

/** The values of the arguments of a GraphQL directive, by the arguments' names. */
export type GraphqlDirectiveArguments = Readonly<Record<string, unknown>>;

/** Returns the arguments of an operation's directive; undefined if the operation does not have the directive. */
export function getDirectiveArguments(
  schema: GraphQLSchema,
  node: OperationDefinitionNode,
  name: string,
): GraphqlDirectiveArguments | undefined {
  const definition = schema.getDirective(name);
  const use = node.directives?.find((candidate) => candidate.name.value === name);
  return definition && use ? getArgumentValues(definition, use) : undefined;
}

/**
 * Checks that `name` is the name of a rate limit and returns it. Otherwise throws an error that names the
 * operation.
 */
export function requireRateLimitBucketName(operation: string, name: unknown): RateLimitBucket {
  if (typeof name !== "string" || !isRateLimitBucket(name))
    throw new Error(`${operation}: the rate limit ${String(name)} does not exist.`);
  return name;
}

/**
 * Reads from an operation's directives which credential its callers need. Throws an error with the
 * operation's name unless the operation has exactly one of the directives `@anonymous`, `@requires` and
 * `@oauth`.
 */
export function readRequiredCredentialOfOperation(
  schema: GraphQLSchema,
  definition: OperationDefinitionNode,
): RestOperationSecurity {
  const id = definition.name?.value ?? "An unnamed operation";
  const [anonymous, requires, oauth] = ["anonymous", "requires", "oauth"].map((name) =>
    getDirectiveArguments(schema, definition, name),
  );
  if ([anonymous, requires, oauth].filter((directive) => directive !== undefined).length !== 1) {
    throw new Error(`${id} must have exactly one of @anonymous, @requires and @oauth.`);
  }
  if (anonymous !== undefined)
    return { kind: "anonymous", bucket: requireRateLimitBucketName(id, anonymous["bucket"]) };
  if (oauth !== undefined) return { kind: "oauth", scope: null, whileSuspended: false };
  const scope = (requires?.["scope"] ?? null) as string | null;
  if (typeof scope === "string" && !isPermissionScope(scope))
    throw new Error(`${id}: the scope ${scope} does not exist.`);
  return { kind: "api_key", scope, whileSuspended: requires?.["whileSuspended"] === true };
}

/** Throws 403 `scope_missing` unless the caller's API key or access token has the scope. */
export function requireScope(viewer: Viewer, scope: PermissionScope, publicUrl: string): void {
  if (isApiKeyOrOauthViewer(viewer) && viewer.scopes.has(scope)) return;
  const [credential, scheme] =
    viewer.kind === "oauth" ? (["access token", "dpop"] as const) : (["API key", "bearer"] as const);
  const message = `The ${credential} must have the scope ${scope}.`;
  throw createFailure("scope_missing", {
    message,
    details: [{ in: "header", field: "Authorization", code: "scope_missing", message, allowed: [scope] }],
    headers: {
      "www-authenticate": formatWwwAuthenticateChallenge(
        scheme,
        { publicUrl },
        {
          error: "insufficient_scope",
          scope,
        },
      ),
    },
  });
}

/**
 * What a request for a REST document needs: the kind of credential, and whether an idempotency key is
 * required.
 */
export interface RestDocumentSecurityAndIdempotency {
  readonly security: RestOperationSecurity;
  /** Whether each request for the document must have an idempotency key. */
  readonly isIdempotent: boolean;
}

const requirementsByDocument = new WeakMap<DocumentNode, RestDocumentSecurityAndIdempotency | null>();

/**
 * Returns which credential a REST document requires, and whether it requires an idempotency key. Returns null
 * if the document has no directive `@rest`. The directives of each document are read only once.
 */
export function getRestDocumentSecurityAndIdempotency(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName?: string | null,
): RestDocumentSecurityAndIdempotency | null {
  const known = requirementsByDocument.get(document);
  if (known !== undefined) return known;
  const definition = getOperationAST(document, operationName);
  const isOperation = definition?.directives?.some(({ name }) => name.value === "rest") === true;
  const found = isOperation
    ? {
        security: readRequiredCredentialOfOperation(schema, definition),
        isIdempotent: getDirectiveArguments(schema, definition, "idempotent") !== undefined,
      }
    : null;
  // The result is cached only for documents with a single operation. Otherwise, it depends on the operation
  // that the request runs.
  if (document.definitions.length === 1) requirementsByDocument.set(document, found);
  return found;
}

/**
 * Throws a failure with status 401 or 403 if the caller does not have the credential or the scope that
 * `security` requires.
 */
export function requireCredentialAndScopeOfDocument(
  viewer: Viewer,
  security: RestOperationSecurity,
  publicUrl: string,
): void {
  if (security.kind === "anonymous") return;
  if (viewer.kind === "internal") throw internalTokenFailure();
  if (!isApiKeyOrOauthViewer(viewer)) throw createFailure("credentials_missing");
  if (security.kind === "oauth" && viewer.kind !== "oauth")
    throw createFailure("oauth_token_invalid", { message: "This operation requires an OAuth access token." });
  if (security.scope !== null) requireScope(viewer, security.scope, publicUrl);
}

const internalTokenFailure = (): Failure =>
  createFailure("role_not_allowed", {
    message:
      "A document with @rest requires an API key. To use an internal token, send the document without " +
      "its directives.",
  });
