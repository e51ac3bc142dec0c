/**
 * Apps as OAuth clients: where their users may be sent back to, and how they prove who they are (by a key of
 * their own, or not at all).
 */
import type { Selectable, SelectQueryBuilder } from "kysely";
import type { OauthClientTable, Tables } from "#database/tables.ts";
import type { Reader, Transaction } from "#database/transaction.ts";
import { fail, failAt } from "#foundation/failure.ts";
import { createId } from "#foundation/ids.ts";
import type { AccessCommandContext } from "#access/keys/manage-keys.ts";
import type { clientAuthMethods } from "#access/authorization.ts";
import { revokeGrants } from "#access/credential-changes.ts";

export interface OauthClientInput {
  readonly appId: string;
  readonly redirectUris: readonly string[];
  readonly authMethod: (typeof clientAuthMethods)[number];
  /** The client's public keys (RFC 7517), with `private_key_jwt` and only then. */
  readonly jwks: { readonly keys: readonly Readonly<Record<string, unknown>>[] } | null;
}

export async function createOauthClient(
  transaction: Transaction,
  access: AccessCommandContext,
  input: OauthClientInput,
): Promise<string> {
  requireRedirectUris(input.redirectUris);
  requireKeys(input);
  const app = await transaction
    .selectFrom("app")
    .select("id")
    .where("id", "=", input.appId)
    .executeTakeFirst();
  if (app === undefined) throw fail("resource_not_found", { message: "There is no such app." });
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
  const message = `There are 1 to ${urisMax} redirect URIs, each once.`;
  if (uris.length === 0 || uris.length > urisMax || new Set(uris).size < uris.length)
    throw failAt("invalid_field", { in: "body", field: "/redirectUris", code: "items", message });
  uris.forEach((uri, index) => {
    const fault = redirectUriFault(uri);
    if (fault !== undefined)
      throw failAt("invalid_field", {
        in: "body",
        field: `/redirectUris/${index}`,
        code: "redirect_uri_not_allowed",
        message: fault,
      });
  });
}

const loopbacks = new Set(["127.0.0.1", "[::1]", "localhost"]);

/**
 * RFC 6749 section 3.1.2, RFC 8252 sections 7 and 8: https, http on loopback, or a scheme that is a domain
 * name turned around.
 */
function redirectUriFault(uri: string): string | undefined {
  const parsed = URL.parse(uri);
  if (parsed === null || uri.length > uriLengthMax || /[^\x21-\x7e]/.test(uri))
    return "A redirect URI is an absolute URI.";
  if (uri.includes("#")) return "A redirect URI has no fragment.";
  if (parsed.username !== "" || parsed.password !== "") return "A redirect URI has no user information.";
  const { protocol, hostname } = parsed;
  if (protocol === "https:")
    return loopbacks.has(hostname) ? "A redirect URI on loopback is http." : undefined;
  if (protocol === "http:")
    return loopbacks.has(hostname) ? undefined : "A redirect URI is https, or http on loopback.";
  return protocol.includes(".")
    ? undefined
    : "A scheme of an app's own is a domain name turned around, like com.example.app.";
}

const keysMax = 10;
const privateParts = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"];

function requireKeys({ authMethod, jwks }: OauthClientInput): void {
  if (authMethod === "none") {
    if (jwks !== null) throw brokenKeys("A client without authentication has no keys.");
    return;
  }
  if (jwks === null || jwks.keys.length === 0 || jwks.keys.length > keysMax)
    throw brokenKeys(`A client that signs has 1 to ${keysMax} public keys.`);
  if (!jwks.keys.every(isPublicKey)) throw brokenKeys("A client's keys are public keys on P-256 or Ed25519.");
}

const brokenKeys = (message: string): Error =>
  failAt("invalid_field", { in: "body", field: "/jwks", code: "jwks", message });

const curves: Readonly<Record<string, unknown>> = { EC: "P-256", OKP: "Ed25519" };

function isPublicKey(key: Readonly<Record<string, unknown>>): boolean {
  const { kty, crv, x, y } = key;
  if (
    typeof kty !== "string" ||
    crv === undefined ||
    curves[kty] !== crv ||
    privateParts.some((part) => part in key)
  )
    return false;
  return typeof x === "string" && (kty !== "EC" || typeof y === "string");
}

export interface OauthClientWithApp extends Pick<
  Selectable<OauthClientTable>,
  "id" | "appId" | "redirectUris" | "authMethod" | "jwks"
> {
  readonly appName: string;
  readonly publisher: string | null;
}

/** Undefined when there is none, or none that may be used. */
export async function findOauthClient(
  reader: Reader,
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
    ])
    .select(["app.name as appName", "app.publisher"])
    .where("oauthClient.id", "=", clientId)
    .where("oauthClient.disabledAt", "is", null)
    .executeTakeFirst();
}

/**
 * From the commit on nobody is sent to it, and none of its tokens is good any more: what it was granted is
 * revoked, for good.
 */
export async function disableOauthClient(
  transaction: Transaction,
  access: AccessCommandContext,
  clientId: string,
): Promise<void> {
  if (!(await turn(transaction, clientId, { disabledAt: access.now }))) return;
  await revokeGrants(transaction, access, { column: "clientId", value: clientId, reason: "client_disabled" });
}

/** It may ask again; what it was granted before stays revoked. */
export async function enableOauthClient(transaction: Transaction, clientId: string): Promise<void> {
  await turn(transaction, clientId, { disabledAt: null });
}

/** False when it is so already. */
async function turn(
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
  if (client === undefined) throw fail("resource_not_found", { message: "There is no such OAuth client." });
  if ((client.disabledAt === null) === (disabledAt === null)) return false;
  await transaction
    .updateTable("oauthClient")
    .set((row) => ({ disabledAt, version: row("version", "+", 1) }))
    .where("id", "=", client.id)
    .execute();
  return true;
}

export type OauthClientRow = Omit<Selectable<OauthClientTable>, "jwks">;

/** Still to be paged, ordered or narrowed down. Without their keys. */
export const selectOauthClients = (
  reader: Reader,
): SelectQueryBuilder<Tables, "oauthClient", OauthClientRow> =>
  reader
    .selectFrom("oauthClient")
    .select(["id", "appId", "redirectUris", "authMethod", "version", "createdAt", "disabledAt"]);
