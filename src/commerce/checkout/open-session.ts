/**
 * Locks a checkout session and its cart, the cart first, and reads both, in the round trip with which a
 * transaction begins.
 */
import { buildCartOfCheckoutSessionSqlQuery, type CartsByIdSqlQueryRow } from "#commerce/carts/find-carts.ts";
import type { DatabaseOrTransaction, RowLockWithReadQuery, Transaction } from "#database/transaction.ts";
import { blankIdWithForbiddenCharacters } from "#foundation/ids.ts";
import {
  buildCheckoutSessionsByIdSqlQuery,
  type CheckoutSessionRow,
  type LockedCartAndCheckoutSession,
  toCheckoutSessionAggregate,
} from "./session-aggregate.ts";

interface CheckoutSessionToOpen {
  readonly sessionId: string;
  readonly merchantId: string;
  readonly now: Date;
}

const openedSessions = new WeakMap<Transaction, LockedCartAndCheckoutSession>();

export function createCheckoutSessionLockAndPreloadQuery(
  reader: DatabaseOrTransaction,
  { sessionId, merchantId, now }: CheckoutSessionToOpen,
): RowLockWithReadQuery {
  const id = blankIdWithForbiddenCharacters(sessionId);
  return {
    row: { table: "hosted_checkout_session", id, merchantId },
    reads: [
      buildCartOfCheckoutSessionSqlQuery(reader, id, now),
      buildCheckoutSessionsByIdSqlQuery(reader, [id]),
    ],
    receive: (transaction, [carts = [], sessions = []]) => {
      const [[row], [session]] = [
        carts as readonly CartsByIdSqlQueryRow[],
        sessions as readonly CheckoutSessionRow[],
      ];
      if (row !== undefined && session !== undefined)
        openedSessions.set(transaction, { cart: row.cart, session: toCheckoutSessionAggregate(session) });
    },
  };
}

/**
 * Returns the checkout session and its cart that the transaction has locked and read; undefined if it has not
 * locked this session. Returns them only once, because the transaction may change them afterwards.
 */
export function takePreloadedCheckoutSession(
  transaction: Transaction,
  sessionId: string,
): LockedCartAndCheckoutSession | undefined {
  const opened = openedSessions.get(transaction);
  openedSessions.delete(transaction);
  return opened?.session.id === sessionId ? opened : undefined;
}
