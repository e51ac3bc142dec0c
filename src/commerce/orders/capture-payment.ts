/** Takes money that was authorized. Here the provider is asked for it; what it answers is written when it has answered. */
import { requireNoFaults } from "#foundation/faults.ts";
import { queueOperation } from "#commerce/payments/payment-operations.ts";
import type { Transaction } from "#database/transaction.ts";
import { money } from "#foundation/money.ts";
import { changeLocked, type OrderTenant } from "./change-order.ts";
import { amountFaults, type AmountInput, refuseOrder, requireCurrency, requireNoDispute } from "./order-checks.ts";
import type { OrderAggregate } from "./order-aggregate.ts";
import { capturableMinor, lockWithOrder, type PaymentOfOrder, type PaymentTarget } from "./order-payment.ts";

export interface PaymentCaptureInput extends PaymentTarget {
  /** Left out: all that is authorized and still owed. */
  readonly amount?: AmountInput | null | undefined;
}

export async function capturePayment(transaction: Transaction, tenant: OrderTenant, input: PaymentCaptureInput): Promise<OrderAggregate> {
  requireNoFaults(amountFaults(input.amount));
  const found = await lockWithOrder(transaction, tenant, input.paymentId);
  requireCurrency(found.order, input.amount);
  const amountMinor = amountToCapture(found, input.amount?.amountMinor);
  const { merchantId, now, events } = tenant;
  return changeLocked(transaction, tenant, {
    order: found.order,
    expectedVersion: input.expectedVersion,
    work: async () => {
      await queueOperation(transaction, { merchantId, paymentId: found.payment.id, kind: "capture", amountMinor, now, events });
      return { happenings: [] };
    },
  });
}

function amountToCapture(found: PaymentOfOrder, asked: number | undefined): number {
  const { order } = found;
  requireNoDispute(order);
  const capturable = capturableMinor(found);
  if (capturable > 0 && (asked ?? capturable) <= capturable) return asked ?? capturable;
  const isNothing = capturable === 0;
  throw refuseOrder("invalid_state", order, {
    reason: isNothing ? "nothing_to_capture" : "capture_exceeds_authorized",
    message: isNothing ? "Nothing is authorized that is still owed." : "That is more than is authorized and still owed.",
    data: { capturable: money(capturable, order.currency) },
  });
}
