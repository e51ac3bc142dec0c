/** Steps from the cart to the order, and the passing of time. */
import { sql } from "kysely";
import { expect } from "vitest";
import { type Front, readOrder } from "./order-front.ts";
import { missingOf, renewAddress } from "./address-model.ts";
import {
  endSession,
  hold,
  isOpen,
  type ModelLine,
  type OrderModel,
  paymentFate,
  sellHeld,
  settlePending,
  stockOf,
} from "./order-model.ts";
import { type Dice, pickOf, type Plan } from "./step.ts";

const field = (name: string): string => `hostedCheckoutSession${name}`;

export function createSession(model: OrderModel): Plan {
  const { session, cartId } = model;
  const isFree =
    session === null || session.status === "canceled" || (session.status === "open" && !isOpen(model));
  return {
    call: {
      field: field("Create"),
      on: {},
      input: { cartId, successUrl: "https://shop.example/thanks", cancelUrl: "https://shop.example/cart" },
    },
    isAllowed: isFree,
    apply: async (id, { world }) => {
      renewAddress(model);
      // An expired session held its stock until now.
      if (session?.status !== "open") hold(model, 1);
      const { rows } = await sql<{ amountTotalMinor: number; expiresAt: Date }>`
        select amount_total_minor, expires_at from hosted_checkout_session where id = ${id}`.execute(
        world.database.db,
      );
      const [row] = rows;
      if (row === undefined) throw new Error(`There is no session ${id}.`);
      const expiresAt = row.expiresAt.getTime();
      expect(expiresAt - model.now).toBe(60 * 60_000);
      model.session = {
        id,
        status: "open",
        expiresAt,
        amountMinor: row.amountTotalMinor,
        token: "",
        submittedAt: 0,
        askedAt: null,
      };
    },
  };
}

const tokens = ["tok_success", "tok_success", "tok_success", "tok_decline", "tok_late_success"];

/** Submits the checkout. A bold step confirms another amount, or submits without an address. */
export function submit(model: OrderModel, dice: Dice): Plan | null {
  const { session } = model;
  if (session === null) return null;
  const isWrong = dice.isBold && dice.amount % 2 === 0;
  const missing = missingOf(model);
  const token = pickOf(tokens, dice) ?? "";
  const expectedAmount = { amountMinor: session.amountMinor + (isWrong ? 1 : 0), currency: "EUR" };
  return {
    call: {
      field: field("Submit"),
      on: { sessionId: session.id },
      input: { expectedAmount, paymentToken: token },
    },
    isAllowed: isOpen(model) && missing === null && !isWrong,
    reason: isOpen(model) ? (missing ?? undefined) : undefined,
    apply: () =>
      void Object.assign(session, { status: "processing", token, submittedAt: model.now, askedAt: null }),
  };
}

export function cancelSession(model: OrderModel): Plan | null {
  const { session } = model;
  if (session === null) return null;
  return {
    call: { field: field("Cancel"), on: { sessionId: session.id }, input: { reason: "BUYER_CHANGED_MIND" } },
    isAllowed: isOpen(model),
    apply: () => {
      renewAddress(model);
      endSession(model);
    },
  };
}

export function failSession(model: OrderModel): Plan | null {
  const { session } = model;
  if (session === null) return null;
  return {
    call: { field: field("Fail"), on: { sessionId: session.id }, input: { reason: "BUYER_GAVE_UP" } },
    isAllowed: session.status === "processing",
    apply: () => giveUp(model),
  };
}

function giveUp(model: OrderModel): void {
  const { session, now } = model;
  if (session === null) return;
  if (now >= session.expiresAt) endSession(model);
  else session.status = "open";
}

/** The payment driver runs all due operations. */
export function drive(model: OrderModel): Plan {
  return {
    call: null,
    isAllowed: true,
    apply: async (_id, front) => {
      await front.world.app.payments.drive();
      if (model.order !== null) settlePending(model.order);
      if (model.session?.status === "processing") await decide(model, front);
    },
  };
}

async function decide(model: OrderModel, front: Front): Promise<void> {
  const { session } = model;
  if (session === null) return;
  const fate = paymentFate(model);
  if (fate === "failed") giveUp(model);
  else if (fate === "undecided") session.askedAt ??= model.now;
  else await becomeOrder(model, front, { isCaptured: fate === "captured" });
}

async function becomeOrder(
  model: OrderModel,
  front: Front,
  { isCaptured }: { readonly isCaptured: boolean },
): Promise<void> {
  const { session, wanted } = model;
  const { rows } = await sql<{
    id: string;
  }>`select id from sales_order where cart_id = ${model.cartId}`.execute(front.world.database.db);
  const [row] = rows;
  if (row === undefined || session === null) throw new Error("No order was placed.");
  session.status = "completed";
  model.address = null;
  const allocated = sellHeld(model);
  const read = await readOrder(front, row.id);
  const [payment] = read.payments;
  if (payment === undefined) throw new Error("The order was not paid.");
  // The order's lines equal the cart's, at the confirmed amount.
  expect(new Map(read.lines.map(({ variantId, ordered }) => [variantId, ordered]))).toEqual(wanted);
  expect([read.totalMinor, payment.amountMinor]).toEqual([session.amountMinor, session.amountMinor]);
  const capturedMinor = isCaptured ? read.totalMinor : 0;
  model.order = {
    id: row.id,
    version: 1,
    status: "pending",
    totalMinor: read.totalMinor,
    reducedMinor: 0,
    shippingReducedMinor: 0,
    payment: {
      id: payment.id,
      amountMinor: read.totalMinor,
      capturedMinor,
      voidedMinor: 0,
      refundedMinor: 0,
      isDisputed: false,
      pending: [],
    },
    lines: read.lines.map(({ id, variantId, totalMinor, ordered }) =>
      lineFor({ id, variantId, totalMinor, ordered }, allocated.get(variantId) ?? 0),
    ),
    fulfillments: [],
    returns: [],
  };
}

function lineFor(
  line: Pick<ModelLine, "id" | "variantId" | "totalMinor" | "ordered">,
  allocated: number,
): ModelLine {
  return {
    ...line,
    canceled: 0,
    allocated,
    shipped: 0,
    delivered: 0,
    returnRequested: 0,
    returned: 0,
    refunded: 0,
    reducedMinor: 0,
    settled: 0,
    unreserved: 0,
  };
}

const minutes = [1, 7, 16, 25];

export function wait(model: OrderModel, dice: Dice): Plan {
  const ms = (pickOf(minutes, dice) ?? 1) * 60_000;
  return {
    call: null,
    isAllowed: true,
    apply: (_id, { world }) => {
      world.clock.advance(ms);
      model.now += ms;
    },
  };
}

/** New stock arrives. */
export function receiveStock(model: OrderModel, dice: Dice): Plan {
  const variantId = pickOf([...model.stock.keys()], dice) ?? "";
  const delta = 1 + (dice.amount % 3);
  return {
    call: { field: "stockAdjust", on: {}, input: { variantId, delta, reason: "RECEIVED" } },
    isAllowed: true,
    apply: () => void (stockOf(model, variantId).onHand += delta),
  };
}
