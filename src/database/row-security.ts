/**
 * Row level security: a transaction that belongs to one merchant can lock and change only rows of this
 * merchant (migration 0047). The setting `commerce.merchant` names the merchant. It is set for a transaction
 * and not for a session, so that a connection of a pool, or of a transaction pooler, never carries it to
 * another caller.
 */
import { CompiledQuery } from "kysely";
import { getSqlState } from "./database-errors.ts";

/**
 * Begins a transaction that belongs to one merchant. Both statements are sent as one text, so that the
 * setting costs neither a round trip nor a message of its own. `$1` is a placeholder of `fillInMerchantId`.
 */
const beginText = "begin; set local commerce.merchant = '$1'";

export const createBeginForMerchantQuery = (merchantId: string): CompiledQuery =>
  CompiledQuery.raw(beginText, [merchantId]);

/** Names the merchant of an open transaction, for example because its idempotency key was locked before. */
export const createMerchantSettingQuery = (merchantId: string): CompiledQuery =>
  CompiledQuery.raw("select set_config('commerce.merchant', $1, true)", [merchantId]);

const idPattern = /^[\w-]+$/;

/**
 * Returns the text to send for a query of `createBeginForMerchantQuery`; undefined for every other query. The
 * id of the merchant is written into the text, because PostgreSQL accepts no parameters with several
 * statements in one text. An id with other characters than those of ids names no merchant, so `none` takes
 * its place. Logs and traces have the text with the placeholder.
 */
export function fillInMerchantId(text: string, [merchantId]: readonly unknown[]): string | undefined {
  if (text !== beginText) return undefined;
  const isId = typeof merchantId === "string" && idPattern.test(merchantId);
  return text.replace("$1", isId ? merchantId : "none");
}

/**
 * Returns whether PostgreSQL refused to write a row because it belongs to another merchant than the
 * transaction. PostgreSQL reports this with the SQLSTATE 42501 (insufficient privilege), which it also uses
 * if the role has no rights on the table. Only a refused row is reported by the server's C function
 * `ExecWithCheckOptions`, whose name every error contains in the field `routine`. The message cannot be
 * compared, because its language depends on the server's settings.
 */
export function isRowOfOtherMerchantError(error: unknown): error is Error {
  return (
    getSqlState(error) === "42501" &&
    error instanceof Error &&
    "routine" in error &&
    error.routine === "ExecWithCheckOptions"
  );
}
