/**
 * Compares the payments of the database with the objects of the fake Stripe, when nothing is running any
 * more.
 */
import { sql } from "kysely";
import type { Database } from "#database/connect.ts";
import type { FakeStripe } from "#test/stripe/fake-stripe.ts";
import type { FakeIntent } from "#test/stripe/fake-state.ts";

interface PaymentFacts {
  readonly id: string;
  readonly sessionId: string;
  readonly orderId: string | null;
  readonly status: string;
  readonly amountMinor: number;
  readonly capturedMinor: number;
  readonly voidedMinor: number;
  readonly refundedMinor: number;
  readonly pendingOperations: number;
}

/** Returns the payments whose money here and at Stripe differs, and payments or refunds that were made twice. */
export async function findStripeFaults(db: Database, { state }: FakeStripe): Promise<string[]> {
  const { rows } = await sql<PaymentFacts>`
    select p.id, p.session_id, p.order_id, p.status, p.amount_minor, p.captured_minor, p.voided_minor,
      p.refunded_minor, (select count(*)::int from payment_operation o
        where o.payment_id = p.id and o.status = 'pending') as pending_operations
    from payment p where p.provider = 'stripe'`.execute(db);
  const pages = Map.groupBy(state.sessions.values(), (session) => session.client_reference_id ?? "");
  const intents = Map.groupBy(state.intents.values(), (intent) => intent.metadata["commerce_payment"] ?? "");
  const refunded = (intent: FakeIntent): number => state.refundedOf(intent);
  const held = (id: string): FakeIntent[] =>
    (intents.get(id) ?? []).filter(({ status }) => status === "requires_capture" || status === "succeeded");
  const faults = rows.flatMap((payment) => [
    ...(payment.pendingOperations > 0 ? [`${payment.id} has a pending operation.`] : []),
    ...((pages.get(payment.id) ?? []).length > 1 ? [`Stripe has two pages for ${payment.id}.`] : []),
    ...faultsOfMoney(payment, held(payment.id), refunded),
  ]);
  const known = new Set(rows.map(({ id }) => id));
  const strangers = [...intents.keys()].filter((id) => !known.has(id));
  const paidTwice = [
    ...Map.groupBy(
      rows.filter(({ id }) => held(id).length > 0),
      ({ sessionId }) => sessionId,
    ),
  ]
    .filter(([, payments]) => payments.length > 1)
    .map(([sessionId]) => `The session ${sessionId} was paid twice.`);
  const operations = Map.groupBy(state.refunds.values(), ({ metadata }) => metadata?.["commerce_operation"]);
  const doubled = [...operations]
    .filter(([, refunds]) => refunds.length > 1)
    .map(([operation]) => `The refund of ${operation} was made twice.`);
  return [
    ...faults,
    ...strangers.map((id) => `Stripe has a payment that the service does not know: ${id}.`),
    ...paidTwice,
    ...doubled,
  ];
}

function faultsOfMoney(
  payment: PaymentFacts,
  held: readonly FakeIntent[],
  refunded: (intent: FakeIntent) => number,
): string[] {
  const [intent] = held;
  if (payment.orderId === null)
    return intent !== undefined && intent.amount_received - refunded(intent) + intent.amount_capturable > 0
      ? [`Stripe holds the money of ${payment.id}, which has no order.`]
      : [];
  if (intent === undefined || held.length > 1)
    return [`Stripe holds ${held.length} payments for ${payment.id}.`];
  const there = [intent.amount, intent.amount_received, refunded(intent)].join(" ");
  const here = [payment.amountMinor, payment.capturedMinor, payment.refundedMinor].join(" ");
  return there === here ? [] : [`${payment.id} is ${here} here, but ${there} at Stripe.`];
}
