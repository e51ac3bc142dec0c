/**
 * Word that credentials are worth something else than before: told in the transaction that makes it so, heard by every process from its commit on.
 */
import { sql } from "kysely";
import { noticeChannel } from "#database/notices.ts";
import { afterCommit, type Transaction } from "#database/transaction.ts";

/** One credential, or all of an installation, of a merchant, of an OAuth client or of a person. */
export type Dropped =
  | { readonly credentialId: string }
  | { readonly installationId: string }
  | { readonly merchantId: string }
  | { readonly clientId: string }
  | { readonly staffId: string };

/** Everyone in this process who keeps credentials: told at once, without the way through PostgreSQL; on PGlite there is no other. */
const keepers = new Set<(ownerId: string) => void>();

/** Gives how it ends. */
export function onDropped(keeper: (ownerId: string) => void): () => void {
  keepers.add(keeper);
  return () => void keepers.delete(keeper);
}

export async function dropCredentials(transaction: Transaction, dropped: Dropped): Promise<void> {
  const [kind, ownerId] = nameOf(dropped);
  await sql`select pg_notify(${noticeChannel}, ${`${kind}:${ownerId}`})`.execute(transaction);
  afterCommit(transaction, () => {
    for (const tell of keepers) tell(ownerId);
  });
}

function nameOf(dropped: Dropped): [kind: string, ownerId: string] {
  if ("credentialId" in dropped) return ["credential", dropped.credentialId];
  if ("installationId" in dropped) return ["installation", dropped.installationId];
  if ("merchantId" in dropped) return ["merchant", dropped.merchantId];
  return "clientId" in dropped ? ["client", dropped.clientId] : ["staff", dropped.staffId];
}

const form = /^(?:credential|installation|merchant|client|staff):(.+)$/;

/** Whose credentials are meant; undefined for a notice about something else. */
export function droppedOwner(payload: string): string | undefined {
  return form.exec(payload)?.[1];
}

/** What became of an installation or of one of its keys. Rules answer with it; whoever called them tells. */
export interface AccessEvent {
  readonly type:
    | "installation.scopes_changed"
    | "installation.suspended"
    | "installation.resumed"
    | "installation.uninstalled"
    | "api_key.created"
    | "api_key.rotated"
    | "api_key.revoked"
    | "api_key.expiring";
  /** Of the installation or the key. */
  readonly id: string;
  readonly merchantId: string;
  /** Nobody else is told. */
  readonly installationId: string;
  /** What the fields that changed were; null where nothing was. */
  readonly previous: Readonly<Record<string, unknown>> | null;
}
