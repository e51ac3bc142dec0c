/**
 * All that an erasure needs to know, found before its transaction begins: a merchant's kept answers are many, and to open each takes longer than anybody's
 * cart shall be locked.
 */
import { sql } from "kysely";
import { findPersonalData, openPersonalData } from "#commerce/addresses/personal-data.ts";
import type { Database } from "#database/connect.ts";
import { findRecords, type RecordKey } from "#database/idempotency.ts";
import type { Reader } from "#database/transaction.ts";
import { DecryptionFailed, type Keyring } from "#foundation/encryption.ts";
import { type ErasureScope, type ErasureTarget, findErasureScope } from "./erasure-scope.ts";
import { findTraces, type Traces } from "./erasure-traces.ts";

export interface ErasureFinds {
  readonly scope: ErasureScope;
  readonly traces: Traces;
  /** Answers that were kept for retries and tell of the buyer. */
  readonly answers: readonly RecordKey[];
  /** What is kept since then may not have been looked at. */
  readonly lookedUpTo: Date;
}

interface Looking {
  readonly target: ErasureTarget;
  readonly now: Date;
}

/** A request has its time from when it came, and by the clock of its process: so long, at most, until its answer can be seen. */
const lateMsMax = 600_000;

export async function findForErasure(db: Database, keyring: Keyring, { target, now }: Looking): Promise<ErasureFinds> {
  const scope = await findErasureScope(db, target);
  const traces = await tracesOf(db, keyring, scope);
  const answers = await findRecords(db, keyring, { ownerIds: await whoWasTold(db, scope.merchantId), holds: traces.isIn });
  return { scope, traces, answers, lookedUpTo: new Date(now.getTime() - lateMsMax) };
}

/** What is erased does not open a second time; what does not open at all is found by its ids alone. */
async function tracesOf(reader: Reader, keyring: Keyring, scope: ErasureScope): Promise<Traces> {
  const rows = await findPersonalData(reader, scope.personalIds);
  const opened = [...rows.values()].flatMap((row) => {
    try {
      return openPersonalData(keyring, row) ?? [];
    } catch (error) {
      if (error instanceof DecryptionFailed) return [];
      throw error;
    }
  });
  return findTraces([...scope.cartIds, ...scope.orderIds, ...scope.personalIds], opened);
}

/** Or may have been: the merchant's installations and tokens, and the platform's tokens. */
export async function whoWasTold(reader: Reader, merchantId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from installation where merchant_id = ${merchantId}
    union all select id from internal_token where merchant_id = ${merchantId} or merchant_id is null`.execute(reader);
  return rows.map(({ id }) => id);
}
