/**
 * Stores the policies of an order at the time of purchase, complete and in the buyer's language: the policies
 * of the market, otherwise the merchant's policies for all markets, otherwise the defaults. A policy without
 * the merchant's text gets a summary that is generated from its rules.
 */
import { sql } from "kysely";
import { type PolicyType, policyTypes } from "#commerce/markets/change-policy.ts";
import {
  type CancellationRules,
  completePolicyRules,
  type ReturnRules,
  type PolicyRulesByType,
  type StoredPolicyRules,
} from "#commerce/markets/policy-rules.ts";
import type { Transaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import { chooseLocale } from "#foundation/text.ts";
import type { CommandContext } from "#commerce/command-context.ts";

export interface PoliciesToSnapshot {
  readonly orderId: string;
  readonly marketId: string;
  readonly country: string;
  readonly locale: string;
  readonly currency: string;
}

interface PolicyFound {
  readonly type: PolicyType;
  readonly marketId: string | null;
  readonly summaries: Readonly<Record<string, string>>;
  readonly url: string | null;
  readonly rules: StoredPolicyRules;
  readonly currency: string;
  readonly marketLocale: string;
  readonly merchantLocale: string;
}

export async function snapshotPolicies(
  transaction: Transaction,
  { merchantId, now }: Pick<CommandContext, "merchantId" | "now">,
  order: PoliciesToSnapshot,
): Promise<void> {
  const { rows } = await sql<PolicyFound>`
    select p.type, p.market_id, p.summaries, p.url, p.rules, m.currency, m.default_locale as market_locale,
    mer.default_locale as merchant_locale
    from policy p join market m on m.id = ${order.marketId} join merchant mer on mer.id = p.merchant_id
    where p.merchant_id = ${merchantId} and (p.market_id is null or p.market_id = ${order.marketId})
    order by p.market_id nulls last`.execute(transaction);
  const snapshots = policyTypes.map((type) => {
    const { summary, url, rules } = snapshotOf(type, { found: rows.find((row) => row.type === type), order });
    return {
      id: createId("policy", now.getTime()),
      orderId: order.orderId,
      merchantId,
      type,
      summary,
      url,
      rules,
      capturedAt: now,
    };
  });
  await transaction.insertInto("policySnapshot").values(snapshots).execute();
}

interface Snapshot {
  readonly summary: string;
  readonly url: string | null;
  readonly rules: string;
}

function snapshotOf(
  type: PolicyType,
  { found, order }: { readonly found: PolicyFound | undefined; readonly order: PoliciesToSnapshot },
): Snapshot {
  const stored: StoredPolicyRules = found === undefined ? {} : inCurrency(found, order.currency);
  const rules = completePolicyRules(type, stored, order);
  const summary = found === undefined ? undefined : summaryOf(found, order.locale);
  return {
    summary: summary ?? createDefaultPolicySummary(type, rules),
    url: found?.url ?? null,
    rules: JSON.stringify(rules),
  };
}

function summaryOf(
  { summaries, marketLocale, merchantLocale }: PolicyFound,
  locale: string,
): string | undefined {
  return summaries[chooseLocale(Object.keys(summaries), [locale], [marketLocale, merchantLocale]) ?? ""];
}

/** Removes amounts from a policy's rules if the market's currency is no longer the order's currency. */
function inCurrency({ rules, currency }: PolicyFound, orderCurrency: string): StoredPolicyRules {
  if (currency === orderCurrency) return rules;
  const {
    returnShippingMinor: _postage,
    keepItemMinor: _threshold,
    ...rest
  } = rules as Partial<PolicyRulesByType["return"]>;
  return rest;
}

type Summaries = { readonly [Type in PolicyType]: (rules: PolicyRulesByType[Type]) => string };

const defaultSummaries: Summaries = {
  cancellation: (rules) => cancellationSummary(rules),
  return: (rules) => returnSummary(rules),
  withdrawal: ({ windowDays }) =>
    windowDays === 0
      ? "There is no right of withdrawal."
      : `You may withdraw from the purchase within ${days(windowDays)} of the delivery, or of the ` +
        "order where nothing is delivered, without giving a reason.",
  warranty: ({ months }) =>
    months === 0
      ? "There is no warranty beyond the statutory one."
      : `What you bought is guaranteed for ${counted(months, "month")} from its delivery.`,
};

export function createDefaultPolicySummary<Type extends PolicyType>(
  type: Type,
  rules: PolicyRulesByType[Type],
): string {
  return defaultSummaries[type](rules);
}

function cancellationSummary({ mode, windowMinutes, afterWindow }: CancellationRules): string {
  if (mode === "none") return "An order cannot be canceled by its buyer.";
  const may = mode === "request" ? "You may ask for the cancellation of an order" : "You may cancel an order";
  if (windowMinutes === null)
    return mode === "request"
      ? `${may} until it is shipped.`
      : `${may} until it is being packed; after that you may ask for it.`;
  const within = `${may} within ${counted(windowMinutes, "minute")}`;
  if (afterWindow === "deny") return `${within}, and not after that.`;
  return mode === "request"
    ? `${may} until it is shipped.`
    : `${within}; after that you may ask for it until it is shipped.`;
}

function returnSummary(rules: ReturnRules): string {
  const { mode, windowDays, exchangeWindowDays, extendUntil } = rules;
  if (mode === "none") return "The merchant accepts returns only where the law requires it.";
  const may = mode === "request" ? "You may ask to" : "You may";
  const returned = `${may} return what you bought ${within(windowDays)}`;
  const exchanged =
    exchangeWindowDays === null
      ? "; there are no exchanges"
      : `, and exchange it ${within(exchangeWindowDays)}`;
  const extended = extendUntil === null ? "" : `; in no case does that end before the end of ${extendUntil}`;
  return `${returned}${exchanged}${extended}.`;
}

const within = (windowDays: number | null): string =>
  windowDays === null ? "at any time" : `within ${days(windowDays)} of its delivery`;
const days = (count: number): string => counted(count, "day");
const counted = (count: number, unit: string): string => `${count} ${unit}${count === 1 ? "" : "s"}`;
