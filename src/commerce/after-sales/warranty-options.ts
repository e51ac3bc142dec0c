/**
 * Evaluates the after-sales options to have an item repaired or replaced, under the merchant's registered
 * warranty or the statutory guarantee.
 */
import { isTimeWindowOver, getOrderPolicy, type OrderTimeWindow } from "#commerce/orders/order-terms.ts";
import type { OrderWarranty } from "#commerce/orders/order-aggregate.ts";
import type { ReturnStatus } from "#commerce/orders/order-states.ts";
import {
  type AfterSalesOption,
  type LineAfterSalesEvaluationInput,
  type AfterSalesOptionTerms,
  findWarrantyOfOrderLine,
  buildAfterSalesOption,
} from "./after-sales-option.ts";
import { prependOrderStateObstacles, countReturnableUnitsOfLine } from "./obstacles.ts";
import { type AfterSalesObstacle, createAfterSalesObstacle, returnReasonsByKind } from "./reasons.ts";
import { createZeroReturnShippingFee, getReturnMethodsOfPolicy } from "./refund-terms.ts";

export type WarrantyRemedy = "repair" | "replacement";

/** Returns the after-sales option to have delivered units of an order line repaired or replaced. */
export function evaluateWarrantyOption(
  context: LineAfterSalesEvaluationInput,
  kind: WarrantyRemedy,
): AfterSalesOption {
  const { order, line } = context;
  const registration = isGuaranteed(context) ? undefined : findWarrantyOfOrderLine(order, line);
  const units = countReturnableUnitsOfLine(order, line);
  const first = prependOrderStateObstacles(order, { isRight: false, reasons: units.reasons });
  const rest =
    registration === undefined
      ? guaranteeObstacles(context)
      : registrationObstacles(context, { registration, kind });
  return buildAfterSalesOption({
    kind,
    reasons: first.length > 0 ? first : [...goodsObstacles(context), ...rest],
    quantity:
      registration === undefined
        ? units.quantity
        : Math.min(units.quantity, remainingUnitsOf(context, { registration, kind })),
    codes: returnReasonsByKind[kind],
    window: laterWindow(context),
    policyId: getOrderPolicy(order, "warranty").id,
    terms: () => termsOf(context, kind),
  });
}

/**
 * Returns true if the statutory guarantee has not ended. Until its end, a registered warranty cannot reduce
 * the buyer's rights.
 */
const isGuaranteed = ({ facts, windows: { guarantee } }: LineAfterSalesEvaluationInput): boolean =>
  guarantee !== null && !isTimeWindowOver(guarantee, facts.now);

interface RegisteredBenefit {
  readonly registration: OrderWarranty;
  readonly kind: WarrantyRemedy;
}

const statusesBeforeInspection: ReadonlySet<ReturnStatus> = new Set([
  "requested",
  "approved",
  "in_transit",
  "received",
]);

/**
 * Counts the repairs or replacements that a buyer may still request for an order line under its warranty.
 * This is the number that the warranty still grants, plus accepted claims without a return, minus units of
 * returns that are not inspected yet.
 */
function remainingUnitsOf(
  { order, line }: LineAfterSalesEvaluationInput,
  { registration, kind }: RegisteredBenefit,
): number {
  const requestedReturns = order.returns
    .filter((found) => found.kind === kind && statusesBeforeInspection.has(found.status))
    .flatMap(({ lines }) => lines);
  const underWay = requestedReturns.reduce(
    (sum, { lineId, quantity }) => (lineId === line.id ? sum + quantity : sum),
    0,
  );
  return (
    getRemainingWarrantyRemedyCount(registration, kind) +
    findAcceptedWarrantyClaimsWithoutReturn(registration, kind).length -
    underWay
  );
}

function goodsObstacles({ line }: LineAfterSalesEvaluationInput): AfterSalesObstacle[] {
  const has = (restriction: string): boolean => line.restrictions.includes(restriction);
  return [
    ...(has("perishable") ? [createAfterSalesObstacle("perishable")] : []),
    ...(has("digital") ? [createAfterSalesObstacle("digital_content_used")] : []),
    ...(has("gift_card") ? [createAfterSalesObstacle("gift_card")] : []),
  ];
}

function guaranteeObstacles({ facts, windows }: LineAfterSalesEvaluationInput): AfterSalesObstacle[] {
  const { guarantee, warranted } = windows;
  const isRegistrable = warranted !== null && !isTimeWindowOver(warranted, facts.now);
  if (guarantee === null || (isRegistrable && isTimeWindowOver(guarantee, facts.now)))
    return [createAfterSalesObstacle("warranty_not_registered")];
  return isTimeWindowOver(guarantee, facts.now)
    ? [createAfterSalesObstacle("warranty_expired", { data: { endsAt: guarantee.endsAt } })]
    : [];
}

function registrationObstacles(
  context: LineAfterSalesEvaluationInput,
  { registration, kind }: RegisteredBenefit,
): AfterSalesObstacle[] {
  const { status, endsAt, claims } = registration;
  const open = claims.find((claim) => claim.status === "open");
  return [
    ...(open === undefined
      ? []
      : [createAfterSalesObstacle("return_in_progress", { data: { claimId: open.id } })]),
    ...(status === "void" ? [createAfterSalesObstacle("warranty_void")] : []),
    ...(isTimeWindowOver(registration, context.facts.now)
      ? [createAfterSalesObstacle("warranty_expired", { data: { endsAt } })]
      : []),
    ...(remainingUnitsOf(context, { registration, kind }) < 1
      ? [createAfterSalesObstacle("benefit_exhausted", { data: { kind } })]
      : []),
  ];
}

const noWindow: OrderTimeWindow = { clock: "warranty_start", startsAt: null, endsAt: null, estimated: false };

/**
 * Returns the window of the registered warranty or the window of the statutory guarantee: the one that ends
 * later.
 */
function laterWindow({ windows: { registered, guarantee } }: LineAfterSalesEvaluationInput): OrderTimeWindow {
  if (registered === null) return guarantee ?? noWindow;
  return (guarantee?.endsAt ?? "") > (registered.endsAt ?? "") ? (guarantee ?? registered) : registered;
}

function termsOf(context: LineAfterSalesEvaluationInput, kind: WarrantyRemedy): AfterSalesOptionTerms {
  const hasSerial = (findWarrantyOfOrderLine(context.order, context.line)?.serialNumber ?? null) !== null;
  return {
    methods: getReturnMethodsOfPolicy(getOrderPolicy(context.order, "return").rules),
    fees: [createZeroReturnShippingFee(context)],
    estimatedRefund: null,
    settlement: kind === "replacement" ? ["replacement"] : [],
    evidenceRequired: [hasSerial ? "serial_number" : "receipt"],
  };
}

/** Returns the number of repairs or of replacements that a warranty still grants. */
export function getRemainingWarrantyRemedyCount(
  { repairsLeft, replacementsLeft }: OrderWarranty,
  kind: WarrantyRemedy,
): number {
  return kind === "repair" ? repairsLeft : replacementsLeft;
}

/**
 * Returns the ids of accepted warranty claims for which no return exists yet. Each accepted claim grants one
 * repair or replacement.
 */
export function findAcceptedWarrantyClaimsWithoutReturn(
  { claims }: OrderWarranty,
  kind: WarrantyRemedy,
): string[] {
  return claims
    .filter((claim) => claim.kind === kind && claim.status === "accepted" && claim.returnId === null)
    .map(({ id }) => id);
}
