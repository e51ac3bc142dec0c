/**
 * What the merchant promises about cancellations, returns, withdrawals and warranty: once for all markets, and for a market that has its own. Its
 * version rises with every change, because orders keep the one they were placed under.
 */
import { sql } from "kysely";
import type { Transaction } from "#database/transaction.ts";
import { isHttpsUrl, localizedFaults, type LocalizedTextInput, toLocalizedMap } from "#commerce/catalog/catalog-fields.ts";
import { choiceFaults, faultAt, type Faults, requireNoFaults } from "#foundation/faults.ts";
import { lockCatalog, raiseCatalogVersion } from "#commerce/catalog/change-catalog.ts";
import { createId } from "#foundation/ids.ts";
import { type CommandContext, requireVersion } from "#commerce/command-context.ts";
import { requireMarket } from "./of-market.ts";
import { type PolicyRulesInput, requireOwnCategories, ruleFaults, toStoredRules } from "./policy-rule-faults.ts";

export const policyTypes = ["cancellation", "return", "withdrawal", "warranty"] as const;
export type PolicyType = (typeof policyTypes)[number];

export interface PolicyUpsertInput {
  /** Left out or null: in force in every market that has none of its own. */
  readonly marketId?: string | null | undefined;
  readonly type: PolicyType;
  readonly expectedVersion?: number | null | undefined;
  readonly summaries: readonly LocalizedTextInput[];
  readonly url?: string | null | undefined;
  /** What eligibility is decided by; left out: the defaults. */
  readonly rules?: PolicyRulesInput | null | undefined;
}

const summaryMax = 1000;

export async function upsertPolicy(transaction: Transaction, tenant: CommandContext, input: PolicyUpsertInput): Promise<{ policyId: string }> {
  requireNoFaults(policyFaults(input));
  await lockCatalog(transaction, tenant);
  const marketId = input.marketId ?? null;
  if (marketId !== null) await requireMarket(transaction, tenant, marketId);
  await requireOwnCategories(transaction, tenant, input.rules ?? {});
  const existing = await transaction
    .selectFrom("policy")
    .select(["id", "version"])
    .where("merchantId", "=", tenant.merchantId)
    .where("type", "=", input.type)
    .where(sql<boolean>`market_id is not distinct from ${marketId}`)
    .executeTakeFirst();
  if (existing !== undefined) {
    const { id, version } = existing;
    requireVersion({ resource: "policy", id, currentStatus: null, currentVersion: version, reason: null, data: {} }, input.expectedVersion);
  }
  const policyId = existing?.id ?? createId("policy", tenant.now.getTime());
  if (await savePolicy(transaction, tenant, { ...input, policyId, marketId })) await raiseCatalogVersion(transaction, tenant);
  return { policyId };
}

/** Whether it is another policy than before. */
async function savePolicy(
  transaction: Transaction,
  { merchantId, now }: CommandContext,
  { policyId, marketId, type, summaries, url, rules }: PolicyUpsertInput & { readonly policyId: string; readonly marketId: string | null },
): Promise<boolean> {
  const texts = JSON.stringify(toLocalizedMap(summaries));
  const stored = JSON.stringify(toStoredRules({ type, rules: rules ?? {} }));
  const { rows } = await sql`
    insert into policy as p (id, merchant_id, market_id, type, summaries, url, rules, updated_at)
    values (${policyId}, ${merchantId}, ${marketId}, ${type}, ${texts}::jsonb, ${url ?? null}, ${stored}::jsonb, ${now})
    on conflict (id) do update set summaries = excluded.summaries, url = excluded.url, rules = excluded.rules, version = p.version + 1,
      updated_at = excluded.updated_at
    where (p.summaries, p.url, p.rules) is distinct from (excluded.summaries, excluded.url, excluded.rules)
    returning id`.execute(transaction);
  return rows.length > 0;
}

function policyFaults({ type, marketId, summaries, url, rules }: PolicyUpsertInput): Faults {
  return [
    ...choiceFaults("/type", type, { allowed: policyTypes, noun: "type" }),
    ...localizedFaults("/summaries", summaries, { max: summaryMax, lines: "many" }),
    ...(url === null || url === undefined || isHttpsUrl(url)
      ? []
      : [faultAt("/url", "pattern_mismatch", "It must be an https address without credentials.")]),
    ...ruleFaults({ type, marketId: marketId ?? null, rules: rules ?? {} }),
  ];
}
