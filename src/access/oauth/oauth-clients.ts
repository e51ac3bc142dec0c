/**
 * The OAuth clients that operators create for apps: their redirect URIs and their authentication. A client
 * authenticates with a key of its own (`private_key_jwt`) or not at all (`none`).
 */
import type { Selectable, SelectQueryBuilder } from "kysely";
import type { OauthClientTable, Tables } from "#database/tables.ts";
import type { DatabaseOrTransaction, Transaction } from "#database/transaction.ts";
import { createFailure, createFailureWithDetail } from "#foundation/failure.ts";
import { createId } from "#foundation/ids.ts";
import type { AccessManagementCommandContext } from "#access/keys/manage-keys.ts";
import type { clientAuthMethods } from "#access/authorization.ts";
import { revokeOauthGrants } from "#access/credential-changes.ts";

export interface NewOauthClient {
  readonly appId: string;
  readonly redirectUris: readonly string[];
  readonly authMethod: (typeof clientAuthMethods)[number];
  /** The client's public keys (RFC 7517); required with `private_key_jwt`, otherwise null. */
  readonly jwks: JsonWebKeySet | null;
}

export interface JsonWebKeySet {
  readonly keys: readonly Readonly<Record<string, unknown>>[];
}

/** Returns whether a value from a client has the form of a JSON Web Key Set: `{"keys":[{…}]}`. */
export const isJsonWebKeySet = (value: unknown): value is JsonWebKeySet =>
  isRecord(value) && Array.isArray(value["keys"]) && value["keys"].every(isRecord);

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export async function createOauthClient(
  transaction: Transaction,
  access: AccessManagementCommandContext,
  input: NewOauthClient,
): Promise<string> {
  requireRedirectUris(input.redirectUris);
  requireKeys(input);
  const app = await transaction
    .selectFrom("app")
    .select("id")
    .where("id", "=", input.appId)
    .executeTakeFirst();
  if (app === undefined)
    throw createFailure("resource_not_found", { message: "There is no app with this id." });
  const id = createId("oauthClient", access.now.getTime());
  await transaction
    .insertInto("oauthClient")
    .values({
      id,
      appId: app.id,
      redirectUris: [...input.redirectUris],
      authMethod: input.authMethod,
      jwks: input.jwks === null ? null : JSON.stringify({ keys: input.jwks.keys }),
      createdAt: access.now,
    })
    .execute();
  return id;
}

const urisMax = 20;
const uriLengthMax = 2048;

function requireRedirectUris(uris: readonly string[]): void {
  const message = `A client must have 1 to ${urisMax} redirect URIs, each different.`;
  if (uris.length === 0 || uris.length > urisMax || new Set(uris).size < uris.length)
    throw createFailureWithDetail("invalid_field", {
      in: "body",
      field: "/redirectUris",
      code: "items",
      message,
    });
  uris.forEach((uri, index) => {
    const fault = findBrokenOauthRedirectUriRule(uri);
    if (fault !== undefined)
      throw createFailureWithDetail("invalid_field", {
        in: "body",
        field: `/redirectUris/${index}`,
        code: "redirect_uri_not_allowed",
        message: fault,
      });
  });
}

const loopbacks = new Set(["127.0.0.1", "[::1]", "localhost"]);

/**
 * Returns the rule that a redirect URI breaks; undefined if the URI is allowed. Allowed are https, http on a
 * loopback address, and a private scheme that is a reversed domain name. See RFC 6749 section 3.1.2, and RFC
 * 8252 sections 7 and 8.
 */
export function findBrokenOauthRedirectUriRule(uri: string): string | undefined {
  const parsed = URL.parse(uri);
  if (parsed === null || uri.length > uriLengthMax || /[^\x21-\x7e]/.test(uri))
    return (
      "A redirect URI must be an absolute URI of printable ASCII characters, at most " +
      `${uriLengthMax} long.`
    );
  if (uri.includes("#")) return "A redirect URI must not have a fragment (#).";
  if (parsed.username !== "" || parsed.password !== "")
    return "A redirect URI must not have user information (user:password@).";
  const { protocol, hostname } = parsed;
  if (protocol === "https:")
    return loopbacks.has(hostname) ? "A redirect URI on a loopback address must use http." : undefined;
  if (protocol === "http:")
    return loopbacks.has(hostname)
      ? undefined
      : "A redirect URI must use https; http is allowed on loopback addresses only.";
  return protocol.includes(".")
    ? undefined
    : "A private scheme of an app must be a reversed domain name, like com.example.app.";
}

