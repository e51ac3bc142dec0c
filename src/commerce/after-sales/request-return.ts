/**
 * Creates a buyer's return request. The order's after-sales options decide the request: a denied option
 * refuses the request with its reasons. If the merchant's consent is not needed, the return is approved in
 * the same transaction.
 */
import {
  createRequestBodyErrorDetail,
  type InputFieldErrors,
  requireNoInputFieldErrors,
  getTextFieldErrors,
} from "#foundation/faults.ts";
import {
  type OrderAndIdOfChangedPart,
  applyChangeToLockedOrder,
  lockOrder,
  type OrderColumnUpdateAndEvents,
  type OrderIdAndExpectedVersion,
  type OrderCommandContext,
} from "#commerce/orders/change-order.ts";
import {
  findOrderLineSelectionFaults,
  noteLengthMax,
  toOrderConflictDetail,
  requireOrderLineSelectionWithinLimits,
  requireKnownOrderLines,
} from "#commerce/orders/order-checks.ts";
import type {
  OrderLineIdAndQuantity,
  OrderAggregate,
  OrderReturn,
} from "#commerce/orders/order-aggregate.ts";
import type { Transaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import type { EligibilityDecision } from "#commerce/orders/eligibility-reason.ts";
import type { ReturnKind } from "#commerce/orders/order-states.ts";
import { createFailure } from "#foundation/failure.ts";
import { loadAfterSalesEligibilityFacts } from "./load-after-sales-facts.ts";
import { approveLockedReturn } from "./return-steps.ts";
import {
  isReturnWithUnitsToSendBack,
  insertReturn,
  incrementOrderLineReturnsAndRefunds,
} from "./return-rows.ts";
import { evaluateOptionForReturnRequest } from "./eligibility.ts";
import type { AfterSalesDataOutsideOrder, AfterSalesOption } from "./after-sales-option.ts";
import {
  isRefundRequestForUndeliveredUnits,
  isMerchantFaultReason,
  returnReasonsByKind,
  type ReturnReason,
} from "./reasons.ts";
import { findExchangeableVariantIds } from "./return-options.ts";
import { calculateReturnedUnitsValue } from "./return-rules.ts";

export type RequestReturnInput = OrderIdAndExpectedVersion & ReturnRequestFields;

export async function requestReturn(
  transaction: Transaction,
  context: OrderCommandContext,
  input: RequestReturnInput,
): Promise<OrderAndIdOfChangedPart> {
  requireNoInputFieldErrors(requestFaults(input));
  const id = createId("return", context.now.getTime());
  const found = await lockOrder(transaction, context, input.orderId);
  const facts = await loadAfterSalesEligibilityFacts(transaction, found, context.now);
  const plan = planReturnRequest(found, { facts, input });
  const order = await applyChangeToLockedOrder(transaction, context, {
    order: found,
    expectedVersion: input.expectedVersion,
    work: () => insertReturnRequest(transaction, context, { order: found, input, id, plan }),
  });
  return { order, id };
}

/** Returns the faults of a return request that can be found without reading the order. */
function requestFaults({ kind, lines, note, exchangeVariantId }: ReturnRequestFields): InputFieldErrors {
  const isExchange = kind === "exchange";
  const isGiven = exchangeVariantId !== null && exchangeVariantId !== undefined;
  return [
    ...findOrderLineSelectionFaults(lines),
    ...getTextFieldErrors("/note", note, { max: noteLengthMax, lines: "many" }),
    ...(isExchange && lines.length > 1
      ? [
          createRequestBodyErrorDetail(
            "/lines",
            "too_long",
            '"lines" must contain exactly one line for an exchange.',
          ),
        ]
      : []),
    ...(isExchange && !isGiven
      ? [
          createRequestBodyErrorDetail(
            "/exchangeVariantId",
            "required",
            '"exchangeVariantId" is required for an exchange.',
          ),
        ]
      : []),
    ...(!isExchange && isGiven
      ? [
          createRequestBodyErrorDetail(
            "/exchangeVariantId",
            "not_allowed",
            '"exchangeVariantId" is only allowed for an exchange.',
          ),
        ]
      : []),
  ];
}

interface PlannedReturnRequest {
  readonly order: OrderAggregate;
  readonly input: RequestReturnInput;
  readonly id: string;
  readonly plan: DecidedReturnToInsert;
}

async function insertReturnRequest(
  transaction: Transaction,
  context: OrderCommandContext,
  { order, input, id, plan: { decision, ...plan } }: PlannedReturnRequest,
): Promise<OrderColumnUpdateAndEvents> {
  const { kind, reason, note = null, exchangeVariantId = null } = input;
  const row = { id, kind, reason, note, exchangeVariantId, ...plan };
  await insertReturn(transaction, context, { ...row, orderId: order.id, status: "requested" });
  if (isReturnWithUnitsToSendBack(row))
    await incrementOrderLineReturnsAndRefunds(
      transaction,
      row.lines.map(({ lineId, quantity }) => ({ lineId, returnRequested: quantity })),
    );
  const requested = { type: "return.requested" as const, id };
  if (decision === "request_required") return { events: [requested] };
  const { events, ...outcome } = await approveLockedReturn(transaction, context, { order, found: row });
  return { ...outcome, events: [requested, ...events] };
}

/** The fields of a return request, without the id of the order. */
export interface ReturnRequestFields {
  readonly kind: ReturnKind;
  readonly lines: readonly OrderLineIdAndQuantity[];
  readonly reason: ReturnReason;
  readonly note?: string | null | undefined;
  readonly method?: OrderReturn["method"] | undefined;
  readonly settlement?: OrderReturn["settlement"] | undefined;
  readonly exchangeVariantId?: string | null | undefined;
}

/** A return that has been decided and whose value is calculated, ready to be inserted into the database. */
export interface DecidedReturnToInsert extends Pick<
  OrderReturn,
  "method" | "settlement" | "refundMinor" | "feeMinor" | "policyId"
> {
  readonly decision: Exclude<EligibilityDecision, "denied">;
  readonly lines: readonly OrderLineIdAndQuantity[];
}

interface ReturnPlanInput {
  readonly facts: AfterSalesDataOutsideOrder;
  readonly input: ReturnRequestFields;
}

/**
 * Plans a return request without writing data: decides the request and calculates the value of the return.
 * Throws a failure if the order's after-sales options do not allow the request.
 */
export function planReturnRequest(
  order: OrderAggregate,
  { facts, input }: ReturnPlanInput,
): DecidedReturnToInsert {
  const { kind, reason, lines } = input;
  requireReason(input);
  requireKnownOrderLines(order, lines);
  const options = lines.flatMap(
    ({ lineId }) => evaluateOptionForReturnRequest(order, facts, { lineId, kind, reason }) ?? [],
  );
  requireOffered(order, { lines, options });
  requireExchangeable(order, { facts, input });
  const methods = commonTerms(options, (option) => option.methods);
  requireCommonMethod(methods);
  const method = chooseTerm("/method", input.method, methods);
  const settlement = chooseTerm(
    "/settlement",
    input.settlement,
    commonTerms(options, (option) => option.settlement),
  );
  const value = {
    kind,
    isFault: isMerchantFaultReason(reason),
    isLost: isRefundRequestForUndeliveredUnits(input),
    method: method ?? "keep_item",
    lines,
  };
  const { refundMinor, restockingMinor, postageMinor } = calculateReturnedUnitsValue(order, value);
  return {
    decision: decideRequest(order, { facts, input, options }),
    lines: lines.map(({ lineId, quantity }) => ({ lineId, quantity })),
    method,
    settlement,
    refundMinor,
    feeMinor: restockingMinor + postageMinor,
    policyId: options[0]?.policyId ?? null,
  };
}

function requireReason({ kind, reason }: ReturnRequestFields): void {
  const allowed = returnReasonsByKind[kind];
  if (allowed.includes(reason)) return;
  requireNoInputFieldErrors([
    {
      ...createRequestBodyErrorDetail(
        "/reason",
        "not_allowed",
        '"reason" is not allowed for this kind of return.',
      ),
      allowed,
    },
  ]);
}

/**
 * Refuses a return request for more units of an order line than the line's after-sales option allows. A
 * denied option allows 0 units. The error lists blocking reasons first, then reasons about which the merchant
 * decides.
 */
function requireOffered(
  order: OrderAggregate,
  {
    lines,
    options,
  }: { readonly lines: readonly OrderLineIdAndQuantity[]; readonly options: readonly AfterSalesOption[] },
): void {
  const selectable = options.map(({ eligibleQuantity, reasons }, index) => ({
    lineId: lines[index]?.lineId ?? "",
    quantity: eligibleQuantity,
    reasons: reasons.toSorted((one, other) => Number(other.blocking) - Number(one.blocking)),
  }));
  requireOrderLineSelectionWithinLimits(order, {
    lines,
    selectable,
    reason: "quantity_exhausted",
    message: "This return cannot be requested.",
  });
}

function requireExchangeable(
  order: OrderAggregate,
  { facts, input: { kind, lines, exchangeVariantId } }: ReturnPlanInput,
): void {
  const line = order.lines.find(({ id }) => id === lines[0]?.lineId);
  if (kind !== "exchange" || line === undefined) return;
  const allowed = findExchangeableVariantIds({ order, facts, line });
  if (typeof exchangeVariantId === "string" && allowed.includes(exchangeVariantId)) return;
  const message = '"exchangeVariantId" must be a variant in stock of the same product and price.';
  throw createFailure("invalid_state", {
    message,
    details: [{ ...createRequestBodyErrorDetail("/exchangeVariantId", "not_allowed", message), allowed }],
    conflict: toOrderConflictDetail(order, {
      reason: "exchange_out_of_stock",
      data: { exchangeVariantIds: allowed },
    }),
  });
}

/**
 * Returns the terms that the after-sales options of all requested order lines have in common, for example
 * return methods. The terms are in the order of the first option.
 */
function commonTerms<Term>(
  options: readonly AfterSalesOption[],
  termsOf: (option: AfterSalesOption) => readonly Term[],
): readonly Term[] {
  const [first, ...others] = options.map(termsOf);
  return (first ?? []).filter((term) => others.every((terms) => terms.includes(term)));
}

/**
 * Refuses a return request that contains both goods to send back and units that were never sent, because no
 * return method suits both.
 */
function requireCommonMethod(methods: readonly unknown[]): void {
  if (methods.length > 0) return;
  requireNoInputFieldErrors([
    createRequestBodyErrorDetail(
      "/lines",
      "not_allowed",
      "Goods to send back and units that were never sent must be requested separately.",
    ),
  ]);
}

/**
 * Returns the return method or settlement that the caller chose; by default, the first one that the
 * after-sales options offer. Throws if the options do not offer the choice.
 */
function chooseTerm<Term extends string>(
  field: string,
  wanted: Term | null | undefined,
  offered: readonly Term[],
): Term | null {
  if (wanted === null || wanted === undefined) return offered[0] ?? null;
  if (!offered.includes(wanted))
    requireNoInputFieldErrors([
      {
        ...createRequestBodyErrorDetail(
          field,
          "not_allowed",
          `"${field.slice(1)}" must be one of the offered values.`,
        ),
        allowed: offered,
      },
    ]);
  return wanted;
}

/**
 * Decides whether a return request needs the merchant's consent. A request for a replacement that is not in
 * stock always needs consent.
 */
function decideRequest(
  order: OrderAggregate,
  { facts, input, options }: ReturnPlanInput & { readonly options: readonly AfterSalesOption[] },
): DecidedReturnToInsert["decision"] {
  const isMissing =
    input.kind === "replacement" &&
    order.lines.some(
      ({ id, productId, variantId }) =>
        input.lines.some(({ lineId }) => lineId === id) &&
        facts.siblingsInStock.get(productId)?.includes(variantId) !== true,
    );
  return isMissing || options.some(({ decision }) => decision !== "allowed") ? "request_required" : "allowed";
}
