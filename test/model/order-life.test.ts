/**
 * Random orders through their whole life by GraphQL, each step compared to a small model of an order.
 * MODEL_RUNS sets the number of orders, PROPERTY_SEED tries others, MODEL_ENGINE=pglite uses PGlite.
 */
import { sql } from "kysely";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { berlin, changeCart, makeCart, makeCode, variantOf } from "#test/operations/cart-calls.ts";
import { propertySeed } from "#test/support/properties.ts";
import { openReuseComparison, type ReuseComparison } from "#test/support/reuse-comparison.ts";
import { useWorld } from "#test/support/use-world.ts";
import { expectAgreement } from "./agreement.ts";
import { startAddress } from "./address-model.ts";
import { chooseDelivery, giveAddress, standardDelivery } from "./address-steps.ts";
import {
  cancelSession,
  createSession,
  drive,
  failSession,
  receiveStock,
  submit,
  wait,
} from "./checkout-steps.ts";
import { type Front, openFront, send } from "./order-front.ts";
import type { ModelStock, OrderModel } from "./order-model.ts";
import {
  cancel,
  capture,
  confirm,
  createFulfillment,
  dispute,
  hold,
  moveFulfillment,
  ofOrder,
  refund,
  release,
  voidPayment,
} from "./order-steps.ts";
import { moveReturn, requestReturn } from "./return-steps.ts";
import { type Dice, type Planner, Step, stepOf } from "./step.ts";

const engine = process.env["MODEL_ENGINE"] === "pglite" ? "pglite" : "postgres";
const world = useWorld(engine);
let comparison: ReuseComparison;

beforeAll(async () => {
  await makeCode(world(), code, { kind: "PERCENTAGE", basisPoints: 780 });
  comparison = await openReuseComparison(world(), engine);
});
afterAll(() => comparison.close());

const runs = Number(process.env["MODEL_RUNS"] ?? 21);
/** The number of drawn commands per order; most cannot be applied. */
const commandsMax = 120;
/** Several times the usual duration. */
const runsMsMax = 60_000 + runs * 10_000;

const steps: Readonly<Record<string, { readonly plan: Planner; readonly weight: number }>> = {
  createSession: { plan: createSession, weight: 3 },
  submit: { plan: submit, weight: 3 },
  giveAddress: { plan: giveAddress, weight: 2 },
  chooseDelivery: { plan: chooseDelivery, weight: 2 },
  cancelSession: { plan: cancelSession, weight: 3 },
  failSession: { plan: failSession, weight: 2 },
  drive: { plan: drive, weight: 2 },
  wait: { plan: wait, weight: 1 },
  receiveStock: { plan: receiveStock, weight: 1 },
  confirm: { plan: ofOrder(confirm), weight: 2 },
  hold: { plan: ofOrder(hold), weight: 1 },
  release: { plan: ofOrder(release), weight: 2 },
  createFulfillment: { plan: ofOrder(createFulfillment), weight: 3 },
  moveFulfillment: { plan: ofOrder(moveFulfillment), weight: 8 },
  cancel: { plan: ofOrder(cancel), weight: 3 },
  capture: { plan: ofOrder(capture), weight: 5 },
  voidPayment: { plan: ofOrder(voidPayment), weight: 1 },
  refund: { plan: ofOrder(refund), weight: 4 },
  requestReturn: { plan: ofOrder(requestReturn), weight: 3 },
  moveReturn: { plan: ofOrder(moveReturn), weight: 9 },
  dispute: { plan: ofOrder(dispute), weight: 1 },
};

