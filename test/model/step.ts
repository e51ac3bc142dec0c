/**
 * One command: drawn at random, planned from the model, sent by GraphQL. An allowed command must have the
 * model's result; others must be refused and change no row.
 */
import fc from "fast-check";
import { expect } from "vitest";
import { expectAgreement } from "./agreement.ts";
import { type Call, type Front, rowsOf, send } from "./order-front.ts";
import type { OrderModel } from "./order-model.ts";

export interface Dice {
  readonly pick: number;
  readonly amount: number;
  /** Whether to try commands that are not allowed. */
  readonly isBold: boolean;
}

export interface Plan {
  /** The request; null if the step sends none. */
  readonly call: Call | null;
  readonly isAllowed: boolean;
  /** The expected reason of a refusal, if only one is possible. */
  readonly reason?: string | undefined;
  /** Updates the model, and also the world if the step sends no request. */
  readonly apply: (id: string, front: Front) => Promise<void> | void;
}

/** Plans a step; null if it cannot be tried. */
export type Planner = (model: OrderModel, dice: Dice) => Plan | null;

const refusals = new Set([
  "invalid_state",
  "invalid_field",
  "cart_locked",
  "cart_completed",
  "checkout_amount_changed",
  "checkout_session_processing",
  "checkout_session_completed",
  "checkout_session_canceled",
  "checkout_session_expired",
]);

export class Step implements fc.AsyncCommand<OrderModel, Front> {
  readonly name: string;
  readonly plan: Planner;
  readonly dice: Dice;

  constructor(name: string, plan: Planner, dice: Dice) {
    this.name = name;
    this.plan = plan;
    this.dice = dice;
  }

  check(model: Readonly<OrderModel>): boolean {
    const plan = this.plan(model, this.dice);
    return plan !== null && (plan.isAllowed || this.dice.isBold);
  }

  async run(model: OrderModel, front: Front): Promise<void> {
    const plan = this.plan(model, this.dice);
    if (plan === null) return;
    const { call, isAllowed, reason, apply } = plan;
    const counts = isAllowed ? front.done : front.refused;
    counts.set(this.name, (counts.get(this.name) ?? 0) + 1);
    if (call === null) await apply("", front);
    else if (isAllowed) await apply(await succeed(front, call), front);
    else await expectRefused(front, call, reason);
    await expectAgreement(model, front);
  }

  toString(): string {
    const { pick, amount, isBold } = this.dice;
    return `${this.name}(${pick}, ${amount}${isBold ? ", bold" : ""})`;
  }
}

async function succeed(front: Front, call: Call): Promise<string> {
  const { data, error } = await send(front, call);
  expect({ call, error }).toEqual({ call, error: undefined });
  return (data as { readonly id: string }).id;
}

async function expectRefused(front: Front, call: Call, reason: string | undefined): Promise<void> {
  const before = await rowsOf(front);
  const { error } = await send(front, call);
  const refused = error as
    | { readonly code?: string; readonly conflict?: { readonly reason: string | null } }
    | undefined;
  const code = refused?.code ?? "";
  expect({ call, isRefused: refusals.has(code), code }).toEqual({ call, isRefused: true, code });
  if (reason !== undefined)
    expect({ call, code, reason: refused?.conflict?.reason }).toEqual({
      call,
      code: "invalid_state",
      reason,
    });
  expect(await rowsOf(front)).toBe(before);
}

export function stepOf(name: string, plan: Planner): fc.Arbitrary<Step> {
  const dice = fc.record({
    pick: fc.nat(999),
    amount: fc.nat(99),
    isBold: fc.integer({ min: 0, max: 5 }).map((side) => side === 0),
  });
  return dice.map((rolled) => new Step(name, plan, rolled));
}

export function pickOf<Item>(items: readonly Item[], { pick }: Dice): Item | undefined {
  return items[pick % Math.max(1, items.length)];
}

/** Draws from 1 to the maximum; a bold step may exceed it. */
export const portion = (max: number, { amount, isBold }: Dice): number =>
  1 + (amount % Math.max(1, max + (isBold ? 2 : 0)));
