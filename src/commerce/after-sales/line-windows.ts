/** All the times that run for a line after its sale, each counted once for all that asks for it. */
import { isInUnion } from "#commerce/markets/eea.ts";
import { guaranteeMonthsMin } from "#commerce/markets/policy-rules.ts";
import {
  arrivalOf,
  lostAt,
  policyOf,
  turnsOf,
  type Window,
  windowFrom,
  withdrawalFromPlacing,
  withdrawalWindow,
} from "#commerce/orders/order-terms.ts";
import type { OrderAggregate, OrderLine, OrderWarranty } from "#commerce/orders/order-aggregate.ts";

export interface LineWindows {
  readonly returns: Window;
  /** Null: the merchant does not exchange. */
  readonly exchanges: Window | null;
  /** For what is the merchant's fault: never shorter than `returns`. */
  readonly faults: Window;
  /** From its beginning on, what was sent and has not come counts as lost. */
  readonly loss: Window;
  readonly withdrawal: Window;
  /** Null: the law of the order's country knows none. */
  readonly guarantee: Window | null;
  /** That of a warranty, were it registered. Null: the order came with none. */
  readonly warranted: Window | null;
  readonly registered: Window | null;
}

export function windowsOf(order: OrderAggregate, line: OrderLine): LineWindows {
  const { windowDays, exchangeWindowDays, extendUntil } = policyOf(order, "return").rules;
  const { months } = policyOf(order, "warranty").rules;
  const arrival = arrivalOf(order, line);
  const returns = windowFrom(order, arrival, { ...daysOf(windowDays), extendUntil });
  const warranted = windowFrom(order, arrival, { months });
  return {
    returns,
    exchanges: exchangeWindowDays === null ? null : windowFrom(order, arrival, { days: exchangeWindowDays, extendUntil }),
    faults: months > 0 ? longer(returns, warranted) : returns,
    loss: { clock: "shipped_plus_transit", startsAt: lostAt(order, line), endsAt: null, estimated: true },
    withdrawal: withdrawalOf(order, line),
    guarantee: isInUnion(order.country) ? windowFrom(order, arrival, { months: guaranteeMonthsMin }) : null,
    warranted: months > 0 ? warranted : null,
    registered: registeredWindow(registrationOf(order, line)),
  };
}

function withdrawalOf(order: OrderAggregate, line: OrderLine): Window {
  const { windowDays } = policyOf(order, "withdrawal").rules;
  return line.requiresShipping ? withdrawalWindow(order, windowDays) : withdrawalFromPlacing(order, windowDays);
}

export function registrationOf({ warranties }: Pick<OrderAggregate, "warranties">, line: Pick<OrderLine, "id">): OrderWarranty | undefined {
  return warranties.find(({ lineId }) => lineId === line.id);
}

export function turnsOfWindows(windows: LineWindows): number[] {
  return Object.values(windows).flatMap((window: Window | null) => (window === null ? [] : turnsOf(window)));
}

const daysOf = (days: number | null): { readonly days?: number } => (days === null ? {} : { days });

/** One that has begun and has no end is the longest. */
function longer(one: Window, other: Window): Window {
  if (one.endsAt === null || other.endsAt === null) return one;
  return one.endsAt < other.endsAt ? other : one;
}

function registeredWindow(registration: OrderWarranty | undefined): Window | null {
  if (registration === undefined) return null;
  return { clock: "warranty_start", startsAt: registration.startsAt, endsAt: registration.endsAt, estimated: false };
}
