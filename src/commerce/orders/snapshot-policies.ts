/**
 * Stores the policies of an order, with complete rules, as they are at the time of purchase. A policy for the
 * market comes first, then the merchant's policy for all markets, then the default rules. The merchant's
 * summaries are stored in all locales. In addition, one summary for the order's locale is stored; it is
 * generated from the rules if the merchant has written none.
 */
import { sql } from "kysely";
import {
  chooseEligibilityTextLanguage,
  generatePolicySummaryFromRules,
} from "#commerce/eligibility-texts/eligibility-catalogue.ts";
import { type PolicyType, policyTypes } from "#commerce/markets/change-policy.ts";
import {
  completePolicyRulesWithDefaults,
  type PolicyRulesByType,
  type StoredPolicyRules,
} from "#commerce/markets/policy-rules.ts";
import type { Transaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import { chooseBestLocale } from "#foundation/text.ts";
import type { MerchantCommandContext } from "#commerce/command-context.ts";

export interface OrderToSnapshotPoliciesFor {
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

export async function snapshotPoliciesForOrder(
  transaction: Transaction,
  { merchantId, now }: Pick<MerchantCommandContext, "merchantId" | "now">,
  order: OrderToSnapshotPoliciesFor,
): Promise<void> {
  const { rows } = await sql<PolicyFound>`
    select p.type, p.market_id, p.summaries, p.url, p.rules, m.currency, m.default_locale as market_locale,
    mer.default_locale as merchant_locale
    from policy p join market m on m.id = ${order.marketId} join merchant mer on mer.id = p.merchant_id
    where p.merchant_id = ${merchantId} and (p.market_id is null or p.market_id = ${order.marketId})
    order by p.market_id nulls last`.execute(transaction);
  const snapshots = policyTypes.map((type) => {
    const { summary, summaries, url, rules } = snapshotOf(type, {
      found: rows.find((row) => row.type === type),
      order,
    });
    return {
      id: createId("policy", now.getTime()),
      orderId: order.orderId,
      merchantId,
      type,
      summary,
      summaries,
      url,
      rules,
      capturedAt: now,
    };
  });
  await transaction.insertInto("policySnapshot").values(snapshots).execute();
}

interface Snapshot {
  readonly summary: string;
  /**
   * The merchant's summaries of the policy, as a JSON object that maps a locale to the summary in this
   * locale.
   */
  readonly summaries: string;
  readonly url: string | null;
  readonly rules: string;
}

function snapshotOf(
  type: PolicyType,
  { found, order }: { readonly found: PolicyFound | undefined; readonly order: OrderToSnapshotPoliciesFor },
): Snapshot {
  const stored: StoredPolicyRules = found === undefined ? {} : inCurrency(found, order.currency);
  const rules = completePolicyRulesWithDefaults(type, stored, order);
  const summary = found === undefined ? undefined : summaryOf(found, order.locale);
  return {
    summary:
      summary ?? generatePolicySummaryFromRules(type, rules, chooseEligibilityTextLanguage([order.locale])),
    summaries: JSON.stringify(found?.summaries ?? {}),
    url: found?.url ?? null,
    rules: JSON.stringify(rules),
  };
}

function summaryOf(
  { summaries, marketLocale, merchantLocale }: PolicyFound,
  locale: string,
): string | undefined {
  return summaries[chooseBestLocale(Object.keys(summaries), [locale], [marketLocale, merchantLocale]) ?? ""];
}

/**
 * Removes amounts from a policy's rules if the amounts are in another currency than the order. This happens
 * if the currency of the market has changed.
 */
function inCurrency({ rules, currency }: PolicyFound, orderCurrency: string): StoredPolicyRules {
  if (currency === orderCurrency) return rules;
  const {
    returnShippingMinor: _postage,
    keepItemMinor: _threshold,
    ...rest
  } = rules as Partial<PolicyRulesByType["return"]>;
  return rest;
}
