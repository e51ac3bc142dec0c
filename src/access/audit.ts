/**
 * The audit log: for each change, the log has an entry with the actor, the action and the changed object.
 * Entries are never changed or deleted. Each entry is written in the transaction of the change that it
 * describes, so a committed change always has its entry. Entries contain ids and field names, but no secrets
 * and no buyers' personal data.
 */
import { type Insertable, type RawBuilder, type SelectQueryBuilder, type Selectable, sql } from "kysely";
import type { AuditEntryTable, Tables } from "#database/tables.ts";
import { addKeysetPageToQuery } from "#database/sql-fragments.ts";
import { bufferInsertUntilNextStatement } from "#database/prepared-template.ts";
import type { DatabaseOrTransaction, Transaction } from "#database/transaction.ts";
import { createTimeSortedId, getLowestIdAtTime, type IdKind, getObjectKindOfId } from "#foundation/ids.ts";
import {
  getCredentialIdOfViewer,
  isApiKeyOrOauthViewer,
  type Viewer,
  type InternalTokenRole,
} from "./viewer.ts";

export type AuditEntryRow = Selectable<AuditEntryTable>;
export type AuditActorKind = AuditEntryRow["actor"];

export interface AuditActor {
  readonly actor: AuditActorKind;
  /**
   * Id of the API key, OAuth grant, internal token or staff account that made the change; null if the command
   * line or the service itself made it.
   */
  readonly actorId: string | null;
}

export const commandLineActor: AuditActor = { actor: "command", actorId: null };

