/** What hangs on a market looks it up here: it must be the merchant's own. */
import type { Transaction } from "#database/transaction.ts";
import { fail } from "#foundation/failure.ts";
import { faultAt } from "#foundation/faults.ts";
import type { CommandContext } from "#commerce/command-context.ts";
import { toId } from "#foundation/ids.ts";

export interface MarketOf {
  readonly id: string;
  readonly currency: string;
  readonly countries: readonly string[];
}

export async function requireMarket(transaction: Transaction, tenant: CommandContext, marketId: string): Promise<MarketOf> {
  const rows = await transaction
    .selectFrom("market")
    .leftJoin("marketCountry", "marketCountry.marketId", "market.id")
    .select(["market.id", "market.currency", "marketCountry.country"])
    .where("market.merchantId", "=", tenant.merchantId)
    .where("market.id", "=", toId(marketId))
    .execute();
  const [first] = rows;
  if (first === undefined) throw fail("resource_not_found", { details: [faultAt("/marketId", "resource_not_found", "There is no such market.")] });
  return { id: first.id, currency: first.currency, countries: rows.flatMap(({ country }) => country ?? []) };
}
