/**
 * Manages payment connections: the accounts at payment providers that merchants have connected. A merchant
 * has at most one active connection, which has the merchant's mode (live or test). Secret keys and signing
 * secrets are stored encrypted and never returned. If a merchant connects another account, the old connection
 * gets no new payments, but its payments can still be captured, voided and refunded.
 */
import { type CompiledQuery, type Selectable, sql } from "kysely";
import type { PaymentConnectionTable } from "#database/tables.ts";
import type { DatabaseOrTransaction, Transaction } from "#database/transaction.ts";
import type { EncryptionContext, EncryptionKeyring } from "#foundation/encryption.ts";
import { createFailure } from "#foundation/failure.ts";
import {
  createInvalidFieldFailure,
  createRequestBodyErrorDetail,
  type InputFieldErrors,
} from "#foundation/faults.ts";
import { createId, blankIdWithForbiddenCharacters } from "#foundation/ids.ts";
import {
  type ConnectablePaymentProviderName,
  connectedProviderNames,
  type PaymentProviderName,
} from "./provider-list.ts";

export type PaymentConnectionRow = Omit<
  Selectable<PaymentConnectionTable>,
  "sealed" | "dataKey" | "keyId" | "eventsReadUntil"
>;

export interface PaymentConnectionSecrets {
  readonly secretKey: string;
  /** The secret with which the payment provider signs its events; null until the merchant has entered it. */
  readonly signingSecret: string | null;
}

/** The data of an account that the payment provider has returned for a secret key. */
export interface VerifiedPaymentProviderAccount {
  readonly provider: ConnectablePaymentProviderName;
  readonly accountId: string;
  readonly accountName: string | null;
  readonly mode: "live" | "test";
}

/**
 * Returns the table, column and row to which the encryption of a connection's secrets is bound, so that
 * secrets that are copied to another row cannot be decrypted there.
 */
export const getPaymentConnectionEncryptionContext = (id: string): EncryptionContext => ({
  table: "payment_connection",
  column: "sealed",
  rowId: id,
});

const columns = [
  "id",
  "merchantId",
  "provider",
  "mode",
  "accountId",
  "accountName",
  "keyHint",
  "hasSigningSecret",
  "disconnectedAt",
  "version",
  "createdAt",
  "updatedAt",
] as const;

/**
 * Returns the active payment connections of merchants, by merchant id. Merchants without an active connection
 * are left out.
 */
export async function findActivePaymentConnections(
  reader: DatabaseOrTransaction,
  merchantIds: readonly string[],
): Promise<Map<string, PaymentConnectionRow>> {
  const rows = await reader
    .selectFrom("paymentConnection")
    .select(columns)
    .where(sql<boolean>`merchant_id = any(${merchantIds}::text[])`)
    .where("disconnectedAt", "is", null)
    .execute();
  return new Map(rows.map((row) => [row.merchantId, row]));
}

export interface PaymentConnectionWithDecryptedSecrets
  extends PaymentConnectionRow, PaymentConnectionSecrets {
  readonly eventsReadUntil: Date;
}

/** Reads a payment connection with its decrypted secrets; undefined if no connection has this id. */
export async function loadDecryptedPaymentConnection(
  reader: DatabaseOrTransaction,
  keyring: EncryptionKeyring,
  id: string,
): Promise<PaymentConnectionWithDecryptedSecrets | undefined> {
  const row = await reader
    .selectFrom("paymentConnection")
    .selectAll()
    .where("id", "=", blankIdWithForbiddenCharacters(id))
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { sealed, dataKey, keyId, ...connection } = row;
  const opened = keyring.open({ sealed, dataKey, keyId }, getPaymentConnectionEncryptionContext(row.id));
  const [secretKey = "", signingSecret = ""] = opened.toString("utf8").split("\n");
  return { ...connection, secretKey, signingSecret: signingSecret === "" ? null : signingSecret };
}

/** The payment provider of a checkout, and the id of the merchant's connection to the provider. */
export interface ChosenPaymentProvider {
  readonly provider: PaymentProviderName;
  readonly connectionId: string | null;
}

/**
 * The mode of a merchant, and the provider of the merchant's next payment. `chosen` is null if the mode is
 * live and the merchant has connected no provider.
 */
export interface MerchantPaymentSetup {
  readonly mode: "live" | "test";
  readonly chosen: ChosenPaymentProvider | null;
}

/**
 * The mode of a merchant, and the provider and id of its active payment connection. `provider` and
 * `connectionId` are null if the merchant has no active connection.
 */
interface MerchantPaymentSetupRow {
  readonly mode: "live" | "test";
  readonly provider: string | null;
  readonly connectionId: string | null;
}

/**
 * Returns the provider of a merchant's next payment: the connected account, or the built-in test provider for
 * merchants in test mode.
 */
export function toPaymentModeAndProvider({
  mode,
  provider,
  connectionId,
}: MerchantPaymentSetupRow): MerchantPaymentSetup {
  if (connectionId !== null)
    return { mode, chosen: { provider: parseConnectablePaymentProviderName(provider), connectionId } };
  return { mode, chosen: mode === "test" ? { provider: "test", connectionId: null } : null };
}

/** Builds the statement that reads the mode and the active payment connection of a merchant. */
export const buildPaymentSetupSqlQuery = (
  reader: DatabaseOrTransaction,
  merchantId: string,
): CompiledQuery<MerchantPaymentSetupRow> =>
  sql<MerchantPaymentSetupRow>`
    select m.mode, c.provider, c.id as "connectionId" from merchant m
      left join payment_connection c on c.merchant_id = m.id and c.disconnected_at is null
    where m.id = ${merchantId}`.compile(reader);

