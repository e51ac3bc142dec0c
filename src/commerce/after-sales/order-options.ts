/** What a buyer may ask for about the order as a whole: its lines' own options together. */
import type { Window } from "#commerce/orders/order-terms.ts";
import { bestDecision, withoutRepeats } from "#commerce/orders/eligibility-reason.ts";
import type { LineQuantity, OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { money } from "#foundation/money.ts";
import type { AfterSalesOption, AskedOfLine, OrderOption } from "./option.ts";
import { notReceived, withdrawal } from "./return-options.ts";
import { returnValue } from "./return-value.ts";

/** The money for all that was sent and never came. */
export function lostParcels(lines: readonly AskedOfLine[]): OrderOption {
  return together("refund_undelivered", lines, notReceived);
}

/** The right of withdrawal, used for everything that it is there for. */
export function wholeWithdrawal(lines: readonly AskedOfLine[]): OrderOption {
  return together("withdrawal", lines, (asked) => withdrawal({ ...asked, isFault: false }));
}

function together(kind: OrderOption["kind"], lines: readonly AskedOfLine[], optionOf: (asked: AskedOfLine) => AfterSalesOption): OrderOption {
  const options = lines.map((asked) => ({ asked, option: optionOf(asked) }));
  const decision = bestDecision(options.map(({ option }) => option.decision));
  const best = askedTogether(options.filter(({ option }) => option.decision === decision));
  const [first] = best;
  if (first === undefined) throw new Error("An order has no lines.");
  const chosen = best.map(({ asked, option }) => ({ lineId: asked.line.id, quantity: option.eligibleQuantity }));
  const { option, asked } = first;
  return {
    ...option,
    kind,
    decision,
    eligibleQuantity: chosen.reduce((sum, { quantity }) => sum + quantity, 0),
    reasons: withoutRepeats(best.flatMap((one) => one.option.reasons)),
    window: earliest(best.map((one) => one.option.window)),
    ...(decision === "denied" ? {} : amountsOf(asked.order, { option, chosen })),
  };
}

interface Offered {
  readonly asked: AskedOfLine;
  readonly option: AfterSalesOption;
}

/** What is sent back and what nobody has sent are no one request: where there is something to send back, that is meant. */
function askedTogether(best: readonly Offered[]): readonly Offered[] {
  const sentBack = best.filter(({ option }) => !option.methods.includes("keep_item"));
  return sentBack.length > 0 ? sentBack : best;
}

/** The postage is paid once, the delivery given back only with the last of what was delivered. */
function amountsOf(
  order: OrderAggregate,
  { option, chosen }: { readonly option: AfterSalesOption; readonly chosen: readonly LineQuantity[] },
): Pick<OrderOption, "estimatedRefund"> {
  const isLost = option.kind === "refund_only";
  const { refundMinor } = returnValue(order, { kind: option.kind, isFault: isLost, isLost, method: option.methods[0] ?? "mail", lines: chosen });
  return { estimatedRefund: money(refundMinor, order.currency) };
}

/** The one that begins first. */
function earliest(windows: readonly Window[]): Window {
  const [first, ...rest] = windows;
  if (first === undefined) throw new Error("There is no window.");
  return rest.reduce(
    (best, window) => (window.startsAt !== null && (best.startsAt === null || window.startsAt < best.startsAt) ? window : best),
    first,
  );
}
