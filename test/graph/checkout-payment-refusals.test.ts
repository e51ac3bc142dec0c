/** Refused submissions, completions and failures of a checkout. A refusal writes nothing. */
import { sql } from "kysely";
import { expect, it } from "vitest";
import {
  callSession,
  type Checkout,
  drive,
  openCheckout,
  ordersOf,
  sessionOf,
  stockOf,
  submit,
  submitted,
} from "#test/commerce/payments/checkouts.ts";
import {
  askGraph,
  berlin,
  changeCart,
  makeCart,
  makeCode,
  movePromotion,
  variantOf,
  withoutTrace,
} from "#test/operations/cart-calls.ts";
import { changeSession, makeSession, sessionConflict } from "#test/operations/checkout-calls.ts";
import { useWorld } from "#test/support/use-world.ts";
import type { World } from "#test/support/world.ts";

const getWorld = useWorld();
const minute = 60_000;

/**
 * Returns the answer of the call. Fails the test if the call wrote to carts, sessions, payments, stock or
 * promotion uses.
 */
async function untouched<Result>(world: World, call: () => Promise<Result>): Promise<Result> {
  const tables = [
    "payment",
    "payment_operation",
    "stock_hold",
    "stock_level",
    "promotion_use",
    "sales_order",
  ];
  const read = async (): Promise<unknown[]> =>
    Promise.all(
      tables.map(
        async (table) =>
          (
            await sql`select to_jsonb(t) as row from ${sql.table(table)} t order by 1`.execute(
              world.database.db,
            )
          ).rows,
      ),
    );
  const before = await read();
  const result = await withoutTrace(world, call);
  expect(await read()).toEqual(before);
  return result;
}

const conflictOf = ({
  error,
}: {
  readonly error: { code: string; conflict: { reason: string | null; data: object } } | undefined;
}): unknown => [error?.code, error?.conflict.reason];

it.each([
  ["/paymentToken", { paymentToken: "" }, "pattern_mismatch"],
  ["/paymentToken", { paymentToken: "tok en" }, "pattern_mismatch"],
  ["/paymentToken", { paymentToken: "x".repeat(256) }, "pattern_mismatch"],
  ["/paymentToken", { paymentToken: null }, "required"],
  ["/expectedAmount/currency", { expectedAmount: { amountMinor: 1, currency: "XYZ" } }, "unknown_currency"],
])("a submission with %s %j is refused with %s", async (field, input, code) => {
  const world = getWorld();
  const checkout = await openCheckout(world);
  const { error } = await untouched(world, () => submit(world, checkout, "tok_success", input));
  expect(error.details).toEqual([expect.objectContaining({ field, code })]);
});

it("a submission with an outdated amount is refused with the current amount", async () => {
  const world = getWorld();
  const checkout = await openCheckout(world);
  const { amountMinor, currency } = checkout.amountTotal;
  const other = { expectedAmount: { amountMinor: amountMinor - 1, currency } };
  const { error } = await untouched(world, () => submit(world, checkout, "tok_success", other));
  expect([error.code, error.conflict.data]).toEqual([
    "checkout_amount_changed",
    { amountTotal: { amountMinor, currency, exponent: 2 } },
  ]);
  const foreign = { expectedAmount: { amountMinor, currency: "USD" } };
  expect((await untouched(world, () => submit(world, checkout, "tok_success", foreign))).error.code).toBe(
    "checkout_amount_changed",
  );
});

it("a submission after a price change is refused with the new amount, which can be paid", async () => {
  const world = getWorld();
  const checkout = await openCheckout(world, { lines: { "KIT-EMALJE-WHITE": 1 } });
  const variantId = await variantOf(world, "KIT-EMALJE-WHITE");
  await sql`update price set amount_minor = amount_minor + 100 where variant_id = ${variantId}`.execute(
    world.database.db,
  );
  const { error } = await untouched(world, () => submit(world, checkout));
  expect(error.code).toBe("checkout_amount_changed");
  const { amountTotal } = error.conflict.data;
  expect(amountTotal.amountMinor).toBe(checkout.amountTotal.amountMinor + 100);
  await submitted(world, { ...checkout, amountTotal }, "tok_success");
  await drive(world);
  expect(await ordersOf(world, checkout)).toMatchObject([{ totalMinor: amountTotal.amountMinor }]);
});

it("a submission of physical goods requires an address, then a delivery method", async () => {
  const world = getWorld();
  const { id: cartId } = await makeCart(world, { lines: { "KIT-KVERN": 1, "GFT-KART": 1 } });
  const checkout: Checkout = await makeSession(world, { cartId });
  const { error } = await untouched(world, () => submit(world, checkout));
  expect([error.code, error.conflict.reason, error.conflict.data.lineIds]).toEqual([
    "invalid_state",
    "address_required",
    [expect.any(String)],
  ]);
  const { data } = await changeSession(world, "hostedCheckoutSessionAddressSet", {
    sessionId: checkout.id,
    input: { address: berlin },
  });
  expect(conflictOf(await untouched(world, () => submit(world, data)))).toEqual([
    "invalid_state",
    "delivery_option_required",
  ]);
});

