/**
 * Writes down the policies that an order is placed under, complete and in its buyer's language: the market's own, else the merchant's for all markets,
 * else the defaults.
 */
import { sql } from "kysely";
import type { Tenant } from "#commerce/catalog/write-tenant.ts";
import { type PolicyType, policyTypes } from "#commerce/markets/policies.ts";
import { completeRules, type RulesByType, type StoredRules } from "#commerce/markets/policy-rules.ts";
import type { Transaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import { chooseLocale } from "#foundation/locales.ts";
import { defaultSummary } from "./default-summaries.ts";

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
  readonly rules: StoredRules;
  readonly currency: string;
  readonly marketLocale: string;
  readonly merchantLocale: string;
}

export async function snapshotPolicies(
  transaction: Transaction,
  { merchantId, now }: Pick<Tenant, "merchantId" | "now">,
  order: PoliciesToSnapshot,
): Promise<void> {
  const { rows } = await sql<PolicyFound>`
    select p.type, p.market_id, p.summaries, p.url, p.rules, m.currency, m.default_locale as market_locale, mer.default_locale as merchant_locale
    from policy p join market m on m.id = ${order.marketId} join merchant mer on mer.id = p.merchant_id
    where p.merchant_id = ${merchantId} and (p.market_id is null or p.market_id = ${order.marketId})
    order by p.market_id nulls last`.execute(transaction);
  const snapshots = policyTypes.map((type) => {
    const { summary, url, rules } = snapshotOf(type, { found: rows.find((row) => row.type === type), order });
    return { id: createId("policy", now.getTime()), orderId: order.orderId, merchantId, type, summary, url, rules, capturedAt: now };
  });
  await transaction.insertInto("policySnapshot").values(snapshots).execute();
}

interface Snapshot {
  readonly summary: string;
  readonly url: string | null;
  readonly rules: string;
}

function snapshotOf(type: PolicyType, { found, order }: { readonly found: PolicyFound | undefined; readonly order: PoliciesToSnapshot }): Snapshot {
  const stored: StoredRules = found === undefined ? {} : inCurrency(found, order.currency);
  const rules = completeRules(type, stored, order);
  const summary = found === undefined ? undefined : summaryOf(found, order.locale);
  return { summary: summary ?? defaultSummary(type, rules), url: found?.url ?? null, rules: JSON.stringify(rules) };
}

function summaryOf({ summaries, marketLocale, merchantLocale }: PolicyFound, locale: string): string | undefined {
  return summaries[chooseLocale(Object.keys(summaries), [locale], [marketLocale, merchantLocale]) ?? ""];
}

/** An order keeps its currency though its market may have another by now: its amounts are none of the order's. */
function inCurrency({ rules, currency }: PolicyFound, orderCurrency: string): StoredRules {
  if (currency === orderCurrency) return rules;
  const { returnShippingMinor: _postage, keepItemMinor: _threshold, ...rest } = rules as Partial<RulesByType["return"]>;
  return rest;
}
