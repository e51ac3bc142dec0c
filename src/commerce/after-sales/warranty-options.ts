/**
 * What a buyer may have repaired or replaced: under a warranty that is registered, or by the law's guarantee
 * without one.
 */
import { isOver, policyOf, type Window } from "#commerce/orders/order-terms.ts";
import type { OrderWarranty } from "#commerce/orders/order-aggregate.ts";
import type { ReturnStatus } from "#commerce/orders/order-states.ts";
import {
  type AfterSalesOption,
  type AskedOfLine,
  type OptionTerms,
  registrationOf,
  toOption,
} from "./option.ts";
import { orderObstacles, returnable } from "./obstacles.ts";
import { type AfterSalesReason, obstacle, reasonsByKind } from "./reasons.ts";
import { merchantsPostage, sendingMethods } from "./return-options.ts";

export type Remedy = "repair" | "replacement";

export function remedy(asked: AskedOfLine, kind: Remedy): AfterSalesOption {
  const { order, line } = asked;
  const registration = isGuaranteed(asked) ? undefined : registrationOf(order, line);
  const units = returnable(order, line);
  const first = [...orderObstacles(order, { isRight: false }), ...units.reasons];
  const rest =
    registration === undefined
      ? guaranteeObstacles(asked)
      : registrationObstacles(asked, { registration, kind });
  return toOption({
    kind,
    reasons: first.length > 0 ? first : [...goodsObstacles(asked), ...rest],
    quantity:
      registration === undefined
        ? units.quantity
        : Math.min(units.quantity, leftOf(asked, { registration, kind })),
    codes: reasonsByKind[kind],
    window: shownWindow(asked),
    policyId: policyOf(order, "warranty").id,
    terms: () => termsOf(asked, kind),
  });
}

/** As long as the law's guarantee runs, a warranty takes nothing of it away, however little it grants itself. */
const isGuaranteed = ({ facts, windows: { guarantee } }: AskedOfLine): boolean =>
  guarantee !== null && !isOver(guarantee, facts.now);

interface Registered {
  readonly registration: OrderWarranty;
  readonly kind: Remedy;
}

const notLookedAt: ReadonlySet<ReturnStatus> = new Set(["requested", "approved", "in_transit", "received"]);

/**
 * What a claim was granted is there for what comes back under it; what is on its way back already will be
 * counted.
 */
function leftOf({ order, line }: AskedOfLine, { registration, kind }: Registered): number {
  const asked = order.returns
    .filter((found) => found.kind === kind && notLookedAt.has(found.status))
    .flatMap(({ lines }) => lines);
  const underWay = asked.reduce(
    (sum, { lineId, quantity }) => (lineId === line.id ? sum + quantity : sum),
    0,
  );
  return benefitLeft(registration, kind) + openGrants(registration, kind).length - underWay;
}

function goodsObstacles({ line }: AskedOfLine): AfterSalesReason[] {
  const has = (restriction: string): boolean => line.restrictions.includes(restriction);
  return [
    ...(has("perishable") ? [obstacle("perishable")] : []),
    ...(has("digital") ? [obstacle("digital_content_used")] : []),
    ...(has("gift_card") ? [obstacle("gift_card")] : []),
  ];
}

function guaranteeObstacles({ facts, windows }: AskedOfLine): AfterSalesReason[] {
  const { guarantee, warranted } = windows;
  const isRegistrable = warranted !== null && !isOver(warranted, facts.now);
  if (guarantee === null || (isRegistrable && isOver(guarantee, facts.now)))
    return [obstacle("warranty_not_registered")];
  return isOver(guarantee, facts.now)
    ? [obstacle("warranty_expired", { data: { endsAt: guarantee.endsAt } })]
    : [];
}

function registrationObstacles(asked: AskedOfLine, { registration, kind }: Registered): AfterSalesReason[] {
  const { status, endsAt, claims } = registration;
  const open = claims.find((claim) => claim.status === "open");
  return [
    ...(open === undefined ? [] : [obstacle("return_in_progress", { data: { claimId: open.id } })]),
    ...(status === "void" ? [obstacle("warranty_void")] : []),
    ...(isOver(registration, asked.facts.now) ? [obstacle("warranty_expired", { data: { endsAt } })] : []),
    ...(leftOf(asked, { registration, kind }) < 1 ? [obstacle("benefit_exhausted", { data: { kind } })] : []),
  ];
}

const noWindow: Window = { clock: "warranty_start", startsAt: null, endsAt: null, estimated: false };

/** Of a warranty and the law's guarantee the one that ends later. */
function shownWindow({ windows: { registered, guarantee } }: AskedOfLine): Window {
  if (registered === null) return guarantee ?? noWindow;
  return (guarantee?.endsAt ?? "") > (registered.endsAt ?? "") ? (guarantee ?? registered) : registered;
}

function termsOf(asked: AskedOfLine, kind: Remedy): OptionTerms {
  const hasSerial = (registrationOf(asked.order, asked.line)?.serialNumber ?? null) !== null;
  return {
    methods: sendingMethods(policyOf(asked.order, "return").rules),
    fees: [merchantsPostage(asked)],
    estimatedRefund: null,
    settlement: kind === "replacement" ? ["replacement"] : [],
    evidenceRequired: [hasSerial ? "serial_number" : "receipt"],
  };
}

export function benefitLeft({ repairsLeft, replacementsLeft }: OrderWarranty, kind: Remedy): number {
  return kind === "repair" ? repairsLeft : replacementsLeft;
}

/** Claims that were accepted, and that nothing has come back under yet: each grants one. */
export function openGrants({ claims }: OrderWarranty, kind: Remedy): string[] {
  return claims
    .filter((claim) => claim.kind === kind && claim.status === "accepted" && claim.returnId === null)
    .map(({ id }) => id);
}
