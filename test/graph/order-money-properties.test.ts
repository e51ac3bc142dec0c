/**
 * Property test: after captures, voids, cancellations, refunds and shipments in any order, the money, units
 * and stock of an order add up.
 */
import { sql } from "kysely";
import fc from "fast-check";
import { beforeAll, expect, it } from "vitest";
import { computeRefundableOrderAmountMinor } from "#commerce/orders/order-value.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { runInTransaction } from "#database/transaction.ts";
import { makePromotion } from "#test/operations/cart-calls.ts";
import { readOrder } from "#test/support/orders.ts";
import "#test/support/properties.ts";
import { useWorld } from "#test/support/use-world.ts";
import {
  call,
  expectBalance,
  makeOrder,
  type OrderMutation,
  paymentOf,
  type Stock,
  stockWithout,
} from "./order-money-calls.ts";

const world = useWorld();
const skus = ["KIT-KVERN", "KIT-EMALJE-WHITE"] as const;

/** A discount that makes no line divisible by its units. */
beforeAll(async () => void (await makePromotion(world(), { kind: "PERCENTAGE", basisPoints: 785 })));

const line = fc.nat(1);
const quantity = fc.integer({ min: 1, max: 3 });
const amountMinor = fc.integer({ min: 1, max: 12_000 });
const act = fc.oneof(
  fc.record({ act: fc.constant("capture" as const), amountMinor: fc.option(amountMinor) }),
  fc.record({ act: fc.constant("void" as const) }),
  { weight: 3, arbitrary: fc.record({ act: fc.constant("cancel" as const), line, quantity }) },
  {
    weight: 2,
    arbitrary: fc.record({ act: fc.constant("refund" as const), line, quantity, shipping: fc.boolean() }),
  },
  fc.record({ act: fc.constant("forgive" as const), amountMinor }),
  { weight: 2, arbitrary: fc.record({ act: fc.constant("send" as const), line }) },
  { weight: 4, arbitrary: fc.record({ act: fc.constant("settle" as const) }) },
);
type Act = typeof act extends fc.Arbitrary<infer One> ? One : never;

it("orders keep their money balance after any sequence of captures, refunds and cancellations", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom("authorized" as const, "captured" as const),
      fc.integer({ min: 0, max: 3 }),
      fc.array(act, { minLength: 4, maxLength: 14 }),
      async (payment, allocated, history) => {
        const order = await makeOrder(world(), {
          payment,
          lines: { [skus[0]]: 2, [skus[1]]: 3 },
          quantities: { [skus[1]]: { allocated } },
        });
        expect(order.lines.map(({ totalMinor, ordered }) => totalMinor % ordered)).toEqual([1, 2]);
        const before = await stocks(order.id);
        for (const step of history) {
          await take(order, step);
          await expectWhole(order.id, before);
        }
        await world().app.payments.drive();
        expect((await expectWhole(order.id, before)).payments.flatMap(({ pending }) => pending)).toEqual([]);
      },
    ),
    // Shrinking takes longer than the test's time limit, and the histories are short enough to read.
    { numRuns: 12, endOnFailure: true },
  );
}, 60_000);

async function take(order: OrderAggregate, step: Act): Promise<void> {
  const of = (index: number): string => order.lines[index]?.id ?? "";
  const amount = (minor: number): object => ({ amount: { amountMinor: minor, currency: "EUR" } });
  if (step.act === "settle") return world().app.payments.drive();
  if (step.act === "send") return send(order, of(step.line));
  const lines = "quantity" in step ? [{ lineId: of(step.line), quantity: step.quantity }] : [];
  const calls: Readonly<Record<typeof step.act, readonly [OrderMutation, object]>> = {
    capture: [
      "paymentCapture",
      "amountMinor" in step && step.amountMinor !== null ? amount(step.amountMinor) : {},
    ],
    void: ["paymentVoid", {}],
    cancel: ["orderCancel", { lines, reason: "OTHER" }],
    refund: ["refundCreate", { lines, shipping: step.act === "refund" && step.shipping, reason: "OTHER" }],
    forgive: [
      "refundCreate",
      { ...amount("amountMinor" in step ? (step.amountMinor ?? 1) : 1), reason: "OTHER" },
    ],
  };
  const [field, input] = calls[step.act];
  const id = field === "paymentCapture" || field === "paymentVoid" ? paymentOf(order).id : order.id;
  const { error } = await call(world(), field, { id, input: { ...input } });
  expect([undefined, "invalid_state"]).toContain(error?.code);
}

/** Ships all allocated units of a line. */
async function send({ id }: OrderAggregate, lineId: string): Promise<void> {
  await runInTransaction(world().database.db, async (transaction) => {
    await sql`update order_line set shipped = allocated where id = ${lineId}`.execute(transaction);
    await sql`update sales_order set version = version + 1 where id = ${id}`.execute(transaction);
  });
}

const stocks = (orderId: string): Promise<Stock[]> =>
  Promise.all(skus.map((sku) => stockWithout(world(), orderId, sku)));

async function expectWhole(orderId: string, before: readonly Stock[]): Promise<OrderAggregate> {
  const order = await readOrder(world(), orderId);
  expectBalance(order);
  const { amountMinor: authorized, capturedMinor, voidedMinor, refundedMinor, pending } = paymentOf(order);
  const pendingMinor = (kind: string): number =>
    pending.reduce((sum, operation) => (operation.kind === kind ? sum + operation.amountMinor : sum), 0);
  expect(capturedMinor + voidedMinor + pendingMinor("capture") + pendingMinor("void")).toBeLessThanOrEqual(
    authorized,
  );
  expect(refundedMinor + pendingMinor("refund")).toBeLessThanOrEqual(capturedMinor);
  // After all pending requests are answered, the buyer has paid no more than is owed.
  expect(computeRefundableOrderAmountMinor(order) + pendingMinor("capture")).toBeLessThanOrEqual(
    order.totalMinor - order.reducedMinor,
  );
  const ofLines = order.lines.reduce(
    (sum, { reducedMinor }) => sum + reducedMinor,
    order.shippingReducedMinor,
  );
  expect(order.reducedMinor).toBeGreaterThanOrEqual(Math.min(ofLines, order.totalMinor));
  for (const { canceled, refunded, ordered, totalMinor, reducedMinor } of order.lines) {
    const gone = canceled + refunded;
    expect(gone).toBeLessThanOrEqual(ordered);
    // The reduced amount is the share of the reduced units, rounded down once, in however many steps they
    // were reduced.
    expect(reducedMinor).toBe(Math.floor((totalMinor * gone) / ordered));
  }
  expect(await stocks(orderId)).toEqual(before);
  return order;
}
