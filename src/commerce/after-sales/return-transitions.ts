/**
 * The life of a return: which step leads from which status to which. A thing that is brought or fetched is received without having been under
 * way; one that is sent says so first. Whatever is not in this table is refused.
 */
import type { OrderReturn } from "#commerce/orders/order-aggregate.ts";
import type { ReturnStatus } from "#commerce/orders/order-states.ts";
import { fail, type Failure, type FailureCode } from "#foundation/failure.ts";

export const returnSteps = ["approve", "decline", "track", "receive", "inspect", "close", "cancel"] as const;
export type ReturnStep = (typeof returnSteps)[number];

export const returnTransitions = {
  requested: { approve: "approved", decline: "declined", cancel: "canceled" },
  approved: { track: "in_transit", cancel: "canceled" },
  in_transit: { receive: "received" },
  received: { inspect: "inspected" },
  inspected: { close: "closed" },
  declined: {},
  closed: {},
  canceled: {},
} as const satisfies Readonly<Record<ReturnStatus, Partial<Record<ReturnStep, ReturnStatus>>>>;

/** What needs no carrier: of these an approved return is received directly. */
const withoutCarrier: ReadonlySet<OrderReturn["method"]> = new Set(["store", "pickup"]);

export function nextReturnStatus({ status, method }: Pick<OrderReturn, "status" | "method">, step: ReturnStep): ReturnStatus | undefined {
  if (status === "approved" && step === "receive" && withoutCarrier.has(method)) return "received";
  const steps: Partial<Record<ReturnStep, ReturnStatus>> = returnTransitions[status];
  return steps[step];
}

export function requireStep(found: OrderReturn, step: ReturnStep): ReturnStatus {
  const next = nextReturnStatus(found, step);
  if (next === undefined) throw refuseReturn("invalid_state", found);
  return next;
}

/** The return's own. */
export function requireReturnVersion(found: OrderReturn, expectedVersion: number | null | undefined): void {
  if (expectedVersion === null || expectedVersion === undefined || expectedVersion === found.version) return;
  throw refuseReturn("version_conflict", found);
}

export interface RefusedReturn {
  readonly reason?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly message?: string;
}

/** A 409 that says what the return is like, so that the caller need not ask. */
export function refuseReturn(
  code: FailureCode,
  { id, status, version }: Pick<OrderReturn, "id" | "status" | "version">,
  { reason, data = {}, message }: RefusedReturn = {},
): Failure {
  const conflict = { resource: "return", id, currentStatus: status, currentVersion: version, reason: reason ?? null, data };
  return fail(code, { conflict, ...(message === undefined ? {} : { message }) });
}
