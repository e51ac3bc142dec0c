/**
 * Adds two promotion codes with percentages that apply to every cart of a merchant. The scenario `promotion`
 * needs two codes, and the demo has only one.
 */
import type { Client } from "pg";
import { createId } from "#foundation/ids.ts";

export const percentageCodes = [
  { code: "BENCH10", basisPoints: 1000 },
  { code: "BENCH20", basisPoints: 2000 },
] as const;

export async function addPercentageCodes(client: Client, merchantId: string): Promise<void> {
  for (const { code, basisPoints } of percentageCodes) {
    const titles = { en: `${basisPoints / 100} % off`, de: `${basisPoints / 100} % auf alles` };
    await client.query(
      `with added as (
         insert into promotion
           (id, merchant_id, trigger, kind, status, titles, basis_points, version, created_at, updated_at)
         values ($1, $2, 'code', 'percentage', 'active', $3, $4, 2, now(), now()) returning id, merchant_id)
       insert into promotion_code (id, merchant_id, promotion_id, code, code_normalized, created_at)
       select $5, merchant_id, id, $6, lower($6), now() from added`,
      [createId("promotion"), merchantId, titles, basisPoints, createId("promotionCode"), code],
    );
  }
}
