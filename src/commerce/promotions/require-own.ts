/** What a promotion names must be the merchant's own: products, categories, markets, and a currency that it sells in. */
import { sql } from "kysely";
import { faultAt, type Faults, refuseAt } from "#foundation/faults.ts";
import type { Transaction } from "#database/transaction.ts";
import { fail, type FailureDetail } from "#foundation/failure.ts";
import type { CommandContext } from "#commerce/command-context.ts";
import { toId } from "#foundation/ids.ts";
import type { PromotionFields, PromotionValues } from "./promotion-fields.ts";

const lists = [
  { name: "entitledProductIds", table: "product", thing: "product" },
  { name: "entitledCategoryIds", table: "category", thing: "category" },
  { name: "buyProductIds", table: "product", thing: "product" },
  { name: "buyCategoryIds", table: "category", thing: "category" },
  { name: "marketIds", table: "market", thing: "market" },
] as const;

/** Only what was given is looked up: what was deleted since does not stand in the way of another change. */
export async function requireOwnThings(transaction: Transaction, tenant: CommandContext, input: PromotionFields): Promise<void> {
  const missing: FailureDetail[] = [];
  for (const { name, table, thing } of lists) {
    const ids = input[name] ?? [];
    if (ids.length > 0) missing.push(...(await missingOf(transaction, tenant, { ids, table, name, thing })));
  }
  const [first] = missing;
  if (first !== undefined) throw fail("resource_not_found", { message: first.message, details: missing });
}

interface Named {
  readonly ids: readonly string[];
  readonly table: (typeof lists)[number]["table"];
  readonly name: string;
  readonly thing: string;
}

async function missingOf(transaction: Transaction, tenant: CommandContext, { ids, table, name, thing }: Named): Promise<Faults> {
  const { rows } = await sql<{ id: string }>`
    select id from ${sql.table(table)} where merchant_id = ${tenant.merchantId} and id = any(${ids.map(toId)}::text[])`.execute(transaction);
  const found = new Set(rows.map(({ id }) => id));
  return ids.flatMap((id, index) => (found.has(id) ? [] : [faultAt(`/${name}/${index}`, "resource_not_found", `There is no such ${thing}.`)]));
}

/** Of one of the promotion's markets, or it would never apply. */
export async function requireOwnCurrency(transaction: Transaction, tenant: CommandContext, { currency, marketIds }: PromotionValues): Promise<void> {
  if (currency === null) return;
  const { rows } = await sql`
    select 1 from market where merchant_id = ${tenant.merchantId} and currency = ${currency}
      and (cardinality(${marketIds}::text[]) = 0 or id = any(${marketIds}::text[])) limit 1`.execute(transaction);
  if (rows.length > 0) return;
  throw refuseAt("invalid_field", "/currency", { code: "currency_mismatch", message: "None of the promotion's markets sells in this currency." });
}