const toPlaced = ["createSession", "submit", "drive", "confirm"];
const toPaid = [...toPlaced, "capture", "drive"];
const toShipped = ["createFulfillment", "moveFulfillment", "moveFulfillment"];
/** The state that an order reaches before random commands start. */
const beginnings = {
  cart: [],
  late: ["wait", "wait", "createSession"],
  open: ["createSession"],
  placed: toPlaced,
  shipped: [...toPlaced, ...toShipped],
  delivered: [
    ...toPaid,
    "receiveStock",
    ...toShipped,
    "moveFulfillment",
    "moveFulfillment",
    "moveFulfillment",
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/**
 * Draws for the first steps: the first possible choice, all of the money, enough of the missing goods, and
 * more than half of an address's lifetime.
 */
const usualDice: Readonly<Record<string, Partial<Dice>>> = {
  wait: { pick: 2 },
  capture: { pick: 1 },
  receiveStock: { pick: 2, amount: 2 },
  createFulfillment: { pick: 28, amount: 2 },
};

function usualStep(name: string, dice: Partial<Dice> = {}): Step {
  const { plan } = steps[name] ?? { plan: wait };
  return new Step(name, plan, { pick: 0, amount: 1, isBold: false, ...usualDice[name], ...dice });
}

interface Beginning {
  /** Quantities by variant. */
  readonly quantities: readonly number[];
  readonly hasCode: boolean;
}

const beginning: fc.Arbitrary<Beginning> = fc.record({
  quantities: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 }),
  hasCode: fc.boolean(),
});

/**
 * The states that random commands start from, each in the same number of orders, so that few orders cover
 * all.
 */
const starts = ["delivered", "cart", "shipped", "late", "delivered", "placed", "open"] as const;

/** The last SKU is sold before it is in stock. */
const skus = ["KIT-KVERN", "KIT-EMALJE-WHITE", "KIT-EMALJE-MOSS"];
const code = "ODD-CENTS";

it(`${runs} random orders agree with the model at every step`, { timeout: runsMsMax }, async () => {
  const front = await openFront(world(), comparison);
  const commands = Object.entries(steps).flatMap(([name, { plan, weight }]) =>
    Array.from({ length: weight }, () => stepOf(name, plan)),
  );
  for (const [index, start] of starts.entries())
    await fc.assert(
      fc.asyncProperty(
        beginning,
        fc.noBias(fc.commands(commands, { maxCommands: commandsMax, size: "max" })),
        async (begun, chosen) => {
          const model = await begin(front, begun);
          for (const name of beginnings[start]) await usualStep(name).run(model, front);
          await fc.asyncModelRun(async () => ({ model, real: front }), chosen);
          await expectBooksClosed(model, front);
        },
      ),
      {
        seed: propertySeed + index,
        numRuns: Math.ceil(runs / starts.length),
        endOnFailure: process.env["MODEL_SHRINK"] === undefined,
      },
    );
  // Fewer orders may not reach every step.
  if (runs >= 60) expect(Object.keys(steps).filter((name) => !front.done.has(name))).toEqual([]);
});

it("an expired address is given again before anything is paid", async () => {
  const front = await openFront(world(), comparison);
  const model = await begin(front, { quantities: [1], hasCode: false });
  const again = ["submit", "giveAddress", "submit", "chooseDelivery", "submit", "drive"];
  for (const name of [...beginnings.late, ...again]) await usualStep(name).run(model, front);
  expect([front.refused.get("submit"), model.order?.status]).toEqual([2, "pending"]);
});

it("a return promised one cent more than its unit's worth leaves one cent less for the last", async () => {
  const front = await openFront(world(), comparison);
  const model = await begin(front, { quantities: [1, 4], hasCode: true });
  for (const name of beginnings.delivered) await usualStep(name).run(model, front);
  const ofSecond = { pick: 8, amount: 0 };
  const refundOne = ["refund", ofSecond] as const;
  const moved = ["moveReturn", {}] as const;
  const script = [
    refundOne,
    ["requestReturn", { pick: 1, amount: 0 }],
    refundOne,
    moved,
    moved,
    moved,
    moved,
    refundOne,
  ] as const;
  for (const [name, dice] of script) await usualStep(name, dice).run(model, front);
  const line = model.order?.lines[1];
  expect([line?.refunded, line?.reducedMinor]).toEqual([4, line?.totalMinor]);
});