it("a submission with a line that is no longer sold is refused with that line", async () => {
  const world = getWorld();
  const checkout = await openCheckout(world, { lines: { "KIT-KVERN": 1 } });
  const variantId = await variantOf(world, "KIT-KVERN");
  const sell = (discontinued: boolean) =>
    world.database.db.updateTable("variant").set({ discontinued }).where("id", "=", variantId).execute();
  await sell(true);
  const { error } = await untouched(world, () => submit(world, checkout));
  await sell(false);
  expect([error.code, error.conflict.reason, error.conflict.data.lineIds]).toEqual([
    "invalid_state",
    "line_unavailable",
    [expect.any(String)],
  ]);
});

it("a submission after a promotion ended is refused because of its amount", async () => {
  const world = getWorld();
  const promotionId = await makeCode(world, "ENDING");
  const checkout = await openCheckout(world, { code: "ENDING" });
  await movePromotion(world, "promotionEnd", promotionId);
  expect((await untouched(world, () => submit(world, checkout))).error.code).toBe("checkout_amount_changed");
});

it("a submission requires an open session of the caller at the expected version", async () => {
  const world = getWorld();
  const checkout = await openCheckout(world);
  const { id, version } = checkout;
  const stale = await untouched(world, () =>
    submit(world, checkout, "tok_success", { expectedVersion: version + 1 }),
  );
  expect([stale.error.code, stale.error.conflict]).toEqual([
    "checkout_session_version_conflict",
    sessionConflict({ id, status: "open", version }),
  ]);
  const unknown = { ...checkout, id: "chs_00000000000000000000000000" };
  expect((await untouched(world, () => submit(world, unknown))).error.code).toBe(
    "checkout_session_not_found",
  );
  await submitted(world, checkout, "tok_late_success");
  const again = await untouched(world, () => submit(world, checkout));
  expect([again.error.code, again.error.retryable, again.error.retryAfterSeconds]).toEqual([
    "checkout_session_processing",
    true,
    1,
  ]);
});

it("a submission of an expired session is refused before the sweep writes its end", async () => {
  const world = getWorld();
  const checkout = await openCheckout(world);
  world.clock.advance(60 * minute);
  expect((await untouched(world, () => submit(world, checkout))).error.code).toBe("checkout_session_expired");
});

it("only a processing session can be completed, or failed before the provider's answer", async () => {
  const world = getWorld();
  const checkout = await openCheckout(world);
  const { id } = checkout;
  const complete = () => untouched(world, () => callSession(world, "hostedCheckoutSessionComplete", { id }));
  const fail = () =>
    untouched(world, () =>
      callSession(world, "hostedCheckoutSessionFail", { id, input: { reason: "OTHER" } }),
    );
  expect([conflictOf(await complete()), conflictOf(await fail())]).toEqual([
    ["invalid_state", "not_submitted"],
    ["invalid_state", "not_submitted"],
  ]);
  await submitted(world, checkout, "tok_success");
  expect((await complete()).error).toMatchObject({ code: "checkout_session_processing", retryable: true });
  // The provider's answer is stored, but the order is not placed yet.
  await world.database.db
    .updateTable("payment")
    .set({ status: "authorized" })
    .where("sessionId", "=", id)
    .execute();
  expect(conflictOf(await fail())).toEqual(["invalid_state", "payment_authorized"]);
  const { data, error } = await callSession(world, "hostedCheckoutSessionComplete", { id });
  expect(error).toBeUndefined();
  expect(data).toMatchObject({ status: "COMPLETED", paymentStatus: "PAID" });
  const [order] = await ordersOf(world, checkout);
  for (const refused of [await complete(), await fail()]) {
    expect([refused.error.code, refused.error.conflict.data]).toEqual([
      "checkout_session_completed",
      { orderId: order?.id },
    ]);
  }
});

it("a checkout that a price change made free is placed a moment later", async () => {
  const world = getWorld();
  await makeCode(world, "GRATIS", { basisPoints: 10_000, kind: "PERCENTAGE" });
  const { id: cartId } = await makeCart(world, { lines: { "GFT-KART": 1 } });
  await changeCart(world, "cartPromotionApply", { cartId, input: { code: "GRATIS" } });
  const checkout: Checkout = await makeSession(world, { cartId });
  await sql`update price set amount_minor = amount_minor + 100
    where variant_id = ${await variantOf(world, "GFT-KART")}`.execute(world.database.db);
  expect((await submit(world, checkout, null)).data).toMatchObject({
    status: "PROCESSING",
    amountTotal: { amountMinor: 0 },
  });
  const { error } = await callSession(world, "hostedCheckoutSessionComplete", { id: checkout.id });
  expect(error).toBeUndefined();
  expect(await sessionOf(world, checkout)).toMatchObject({ status: "completed" });
  const { reserved, promised } = await stockOf(world, "GFT-KART");
  expect(reserved).toBe(promised);
});

it("two submissions with the same idempotency key submit once", async () => {
  const world = getWorld();
  const { id, amountTotal } = await openCheckout(world);
  const query = `mutation ($id: ID!, $input: HostedCheckoutSessionSubmitInput!) {
    hostedCheckoutSessionSubmit(sessionId: $id, idempotencyKey: "submit-once", input: $input) { status version
    } }`;
  const input = {
    expectedAmount: { amountMinor: amountTotal.amountMinor, currency: amountTotal.currency },
    paymentToken: "tok_success",
  };
  const first = await askGraph(world, query, { id, input });
  await drive(world);
  expect(await askGraph(world, query, { id, input })).toEqual(first);
  expect(first.data.status).toBe("PROCESSING");
});