const keysMax = 10;
const privateMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"];

function requireKeys({ authMethod, jwks }: NewOauthClient): void {
  if (authMethod === "none") {
    if (jwks !== null) throw keysFailure("A client with the authentication method none must not have keys.");
    return;
  }
  if (jwks === null || jwks.keys.length === 0 || jwks.keys.length > keysMax)
    throw keysFailure(
      `A client with the authentication method private_key_jwt must have 1 to ${keysMax} public keys.`,
    );
  if (!jwks.keys.every(isPublicKey))
    throw keysFailure("A client's keys must be public keys on P-256 or Ed25519.");
}

const keysFailure = (message: string): Error =>
  createFailureWithDetail("invalid_field", { in: "body", field: "/jwks", code: "jwks", message });

const curves: Readonly<Record<string, unknown>> = { EC: "P-256", OKP: "Ed25519" };

function isPublicKey(key: Readonly<Record<string, unknown>>): boolean {
  const { kty, crv, x, y } = key;
  if (
    typeof kty !== "string" ||
    crv === undefined ||
    curves[kty] !== crv ||
    privateMembers.some((part) => part in key)
  )
    return false;
  return typeof x === "string" && (kty !== "EC" || typeof y === "string");
}

export interface OauthClientWithApp extends Pick<
  Selectable<OauthClientTable>,
  "id" | "appId" | "redirectUris" | "authMethod" | "jwks" | "registration"
> {
  readonly appName: string;
  readonly publisher: string | null;
}

/**
 * Returns an OAuth client with its app; undefined if no client has the id or the client is disabled. Clients
 * with a metadata document are found with their stored id, not with the URL.
 */
export async function findOauthClient(
  reader: DatabaseOrTransaction,
  clientId: string,
): Promise<OauthClientWithApp | undefined> {
  return reader
    .selectFrom("oauthClient")
    .innerJoin("app", "app.id", "oauthClient.appId")
    .select([
      "oauthClient.id",
      "oauthClient.appId",
      "oauthClient.redirectUris",
      "oauthClient.authMethod",
      "oauthClient.jwks",
      "oauthClient.registration",
    ])
    .select(["app.name as appName", "app.publisher"])
    .where("oauthClient.id", "=", clientId)
    .where("oauthClient.disabledAt", "is", null)
    .executeTakeFirst();
}

/**
 * Disables an OAuth client. From the commit on, the client cannot start authorizations, and its tokens are
 * refused. Its grants are revoked and stay revoked if the client is enabled again.
 */
export async function disableOauthClient(
  transaction: Transaction,
  access: AccessManagementCommandContext,
  clientId: string,
): Promise<void> {
  if (!(await setDisabledAt(transaction, clientId, { disabledAt: access.now }))) return;
  await revokeOauthGrants(transaction, access, {
    column: "clientId",
    value: clientId,
    reason: "client_disabled",
  });
}

/** Enables an OAuth client, which can then request access again. Its revoked grants stay revoked. */
export async function enableOauthClient(transaction: Transaction, clientId: string): Promise<void> {
  await setDisabledAt(transaction, clientId, { disabledAt: null });
}

/**
 * Sets the time at which the client was disabled; null enables the client. Returns false if the client is
 * already in this state.
 */
async function setDisabledAt(
  transaction: Transaction,
  clientId: string,
  { disabledAt }: { readonly disabledAt: Date | null },
): Promise<boolean> {
  const client = await transaction
    .selectFrom("oauthClient")
    .select(["id", "disabledAt"])
    .where("id", "=", clientId)
    .forUpdate()
    .executeTakeFirst();
  if (client === undefined)
    throw createFailure("resource_not_found", { message: "There is no OAuth client with this id." });
  if ((client.disabledAt === null) === (disabledAt === null)) return false;
  await transaction
    .updateTable("oauthClient")
    .set((row) => ({ disabledAt, version: row("version", "+", 1) }))
    .where("id", "=", client.id)
    .execute();
  return true;
}

export type OauthClientRow = Omit<Selectable<OauthClientTable>, "jwks">;

/** Builds the query for the OAuth clients, without their keys. The caller adds filters, the order or the page. */
export const buildOauthClientSqlQuery = (
  reader: DatabaseOrTransaction,
): SelectQueryBuilder<Tables, "oauthClient", OauthClientRow> =>
  reader
    .selectFrom("oauthClient")
    .select(["id", "appId", "redirectUris", "authMethod", "registration", "metadataUrl"])
    .select(["version", "createdAt", "disabledAt"]);
