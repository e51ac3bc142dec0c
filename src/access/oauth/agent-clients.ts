/**
 * Stores OAuth clients of AI agents. No operator creates these clients. An agent either registers itself (RFC
 * 7591), or sends as its client id the URL of a document with its metadata. The service stores an app and an
 * OAuth client for the agent only when a staff member grants the agent access for the first time. Otherwise,
 * strangers could fill these tables.
 */
import type { DatabaseOrTransaction, Transaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import { registerApp } from "#access/installations.ts";
import type { AccessManagementCommandContext } from "#access/keys/manage-keys.ts";
import { findBrokenOauthRedirectUriRule } from "./oauth-clients.ts";

export interface OauthAgentClient {
  /** The client id that the client sends: `oac_…`, or the URL of its metadata document. */
  readonly id: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
}

/** Returns whether an OAuth client id is the URL of a client metadata document. */
export const isClientIdMetadataUrl = (clientId: string): boolean => clientId.startsWith("https://");

/**
 * Returns the host of a client's metadata document, which the client has proved to control; null for a client
 * that registered itself.
 */
export const getVerifiedHostOfMetadataUrl = (clientId: string): string | null =>
  isClientIdMetadataUrl(clientId) ? new URL(clientId).host : null;

const redirectUrisMax = 10;

/**
 * Checks the redirect URIs of an agent: 1 to 10 URIs, each with https, or with http and a loopback address.
 * Returns the rule that the URIs break; undefined if all are allowed. Private schemes are refused, because
 * any program can register one.
 */
export function findBrokenAgentRedirectUriRule(uris: unknown): string | undefined {
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > redirectUrisMax)
    return `There must be 1 to ${redirectUrisMax} redirect URIs.`;
  for (const uri of uris as unknown[]) {
    if (typeof uri !== "string") return "A redirect URI must be a text.";
    const fault = findBrokenOauthRedirectUriRule(uri);
    if (fault !== undefined) return fault;
    if (!/^https?:/i.test(uri)) return "A redirect URI must use https, or http on a loopback address.";
  }
  return undefined;
}

/**
 * Returns the id of the stored OAuth client of an agent. Stores the client and its app if no merchant has
 * granted access to the client before.
 */
export async function findOrStoreOauthAgentClient(
  transaction: Transaction,
  access: AccessManagementCommandContext,
  { id, name, redirectUris }: OauthAgentClient,
): Promise<string> {
  const known = await findOauthAgentClientRow(transaction, id);
  if (known !== undefined) return known.id;
  const isDocument = isClientIdMetadataUrl(id);
  const appId = await registerApp(transaction, access, { name, publisher: getVerifiedHostOfMetadataUrl(id) });
  const inserted = await transaction
    .insertInto("oauthClient")
    .values({
      id: isDocument ? createId("oauthClient", access.now.getTime()) : id,
      appId,
      redirectUris: [...redirectUris],
      authMethod: "none",
      registration: isDocument ? "metadata_document" : "dynamic",
      metadataUrl: isDocument ? id : null,
      createdAt: access.now,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return inserted.id;
}

/** A stored OAuth client of an agent; `disabledAt` is null if the client is enabled. */
interface AgentClientRow {
  readonly id: string;
  readonly appId: string;
  readonly disabledAt: Date | null;
}

/**
 * Finds the stored OAuth client of an agent by the client id that the agent sends. Returns undefined if no
 * merchant has ever granted access to this client.
 */
export const findOauthAgentClientRow = (
  reader: DatabaseOrTransaction,
  clientId: string,
): Promise<AgentClientRow | undefined> =>
  reader
    .selectFrom("oauthClient")
    .select(["id", "appId", "disabledAt"])
    .where(isClientIdMetadataUrl(clientId) ? "metadataUrl" : "id", "=", clientId)
    .where("registration", "<>", "operator")
    .executeTakeFirst();

/**
 * Returns the URL of the metadata document of a stored OAuth client, which the client sends as its client id.
 * Returns undefined if the client has no metadata document.
 */
export async function findMetadataUrlOfOauthClient(
  reader: DatabaseOrTransaction,
  id: string,
): Promise<string | undefined> {
  const row = await reader
    .selectFrom("oauthClient")
    .select("metadataUrl")
    .where("id", "=", id)
    .executeTakeFirst();
  return row?.metadataUrl ?? undefined;
}