export function parseConnectablePaymentProviderName(name: string | null): ConnectablePaymentProviderName {
  const found = connectedProviderNames.find((known) => known === name);
  if (found === undefined) throw new Error(`There is no payment provider ${name}.`);
  return found;
}

export interface ConnectPaymentProviderInput extends PaymentConnectionSecrets {
  readonly merchantId: string;
  readonly account: VerifiedPaymentProviderAccount;
}

interface ConnectionCommandContext {
  /**
   * The only merchant whose connections the caller may change; null if the caller may change those of all
   * merchants.
   */
  readonly merchantId: string | null;
  readonly now: Date;
  readonly keyring: EncryptionKeyring;
}

const signingSecretPattern = /^whsec_[\w+/=-]{8,200}$/;
const signingSecretText =
  'The signing secret must be "whsec_" and 8 to 200 letters, digits, "_", "-", "+", "/" or "=".';

export const findSigningSecretFaults = (field: string, secret: string | null | undefined): InputFieldErrors =>
  secret === null || secret === undefined || signingSecretPattern.test(secret)
    ? []
    : [createRequestBodyErrorDetail(field, "pattern_mismatch", signingSecretText)];

/**
 * Connects an account whose secret key the payment provider has verified, and ends the active connection to
 * another account. For an account that was connected before, the newest connection becomes active with the
 * new key. Its earlier payments and its webhooks then work again. A left-out signing secret leaves the stored
 * signing secret unchanged. Returns the id of the connection.
 */
export async function connectPaymentProvider(
  transaction: Transaction,
  context: ConnectionCommandContext,
  { merchantId, account, secretKey, signingSecret }: ConnectPaymentProviderInput,
): Promise<string> {
  const { now, keyring } = context;
  await lockMerchantOfMode(transaction, context, { merchantId, mode: account.mode });
  const active = await lockActiveConnection(transaction, merchantId);
  const beforeId = await findNewestConnectionId(transaction, merchantId, account);
  if (active !== undefined && active.id !== beforeId) await endConnection(transaction, active.id, now);
  const before =
    beforeId === undefined ? undefined : await loadDecryptedPaymentConnection(transaction, keyring, beforeId);
  const id = before?.id ?? createId("paymentConnection", now.getTime());
  const secret = signingSecret ?? before?.signingSecret ?? null;
  const values = {
    ...account,
    keyHint: secretKey.slice(-4),
    hasSigningSecret: secret !== null,
    ...keyring.seal([secretKey, secret ?? ""].join("\n"), getPaymentConnectionEncryptionContext(id)),
    disconnectedAt: null,
    updatedAt: now,
  };
  if (before === undefined)
    await transaction
      .insertInto("paymentConnection")
      .values({ id, merchantId, ...values, eventsReadUntil: now, createdAt: now })
      .execute();
  else
    await transaction
      .updateTable("paymentConnection")
      .set({ ...values, version: before.version + 1 })
      .where("id", "=", id)
      .execute();
  return id;
}

async function findNewestConnectionId(
  transaction: Transaction,
  merchantId: string,
  { provider, accountId }: VerifiedPaymentProviderAccount,
): Promise<string | undefined> {
  const row = await transaction
    .selectFrom("paymentConnection")
    .select("id")
    .where("merchantId", "=", merchantId)
    .where("provider", "=", provider)
    .where("accountId", "=", accountId)
    .orderBy(sql`disconnected_at is null`, "desc")
    .orderBy("createdAt", "desc")
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.id;
}

/**
 * Ends the merchant's active payment connection. Payments of this connection can still be captured, voided
 * and refunded.
 */
export async function disconnectPaymentProvider(
  transaction: Transaction,
  context: Omit<ConnectionCommandContext, "keyring">,
  { merchantId, connectionId }: { readonly merchantId: string; readonly connectionId: string },
): Promise<void> {
  await lockMerchantOfMode(transaction, context, { merchantId });
  const active = await lockActiveConnection(transaction, merchantId);
  if (active?.id !== connectionId)
    throw createFailure("invalid_state", { message: "The merchant has no active connection with this id." });
  await endConnection(transaction, active.id, context.now);
}

/**
 * Locks the merchant's row, so that two concurrent commands cannot both insert an active connection. Throws
 * if the caller may not change the merchant, or if `mode` is not the merchant's mode.
 */
async function lockMerchantOfMode(
  transaction: Transaction,
  access: Pick<ConnectionCommandContext, "merchantId">,
  { merchantId, mode }: { readonly merchantId: string; readonly mode?: "live" | "test" },
): Promise<void> {
  if (access.merchantId !== null && access.merchantId !== merchantId)
    throw createFailure("merchant_not_found");
  const merchant = await transaction
    .selectFrom("merchant")
    .select("mode")
    .where("id", "=", blankIdWithForbiddenCharacters(merchantId))
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (merchant === undefined) throw createFailure("merchant_not_found");
  if (mode === undefined || mode === merchant.mode) return;
  throw createInvalidFieldFailure("invalid_field", "/secretKey", {
    code: "wrong_mode",
    message: `"secretKey" must be a key of the ${merchant.mode} mode, because the merchant is in ${merchant.mode} mode.`,
  });
}

const lockActiveConnection = (
  transaction: Transaction,
  merchantId: string,
): Promise<Pick<PaymentConnectionRow, "id"> | undefined> =>
  transaction
    .selectFrom("paymentConnection")
    .select("id")
    .where("merchantId", "=", merchantId)
    .where("disconnectedAt", "is", null)
    .forNoKeyUpdate()
    .executeTakeFirst();

async function endConnection(transaction: Transaction, id: string, now: Date): Promise<void> {
  await transaction
    .updateTable("paymentConnection")
    .set((row) => ({ disconnectedAt: now, updatedAt: now, version: row("version", "+", 1) }))
    .where("id", "=", id)
    .execute();
}
