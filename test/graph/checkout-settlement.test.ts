/**
 * The provider's results of captures, voids and refunds change the order once, with a new version, the
 * statuses and an event.
 */
import { expect, it } from "vitest";
import type { PaymentProvider } from "#commerce/payments/provider.ts";
import {
  type Checkout,
  drive,
  ledgerOf,
  lost,
  openCheckout,
  paymentsOf,
  submitted,
  publishedEventTypes,
} from "#test/commerce/payments/checkouts.ts";
import { askGraph } from "#test/operations/cart-calls.ts";
import { useWorld } from "#test/support/use-world.ts";
import { call, type OrderMutation } from "./order-money-calls.ts";

const getWorld = useWorld();

interface Placed extends Checkout {
  readonly orderId: string;
  readonly paymentId: string;
  readonly amountMinor: number;
}

async function placed(): Promise<Placed> {
  const world = getWorld();
  const checkout = await openCheckout(world);
  await submitted(world, checkout, "tok_success");
  await drive(world);
  const { id: paymentId, orderId } = await world.database.db
    .selectFrom("payment")
    .select(["id", "orderId"])
    .where("sessionId", "=", checkout.id)
    .executeTakeFirstOrThrow();
  return { ...checkout, paymentId, orderId: orderId ?? "", amountMinor: checkout.amountTotal.amountMinor };
}

async function ask(field: OrderMutation, id: string, input: object = {}): Promise<void> {
  getWorld().clock.advance(1);
  const { error } = await call(getWorld(), field, { id, input: { ...input } });
  expect(error).toBeUndefined();
}

const driveLater = (behave?: (provider: PaymentProvider) => Partial<PaymentProvider>): Promise<void> => {
  getWorld().clock.advance(1);
  return drive(getWorld(), behave);
};

// eslint-disable-next-line typescript/no-explicit-any -- Tests look into answers of any shape.
async function orderOf({ orderId }: Placed): Promise<any> {
  const query = `query ($id: ID!) { order(id: $id) { version status paymentStatus totals { refunded {
    amountMinor } outstanding { amountMinor } }
    refunds { status amount { amountMinor } } timeline { type } } }`;
  return (await askGraph(getWorld(), query, { id: orderId }, { token: "admin" })).data;
}

it("a capture makes the order paid, one version later", async () => {
  const world = getWorld();
  const order = await placed();
  const { amountMinor } = order;
  await ask("paymentCapture", order.paymentId);
  const before = await orderOf(order);
  await driveLater();
  await driveLater();
  expect(await orderOf(order)).toMatchObject({
    version: before.version + 1,
    paymentStatus: "PAID",
    totals: { outstanding: { amountMinor: 0 } },
  });
  expect(await paymentsOf(world, order)).toMatchObject([{ status: "captured", capturedMinor: amountMinor }]);
  expect(await ledgerOf(world, order)).toEqual([
    `authorize ${amountMinor} authorized`,
    `capture ${amountMinor} succeeded`,
  ]);
  expect((await publishedEventTypes(world, order)).slice(-2).toSorted()).toEqual([
    "order.updated",
    "payment.captured",
  ]);
  expect((await orderOf(order)).timeline.at(-1)).toEqual({ type: "payment_captured" });
});

it("a capture whose answer was lost is repeated with the same key and captured once", async () => {
  const world = getWorld();
  const order = await placed();
  const { amountMinor } = order;
  await ask("paymentCapture", order.paymentId);
  await driveLater(({ capture }) => ({ capture: lost(capture) }));
  expect(await paymentsOf(world, order)).toMatchObject([{ status: "authorized", capturedMinor: 0 }]);
  world.clock.advance(1000);
  await drive(world);
  expect(await paymentsOf(world, order)).toMatchObject([{ status: "captured", capturedMinor: amountMinor }]);
  expect(await ledgerOf(world, order)).toEqual([
    `authorize ${amountMinor} authorized`,
    `capture ${amountMinor} succeeded`,
  ]);
});

it("a void cancels the payment and voids the order", async () => {
  const world = getWorld();
  const order = await placed();
  await ask("paymentVoid", order.paymentId);
  await driveLater();
  expect(await paymentsOf(world, order)).toMatchObject([
    { status: "canceled", voidedMinor: order.amountMinor, capturedMinor: 0 },
  ]);
  expect(await orderOf(order)).toMatchObject({ paymentStatus: "VOIDED" });
  expect((await publishedEventTypes(world, order)).slice(-2).toSorted()).toEqual([
    "order.updated",
    "payment.canceled",
  ]);
});