export interface NewAuditEntry extends AuditActor {
  /**
   * Id of the merchant that the audit entry belongs to. If it is null, the entry belongs to the merchant that
   * owns the changed object, or to the platform if no merchant owns the object.
   */
  readonly merchantId: string | null;
  readonly now: Date;
  /** Name of the GraphQL mutation or of the REST operation that made the change. */
  readonly action: string;
  readonly targetId: string | null;
  /**
   * Type of the changed object, for example `signing_key`. Set only for objects whose id has no prefix that
   * names their type.
   */
  readonly targetType?: string | undefined;
  readonly requestId: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

const entriesPerStatement = 1000;

/**
 * Inserts audit entries, up to 1000 per statement. If there is only one entry and its merchant id is known,
 * the insert is buffered, which saves a round trip to the database.
 */
export async function appendAuditEntries(
  transaction: Transaction,
  ...entries: readonly NewAuditEntry[]
): Promise<void> {
  const [row] = entries.length === 1 ? entries.map(toAuditRow) : [];
  if (row !== undefined && (row.merchantId === null || typeof row.merchantId === "string"))
    return bufferInsertUntilNextStatement(transaction, "auditEntry", [row]);
  for (let from = 0; from < entries.length; from += entriesPerStatement) {
    await transaction
      .insertInto("auditEntry")
      .values(entries.slice(from, from + entriesPerStatement).map(toAuditRow))
      .execute();
  }
}

function toAuditRow({
  merchantId,
  now,
  actor,
  actorId,
  action,
  targetId,
  targetType,
  requestId,
  details,
}: NewAuditEntry): Insertable<AuditEntryTable> {
  const kind = targetId === null ? undefined : getObjectKindOfId(targetId);
  return {
    id: createTimeSortedId("audit", now.getTime()),
    merchantId: (merchantId ?? findTargetMerchant(kind, targetId)) as string | null,
    at: now,
    actor,
    actorId,
    action,
    targetType: kind === undefined ? (targetType ?? null) : toSnakeCase(kind),
    targetId,
    requestId,
    details: JSON.stringify(details),
  };
}

/**
 * The tables whose rows belong to merchants and can also be changed by the platform. The keys are the kinds
 * of object ids (for example `apiKey`), the values are the names of the tables.
 */
const tablesOwnedByMerchants: Partial<Record<IdKind, string>> = {
  apiKey: "api_key",
  installation: "installation",
  internalToken: "internal_token",
  oauthGrant: "oauth_grant",
  staff: "staff_account",
  webhookDelivery: "webhook_delivery",
  webhookEndpoint: "webhook_endpoint",
};

/**
 * Returns the id of the merchant that owns the changed object, or an SQL expression that looks the id up;
 * null if no merchant owns the object. With this id, merchants can read which of their data the platform
 * changed.
 */
function findTargetMerchant(
  kind: IdKind | undefined,
  targetId: string | null,
): RawBuilder<string | null> | string | null {
  if (kind === "merchant") return targetId;
  const table = kind === undefined ? undefined : tablesOwnedByMerchants[kind];
  return table === undefined
    ? null
    : sql<string | null>`(select merchant_id from ${sql.table(table)} where id = ${targetId})`;
}

const toSnakeCase = (kind: IdKind): string =>
  kind.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * The roles of internal tokens that act for buyers. The changes of buyers are published as events and not
 * audited.
 */
const unauditedRoles: ReadonlySet<InternalTokenRole> = new Set(["storefront", "browser"]);

/**
 * Returns the actor for the audit entry of a viewer's change. Returns undefined for storefronts and buyers,
 * because their changes are published as events and not audited, and for viewers that cannot change anything.
 * The only changes of analysts are exports, which are audited.
 */
export function getAuditActor(viewer: Viewer): AuditActor | undefined {
  if (isApiKeyOrOauthViewer(viewer))
    return {
      actor: viewer.kind === "oauth" ? "oauth_client" : "api_key",
      actorId: getCredentialIdOfViewer(viewer),
    };
  if (viewer.kind !== "internal" || unauditedRoles.has(viewer.role)) return undefined;
  return {
    actor: viewer.role === "operator" ? "operator" : "staff",
    actorId: getCredentialIdOfViewer(viewer),
  };
}

/**
 * Returns the value if it is an id that may appear in the audit log; undefined for other values and for
 * address tokens, because address tokens are secrets.
 */
export function getIdIfSafeForAuditLog(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const kind = getObjectKindOfId(value);
  return kind === undefined || kind === "addressToken" ? undefined : value;
}

/** One call of a GraphQL mutation: the name of the mutation and its arguments. */
export interface AuditedMutationCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/**
 * Returns the parts of the audit entry of a mutation: the id of the changed object and the details. The
 * details are the names of the given input fields, the ids of other objects, and the reason if it is a code.
 * `result` is the return value of the command that the mutation ran.
 */
export function getAuditTargetAndDetailsOfMutation(
  mutation: AuditedMutationCall,
  result: unknown,
): Pick<NewAuditEntry, "targetId" | "details"> {
  const targetId = findTargetId(mutation, result) ?? null;
  return { targetId, details: toAuditDetails(mutation, targetId) };
}

/**
 * Finds the id of the object that a mutation changed. Searches the mutation's arguments except `input` first,
 * then the mutation's result, then the argument `input`.
 */
function findTargetId({ args }: AuditedMutationCall, result: unknown): string | undefined {
  const { merchantId: _merchant, input, ...ids } = args;
  return (
    findId(ids) ?? getIdIfSafeForAuditLog(result) ?? findId(result) ?? findNestedId(result) ?? findId(input)
  );
}

/**
 * Finds the id of an object that is a part of a mutation's result, for example of `apiKey` in `{ apiKey,
 * secret }`.
 */
const findNestedId = (result: unknown): string | undefined =>
  typeof result !== "object" || result === null || Array.isArray(result)
    ? undefined
    : Object.values(result)
        .map((part: { readonly id?: unknown } | null) => getIdIfSafeForAuditLog(part?.id))
        .find((id) => id !== undefined);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/**
 * Finds the id of an object in a value. Uses the field `id` if it has an id, otherwise the first field whose
 * name ends in `Id`, otherwise the field `merchantId`.
 */
function findId(value: unknown): string | undefined {
  if (!isObject(value)) return undefined;
  const { id, merchantId, ...others } = value;
  return getIdIfSafeForAuditLog(id) ?? listIdFields(others)[0]?.[1] ?? getIdIfSafeForAuditLog(merchantId);
}

const listIdFields = (value: object): [name: string, id: string][] =>
  Object.entries(value).flatMap(([name, field]): [string, string][] => {
    const id = name.endsWith("Id") ? getIdIfSafeForAuditLog(field) : undefined;
    return id === undefined ? [] : [[name, id]];
  });

/**
 * Names of input fields that audit entries do not list as changed fields. They are conditions of the change,
 * such as the expected version of the object, or explanations of the change.
 */
const unchangedFields = new Set(["expectedVersion", "reason", "note"]);
/**
 * Names of mutations whose `note`, a text of the caller, is stored only in the audit log. Other mutations
 * store the note with the changed object.
 */
const mutationsWithNote = new Set(["cartPromotionRemove"]);

function toAuditDetails(
  { name, args }: AuditedMutationCall,
  targetId: string | null,
): Readonly<Record<string, unknown>> {
  const input = isObject(args["input"]) ? args["input"] : {};
  const given = Object.entries(input).filter(([, value]) => value !== undefined && value !== null);
  const ids = listIdFields(input).filter(([field, id]) => id !== targetId && field !== "merchantId");
  const fields = given
    .map(([field]) => field)
    .filter((field) => !unchangedFields.has(field) && getIdIfSafeForAuditLog(input[field]) === undefined);
  const { reason, note } = input;
  return {
    ...(fields.length === 0 ? {} : { fields: fields.toSorted() }),
    ...Object.fromEntries(ids),
    // The audit entry contains the reason of a change only if the reason is a code. A reason in free text may
    // name people, so the audit entry leaves it out.
    ...(typeof reason === "string" && /^[a-z_]{1,40}$/.test(reason) ? { reason } : {}),
    ...(typeof note === "string" && mutationsWithNote.has(name) ? { note } : {}),
  };
}

export interface AuditEntryFilter {
  /**
   * Id of the merchant whose audit entries are selected; null selects the entries of all merchants and of the
   * platform.
   */
  readonly merchantId: string | null;
  readonly actor?: AuditActorKind | null | undefined;
  readonly actorId?: string | null | undefined;
  readonly action?: string | null | undefined;
  readonly targetId?: string | null | undefined;
  readonly from?: Date | null | undefined;
  readonly until?: Date | null | undefined;
}

/**
 * Builds the query for the audit entries that match a filter. The caller adds the order or page, or counts
 * the rows.
 */
export function buildAuditEntrySqlQuery(
  reader: DatabaseOrTransaction,
  filter: AuditEntryFilter,
): SelectQueryBuilder<Tables, "auditEntry", AuditEntryRow> {
  const { merchantId, from, until } = filter;
  let list = reader.selectFrom("auditEntry").selectAll("auditEntry");
  if (merchantId !== null) list = list.where("auditEntry.merchantId", "=", merchantId);
  for (const column of ["actor", "actorId", "action", "targetId"] as const) {
    const value = filter[column];
    if (value !== null && value !== undefined) list = list.where(`auditEntry.${column}`, "=", value);
  }
  // The id of an audit entry begins with the time of the entry, so a range of ids selects a range of times.
  if (from !== null && from !== undefined)
    list = list.where("auditEntry.id", ">=", getLowestIdAtTime("audit", from.getTime()));
  return until === null || until === undefined
    ? list
    : list.where("auditEntry.id", "<", getLowestIdAtTime("audit", until.getTime()));
}

const rowsPerPage = 500;

/** Yields all audit entries that match the filter, oldest first, in pages of up to 500 rows. */
export async function* streamAuditEntryPages(
  reader: DatabaseOrTransaction,
  filter: AuditEntryFilter,
): AsyncGenerator<readonly AuditEntryRow[], void> {
  for (let after: string | undefined; ;) {
    const query = buildAuditEntrySqlQuery(reader, filter);
    const rows = await addKeysetPageToQuery(
      query,
      { column: "audit_entry.id" },
      {
        after,
        limit: rowsPerPage,
        isInverted: false,
      },
    ).execute();
    if (rows.length > 0) yield rows;
    if (rows.length < rowsPerPage) return;
    after = rows.at(-1)?.id;
  }
}
