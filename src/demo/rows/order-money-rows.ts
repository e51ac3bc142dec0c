/**
 * Creates the payments of the demo's orders, and the records of the built-in payment provider about them. For
 * generated orders, these are database rows; for order scenarios, they are results of payment operations.
 */
import { sql } from "kysely";
import type { OrderCommandContext } from "#commerce/orders/change-order.ts";
import { savePaymentOperationOutcome } from "#commerce/orders/payment/settle-payment.ts";
import type { PaymentOperationOutcome } from "#commerce/payments/execute-payment-operation.ts";
import type { ClaimedPaymentOperation } from "#commerce/payments/payment-operations.ts";
import type { Transaction } from "#database/transaction.ts";
import { createLog } from "#foundation/log.ts";
import type { OrderLine, OrderPayment } from "#commerce/orders/order-aggregate.ts";
import { derivePaymentStatus } from "#commerce/payments/payment-rows.ts";
import { createId } from "#foundation/ids.ts";
import type { DemoTableRowToInsert } from "./insert-rows.ts";
import type { DemoOrderRowIds, DemoOrderHistory, DemoOrderHistoryStep } from "./order-stages.ts";

export interface DemoPaymentAndRefundRows {
  readonly payment: DemoTableRowToInsert<"payment">;
  readonly paymentOperation: readonly DemoTableRowToInsert<"paymentOperation">[];
  readonly testProviderPayment: DemoTableRowToInsert<"testProviderPayment">;
  readonly testProviderEntry: readonly DemoTableRowToInsert<"testProviderEntry">[];
  readonly refund: readonly DemoTableRowToInsert<"refund">[];
  /** The order's payments as part of the order. The order's statuses are derived from them. */
  readonly orderPayments: readonly OrderPayment[];
}

/** The values of an order from which its payment, refunds and provider records are created. */
export interface CreatePaymentAndRefundRowsInput {
  readonly ids: DemoOrderRowIds;
  readonly history: DemoOrderHistory;
  readonly lines: readonly OrderLine[];
  readonly currency: string;
  readonly totalMinor: number;
}

type PaymentAmounts = Pick<OrderPayment, "amountMinor" | "capturedMinor" | "voidedMinor" | "refundedMinor">;

export function createDemoPaymentAndRefundRows(
  input: CreatePaymentAndRefundRowsInput,
): DemoPaymentAndRefundRows {
  const { ids, history, currency } = input;
  const amounts = computePaymentAmounts(input);
  const payment = createPaymentRow(input, amounts);
  const operations = createOperationRows(history, {
    amounts,
    paymentId: payment.id,
    merchantId: ids.merchantId,
  });
  const createdAt = history.timeOf("place");
  return {
    payment,
    paymentOperation: operations,
    testProviderPayment: {
      reference: payment.id,
      token: "tok_success",
      status: amounts.voidedMinor === amounts.amountMinor ? "voided" : "authorized",
      currency,
      ...amounts,
      decidedAt: createdAt,
      createdAt,
    },
    testProviderEntry: operations.map(({ id, kind, amountMinor, createdAt: at }) => ({
      idempotencyKey: id,
      reference: payment.id,
      kind,
      amountMinor,
      outcome: kind === "authorize" ? "authorized" : "succeeded",
      createdAt: at,
    })),
    refund: operations
      .filter(({ kind }) => kind === "refund")
      .map((operation) => createRefundRow(operation, input)),
    orderPayments: [toOrderPayment(payment, amounts)],
  };
}

function computePaymentAmounts({
  history: { stage, steps },
  lines,
  totalMinor,
}: CreatePaymentAndRefundRowsInput): PaymentAmounts {
  const capturedMinor = steps.includes("capture") ? totalMinor : 0;
  const returnedMinor = stage === "returned" ? lines.reduce((sum, line) => sum + line.reducedMinor, 0) : 0;
  return {
    amountMinor: totalMinor,
    capturedMinor,
    voidedMinor: stage === "canceled" ? totalMinor : 0,
    refundedMinor: stage === "refunded" ? totalMinor : returnedMinor,
  };
}

function createPaymentRow(
  { ids, history, currency }: CreatePaymentAndRefundRowsInput,
  amounts: PaymentAmounts,
): DemoTableRowToInsert<"payment"> {
  const { merchantId, sessionId, orderId } = ids;
  const createdAt = history.timeOf("place");
  return {
    id: createId("payment", createdAt.getTime()),
    merchantId,
    sessionId,
    orderId,
    provider: "test",
    methodType: "card",
    status: derivePaymentStatus(amounts),
    currency,
    ...amounts,
    version:
      2 +
      history.steps.filter((step) => step === "capture" || step === "closeReturn" || step === "cancel")
        .length,
    createdAt,
    updatedAt: history.timeOf(history.steps.at(-1) ?? "place"),
  };
}

function toOrderPayment(
  { id, createdAt, updatedAt, version }: DemoTableRowToInsert<"payment">,
  amounts: PaymentAmounts,
): OrderPayment {
  return {
    id,
    ...amounts,
    status: derivePaymentStatus(amounts),
    provider: "test",
    methodType: "card",
    failureCode: null,
    disputedAt: null,
    disputeReason: null,
    version: version ?? 1,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
    pending: [],
  };
}

interface OperationInput {
  readonly amounts: PaymentAmounts;
  readonly paymentId: string;
  readonly merchantId: string;
}

/**
 * Creates the order's payment operations (for example authorization and capture). All of them have the status
 * "succeeded".
 */
