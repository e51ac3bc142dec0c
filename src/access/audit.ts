/**
 * Who did what: entries that nobody changes or deletes, each written in the transaction of what it tells of,
 * so that there is none without the other. They name things by their ids and fields by their names, and hold
 * no secret and nothing of a buyer's.
 */
import { type Insertable, type RawBuilder, type SelectQueryBuilder, type Selectable, sql } from "kysely";
import type { AuditEntryTable, Tables } from "#database/tables.ts";
import { pageById } from "#database/sql-fragments.ts";
import { insertRows } from "#database/prepared-template.ts";
import { type Reader, type Transaction, runWithCommit } from "#database/transaction.ts";
import { createOrderedId, firstIdAt, type Kind, kindOf } from "#foundation/ids.ts";
import { credentialIdOf, isIntegrator, type Viewer } from "./viewer.ts";

export type AuditRow = Selectable<AuditEntryTable>;
export type AuditActorKind = AuditRow["actor"];

export interface AuditActor {
  readonly actor: AuditActorKind;
  /**
   * The key, the grant, the internal token or the account of who was signed in; null: whoever has the shell,
   * or the service.
   */
  readonly actorId: string | null;
}

export const commandLineActor: AuditActor = { actor: "command", actorId: null };

export interface AuditEntry extends AuditActor {
  /** Null: the platform's own, or that of the target. */
  readonly merchantId: string | null;
  readonly now: Date;
  /** The mutation's or the operation's name. */
  readonly action: string;
  readonly targetId: string | null;
  /** What it is, where its id does not say that. */
  readonly targetType?: string | undefined;
  readonly requestId: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

const togetherMax = 1000;

/**
 * One statement, unless there are more than a thousand. One alone that need not look for whose it is goes
 * with the commit.
 */
export async function appendAuditEntries(
  transaction: Transaction,
  ...entries: readonly AuditEntry[]
): Promise<void> {
  const [row] = entries.length === 1 ? entries.map(toRow) : [];
  if (row !== undefined && (row.merchantId === null || typeof row.merchantId === "string"))
    return runWithCommit(transaction, insertRows(transaction, "auditEntry", [row]));
  for (let from = 0; from < entries.length; from += togetherMax) {
    await transaction
      .insertInto("auditEntry")
      .values(entries.slice(from, from + togetherMax).map(toRow))
      .execute();
  }
}

function toRow({
  merchantId,
  now,
  actor,
  actorId,
  action,
  targetId,
  targetType,
  requestId,
  details,
}: AuditEntry): Insertable<AuditEntryTable> {
  const kind = targetId === null ? undefined : kindOf(targetId);
  return {
    id: createOrderedId("audit", now.getTime()),
    merchantId: (merchantId ?? ownerOf(kind, targetId)) as string | null,
    at: now,
    actor,
    actorId,
    action,
    targetType: kind === undefined ? (targetType ?? null) : snake(kind),
    targetId,
    requestId,
    details: JSON.stringify(details),
  };
}

/** Tables of what belongs to a merchant and is changed by who may not be of that merchant. */
const owned: Partial<Record<Kind, string>> = {
  apiKey: "api_key",
  installation: "installation",
  internalToken: "internal_token",
  oauthGrant: "oauth_grant",
  staff: "staff_account",
  webhookDelivery: "webhook_delivery",
  webhookEndpoint: "webhook_endpoint",
};

/** Whose it is, so that a merchant reads what the platform did to what is the merchant's. */
function ownerOf(kind: Kind | undefined, targetId: string | null): RawBuilder<string | null> | string | null {
  if (kind === "merchant") return targetId;
  const table = kind === undefined ? undefined : owned[kind];
  return table === undefined
    ? null
    : sql<string | null>`(select merchant_id from ${sql.table(table)} where id = ${targetId})`;
}

const snake = (kind: Kind): string => kind.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Undefined for whose changes are not written down: buyers' (events tell of them), and nobody's. */
export function getAuditActor(viewer: Viewer): AuditActor | undefined {
  if (isIntegrator(viewer))
    return { actor: viewer.kind === "oauth" ? "oauth_client" : "api_key", actorId: credentialIdOf(viewer) };
  if (viewer.kind !== "internal" || viewer.role === "storefront" || viewer.role === "analyst")
    return undefined;
  return { actor: viewer.role === "operator" ? "operator" : "staff", actorId: credentialIdOf(viewer) };
}

/** The id of a thing; those of addresses are secrets. */
export function auditableId(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const kind = kindOf(value);
  return kind === undefined || kind === "addressToken" ? undefined : value;
}

export interface AuditFilter {
  /** Null: all merchants, and what is the platform's. */
  readonly merchantId: string | null;
  readonly actor?: AuditActorKind | null | undefined;
  readonly actorId?: string | null | undefined;
  readonly action?: string | null | undefined;
  readonly targetId?: string | null | undefined;
  readonly from?: Date | null | undefined;
  readonly until?: Date | null | undefined;
}

/** Still to be ordered, paged or counted. */
export function selectAuditEntries(
  reader: Reader,
  filter: AuditFilter,
): SelectQueryBuilder<Tables, "auditEntry", AuditRow> {
  const { merchantId, from, until } = filter;
  let list = reader.selectFrom("auditEntry").selectAll("auditEntry");
  if (merchantId !== null) list = list.where("auditEntry.merchantId", "=", merchantId);
  for (const column of ["actor", "actorId", "action", "targetId"] as const) {
    const value = filter[column];
    if (value !== null && value !== undefined) list = list.where(`auditEntry.${column}`, "=", value);
  }
  // An id begins with its time, and is what lists are read by.
  if (from !== null && from !== undefined)
    list = list.where("auditEntry.id", ">=", firstIdAt("audit", from.getTime()));
  return until === null || until === undefined
    ? list
    : list.where("auditEntry.id", "<", firstIdAt("audit", until.getTime()));
}

const rowsAtOnce = 500;

/** Oldest first, page by page, however many there are. */
export async function* readAuditPages(
  reader: Reader,
  filter: AuditFilter,
): AsyncGenerator<readonly AuditRow[], void> {
  for (let after: string | undefined; ;) {
    const query = selectAuditEntries(reader, filter);
    const rows = await pageById(query, "audit_entry.id", {
      after,
      limit: rowsAtOnce,
      isInverted: false,
    }).execute();
    if (rows.length > 0) yield rows;
    if (rows.length < rowsAtOnce) return;
    after = rows.at(-1)?.id;
  }
}