async function begin(front: Front, { quantities, hasCode }: Beginning): Promise<OrderModel> {
  const variantIds = await Promise.all(skus.map((sku) => variantOf(front.world, sku)));
  const wantedOnHand = [12, 12, 1];
  const stock = new Map<string, ModelStock>();
  for (const [index, variantId] of variantIds.entries()) {
    const isBackordered = index === 2;
    await sql`update stock_level set backorder_limit = ${isBackordered ? 1000 : 0}
      where variant_id = ${variantId}`.execute(front.world.database.db);
    stock.set(
      variantId,
      await bringTo(front, variantId, { wanted: wantedOnHand[index] ?? 0, isExact: isBackordered }),
    );
  }
  const lines = variantIds
    .slice(0, quantities.length)
    .map((variantId, index) => ({ variantId, quantity: quantities[index] ?? 1 }));
  const { id: cartId } = await makeCart(front.world, { token: "admin", input: { lines } });
  await changeCart(front.world, "cartAddressSet", { token: "admin", cartId, input: { address: berlin } });
  const deliveryId = await standardDelivery(front);
  await changeCart(front.world, "cartDeliveryOptionSelect", {
    token: "admin",
    cartId,
    input: { optionId: deliveryId },
  });
  if (hasCode)
    await changeCart(front.world, "cartPromotionApply", { token: "admin", cartId, input: { code } });
  const wanted = new Map(lines.map(({ variantId, quantity }) => [variantId, quantity]));
  const model: OrderModel = {
    now: front.world.clock.now().getTime(),
    cartId,
    address: null,
    deliveryId,
    hasDelivery: true,
    wanted,
    stock,
    session: null,
    order: null,
  };
  startAddress(model);
  await expectAgreement(model, front);
  return model;
}

/**
 * Sets the stock: this much beyond what earlier orders wait for, or exactly this much for the SKU sold before
 * it is in stock.
 */
async function bringTo(
  front: Front,
  variantId: string,
  { wanted, isExact }: { readonly wanted: number; readonly isExact: boolean },
): Promise<ModelStock> {
  const read = async (): Promise<{ onHand: number; reserved: number; backorderLimit: number }> =>
    front.world.database.db
      .selectFrom("stockLevel")
      .select(["onHand", "reserved", "backorderLimit"])
      .where("variantId", "=", variantId)
      .executeTakeFirstOrThrow();
  const before = await read();
  const delta = wanted + (isExact ? 0 : before.reserved) - before.onHand;
  if (delta !== 0) {
    const reason = delta > 0 ? "RECEIVED" : "CORRECTION";
    const { error } = await send(front, {
      field: "stockAdjust",
      on: {},
      input: { variantId, delta, reason },
    });
    expect(error).toBeUndefined();
  }
  const { onHand, reserved, backorderLimit } = await read();
  return { onHand, reserved, backorder: backorderLimit };
}

/**
 * Once all pending work has ended, the provider holds exactly the orders' payments. Late decisions are
 * captured and recorded at the next lookup.
 */
async function expectBooksClosed(model: OrderModel, front: Front): Promise<void> {
  const dice = { pick: 0, amount: 0, isBold: false };
  const end = [
    new Step("drive", drive, dice),
    ...[0, 1].flatMap(() => [new Step("wait", wait, { ...dice, pick: 3 }), new Step("drive", drive, dice)]),
  ];
  for (const step of end) await step.run(model, front);
  const cancelLast = new Step("cancelSession", cancelSession, dice);
  if (cancelLast.check(model)) await cancelLast.run(model, front);
  const { rows } = await sql<{ id: string; isAgreed: boolean }>`
    select p.id, case when p.order_id is null then coalesce(b.status in ('declined', 'voided')
    or b.amount_minor = b.voided_minor + b.refunded_minor, true)
        else case b.status when 'pending' then b.amount_minor else b.captured_minor end = p.captured_minor
        and b.voided_minor = p.voided_minor and b.amount_minor = p.amount_minor
        and b.refunded_minor <= p.refunded_minor
      end as is_agreed
    from payment p join hosted_checkout_session s on s.id = p.session_id left join test_provider_payment b
    on b.reference = p.id
    where s.cart_id = ${model.cartId}`.execute(front.world.database.db);
  expect(rows.filter(({ isAgreed }) => !isAgreed)).toEqual([]);
  const { rows: waiting } = await sql`
    select o.id from payment_operation o join payment p on p.id = o.payment_id join hosted_checkout_session s
    on s.id = p.session_id
    where s.cart_id = ${model.cartId} and o.status = 'pending'`.execute(front.world.database.db);
  expect(waiting).toEqual([]);
}