function createOperationRows(
  history: DemoOrderHistory,
  { amounts, paymentId, merchantId }: OperationInput,
): DemoTableRowToInsert<"paymentOperation">[] {
  const operations: readonly (readonly [
    kind: DemoTableRowToInsert<"paymentOperation">["kind"],
    amountMinor: number,
    step: DemoOrderHistoryStep,
  ])[] = [
    ["authorize", amounts.amountMinor, "place"],
    ["capture", amounts.capturedMinor, "capture"],
    ["void", amounts.voidedMinor, "cancel"],
    ["refund", amounts.refundedMinor, history.stage === "returned" ? "closeReturn" : "cancel"],
  ];
  return operations
    .filter(([, amountMinor]) => amountMinor > 0)
    .map(([kind, amountMinor, step]) => {
      const settledAt = history.timeOf(step);
      const id = createId("paymentOperation", settledAt.getTime());
      return {
        id,
        merchantId,
        paymentId,
        kind,
        amountMinor,
        status: "succeeded",
        attempts: 1,
        dueAt: settledAt,
        createdAt: settledAt,
        settledAt,
      };
    });
}

/**
 * Creates the refund that belongs to a payment operation. For a return, one unit is refunded; for a
 * cancellation, the whole order including shipping.
 */
function createRefundRow(
  { id: operationId, paymentId, amountMinor, createdAt }: DemoTableRowToInsert<"paymentOperation">,
  input: CreatePaymentAndRefundRowsInput,
): DemoTableRowToInsert<"refund"> {
  const { ids, history, lines, currency } = input;
  const isReturn = history.stage === "returned";
  const parts = lines
    .filter((line) => line.reducedMinor > 0)
    .map((line) => ({
      lineId: line.id,
      quantity: isReturn ? line.returned : line.canceled,
      amountMinor: line.reducedMinor,
    }));
  return {
    id: createId("refund", createdAt.getTime()),
    merchantId: ids.merchantId,
    paymentId,
    orderId: ids.orderId,
    returnId: isReturn ? ids.returnId : null,
    operationId,
    status: "succeeded",
    amountMinor,
    currency,
    reason: isReturn ? "unwanted" : "changed_mind",
    note: null,
    lines: parts,
    shippingMinor: amountMinor - parts.reduce((sum, part) => sum + part.amountMinor, 0),
    version: 2,
    createdAt,
    updatedAt: createdAt,
  };
}

/**
 * The payment token of every order scenario. The built-in payment provider authorizes every payment with this
 * token.
 */
export const demoPaymentToken = "tok_success";

interface SettlementInput {
  readonly sessionId: string;
  /**
   * True if the payment provider captures the payment together with its authorization, as for a bank
   * transfer. If left out, the payment is only authorized.
   */
  readonly isCaptured?: boolean;
}

/**
 * Records success for all pending operations of a checkout session's payment. Also adds the payment to the
 * records of the built-in payment provider, so that the provider can process later operations of this
 * payment.
 */
export async function markPendingPaymentOperationsSucceeded(
  transaction: Transaction,
  context: OrderCommandContext,
  { sessionId, isCaptured = false }: SettlementInput,
): Promise<void> {
  const { rows } = await sql<ClaimedPaymentOperation>`
    update payment_operation o set attempts = 1 from payment p
    where p.id = o.payment_id and p.session_id = ${sessionId} and o.status = 'pending'
    returning o.id, o.merchant_id, o.payment_id, o.kind, o.amount_minor, p.currency, o.attempts, o.created_at,
    false as is_abandoned,
      p.token_sealed, p.token_data_key, p.token_key_id`.execute(transaction);
  for (const operation of rows) {
    const capturedMinor = isCaptured ? operation.amountMinor : 0;
    await writeProviderRecords(transaction, operation, capturedMinor);
    await savePaymentOperationOutcome(transaction, context, {
      operation,
      outcome: createOutcome(operation, capturedMinor),
      log,
    });
  }
}

/**
 * A log that writes nothing: the payment operations of the demo data never fail, so there is nothing to
 * report.
 */
const log = createLog("silent", { write: () => undefined });

function createOutcome(
  { kind, amountMinor }: ClaimedPaymentOperation,
  capturedMinor: number,
): PaymentOperationOutcome {
  if (kind !== "authorize") return { outcome: "succeeded" };
  return { outcome: "authorized", amountMinor, capturedMinor, voidedMinor: 0, refundedMinor: 0 };
}

async function writeProviderRecords(
  transaction: Transaction,
  { id, paymentId, kind, amountMinor, currency, createdAt }: ClaimedPaymentOperation,
  capturedMinor: number,
): Promise<void> {
  const amountOfKind = (name: ClaimedPaymentOperation["kind"]): number => (kind === name ? amountMinor : 0);
  await sql`
    with entry as (
      insert into test_provider_entry (idempotency_key, reference, kind, amount_minor, outcome, created_at)
      values (${id}, ${paymentId}, ${kind}, ${amountMinor},
      ${kind === "authorize" ? "authorized" : "succeeded"}, ${createdAt}))
    insert into test_provider_payment as b (reference, token, status, currency, amount_minor, captured_minor,
    decided_at, created_at)
    values (${paymentId}, ${demoPaymentToken}, 'authorized', ${currency}, ${amountMinor}, ${capturedMinor},
    ${createdAt}, ${createdAt})
    on conflict (reference) do update set captured_minor = b.captured_minor + ${amountOfKind("capture")},
    voided_minor = b.voided_minor + ${amountOfKind("void")},
      refunded_minor = b.refunded_minor + ${amountOfKind("refund")},
      status = case when b.voided_minor + ${amountOfKind("void")} = b.amount_minor then 'voided'
      else 'authorized' end`.execute(transaction);
}