it("after a partial capture the rest stays authorized while it is owed, and is then voided", async () => {
  const world = getWorld();
  const order = await placed();
  const { amountMinor } = order;
  await ask("paymentCapture", order.paymentId, { amount: { amountMinor: 1000, currency: "EUR" } });
  await driveLater();
  await driveLater();
  expect(await paymentsOf(world, order)).toMatchObject([
    { status: "captured", capturedMinor: 1000, voidedMinor: 0 },
  ]);
  await ask("refundCreate", order.orderId, {
    amount: { amountMinor: 300, currency: "EUR" },
    reason: "REQUESTED_BY_CUSTOMER",
  });
  await driveLater();
  // 300 are refunded and no longer owed. The rest of the order's amount is still owed.
  await ask("paymentCapture", order.paymentId, {
    amount: { amountMinor: amountMinor - 1000, currency: "EUR" },
  });
  await driveLater();
  expect(await paymentsOf(world, order)).toMatchObject([
    { capturedMinor: amountMinor, voidedMinor: 0, refundedMinor: 300 },
  ]);
  expect(await orderOf(order)).toMatchObject({ totals: { outstanding: { amountMinor: 0 } } });
});

it.each(["accepts", "refuses"])(
  "the unneeded part of an authorization is voided when the provider %s the capture",
  async (answer) => {
    const world = getWorld();
    const order = await placed();
    const { amountMinor } = order;
    await ask("paymentCapture", order.paymentId, { amount: { amountMinor: 1000, currency: "EUR" } });
    // Simulates a cancellation during the capture: of everything if the capture is refused, else of all but
    // the captured amount.
    const owedMinor = answer === "accepts" ? 1000 : 0;
    await world.database.db
      .updateTable("salesOrder")
      .set((row) => ({ reducedMinor: amountMinor - owedMinor, version: row("version", "+", 1) }))
      .where("id", "=", order.orderId)
      .execute();
    await driveLater(() =>
      answer === "accepts"
        ? {}
        : { capture: async () => ({ outcome: "declined", code: "issuer_unavailable" }) },
    );
    await driveLater();
    expect(await ledgerOf(world, order)).toContain(`void ${amountMinor - owedMinor} succeeded`);
    expect(await paymentsOf(world, order)).toMatchObject([
      {
        status: answer === "accepts" ? "captured" : "canceled",
        capturedMinor: owedMinor,
        voidedMinor: amountMinor - owedMinor,
      },
    ]);
  },
);

it("a refund changes the refund, the payment and the order", async () => {
  const world = getWorld();
  const order = await placed();
  await ask("paymentCapture", order.paymentId);
  await driveLater();
  await ask("refundCreate", order.orderId, {
    amount: { amountMinor: 100, currency: "EUR" },
    reason: "REQUESTED_BY_CUSTOMER",
  });
  expect(await orderOf(order)).toMatchObject({ paymentStatus: "PAID", refunds: [{ status: "PENDING" }] });
  await driveLater();
  expect(await orderOf(order)).toMatchObject({
    paymentStatus: "PARTIALLY_REFUNDED",
    totals: { refunded: { amountMinor: 100 }, outstanding: { amountMinor: 0 } },
    refunds: [{ status: "SUCCEEDED", amount: { amountMinor: 100 } }],
  });
  expect(await paymentsOf(world, order)).toMatchObject([
    { status: "partially_refunded", refundedMinor: 100 },
  ]);
  expect((await publishedEventTypes(world, order)).slice(-2).toSorted()).toEqual([
    "order.updated",
    "refund.succeeded",
  ]);
});

it.each(["capture", "void"] as const)(
  "a %s that the provider refuses changes no amount and publishes an event",
  async (kind) => {
    const world = getWorld();
    const order = await placed();
    await ask(kind === "capture" ? "paymentCapture" : "paymentVoid", order.paymentId);
    await driveLater(() => ({ [kind]: async () => ({ outcome: "declined", code: "issuer_unavailable" }) }));
    expect(await paymentsOf(world, order)).toMatchObject([
      { status: "authorized", capturedMinor: 0, voidedMinor: 0, failureCode: "issuer_unavailable" },
    ]);
    expect(await orderOf(order)).toMatchObject({ paymentStatus: "AUTHORIZED" });
    expect((await publishedEventTypes(world, order)).slice(-2).toSorted()).toEqual([
      "order.updated",
      "payment.failed",
    ]);
  },
);

it("a refund that the provider refuses fails, and the money stays with the merchant", async () => {
  const world = getWorld();
  const order = await placed();
  await ask("paymentCapture", order.paymentId);
  await driveLater();
  await ask("refundCreate", order.orderId, {
    amount: { amountMinor: 100, currency: "EUR" },
    reason: "REQUESTED_BY_CUSTOMER",
  });
  await driveLater(() => ({ refund: async () => ({ outcome: "declined", code: "account_closed" }) }));
  expect(await orderOf(order)).toMatchObject({
    refunds: [{ status: "FAILED" }],
    totals: { refunded: { amountMinor: 0 } },
  });
  expect(await paymentsOf(world, order)).toMatchObject([{ status: "captured", refundedMinor: 0 }]);
  expect((await publishedEventTypes(world, order)).slice(-2).toSorted()).toEqual([
    "order.updated",
    "refund.failed",
  ]);
});
