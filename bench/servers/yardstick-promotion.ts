/**
 * Applies a promotion code for the yardstick, in one transaction of three statements. The first locks the
 * cart and reads the idempotency record. The second reads the cart with its prices and promotion. The third
 * writes the cart, the idempotency record and the event.
 */
import { createHash } from "node:crypto";
import type { Pool, PoolClient } from "pg";
import { createId } from "#foundation/ids.ts";
import { cartSql } from "./yardstick-cart.ts";
import {
  type CartLine,
  type CartPromotion,
  type CartRow,
  toCartPage,
  toPromotionState,
} from "./yardstick-cart-page.ts";

export interface PromotionRequest {
  readonly cartId: string;
  readonly merchantId: string;
  readonly installationId: string;
  readonly key: string;
  readonly code: string;
  readonly publicUrl: string;
}

export interface PromotionAnswer {
  readonly status: number;
  readonly body: string;
}

const lockSql = `
select r.fingerprint, r.sealed from cart c left join idempotency_record r on r.owner_id = $3
and r.idempotency_key = $4
where c.id = $1 and c.merchant_id = $2 for no key update of c`;

/** Reads the cart, its current prices and the promotion. `$3` is the normalized code. */
const readSql = cartSql(
  "$1",
  "$2",
  `,
  (select json_object_agg(pr.variant_id, json_build_array(pr.amount_minor, pr.compare_at_minor))
    from cart_line l join price pr on pr.variant_id = l.variant_id
    where l.cart_id = c.id and pr.market_id = c.market_id and pr.valid_until is null) as prices,
  (select json_build_object('promotionId', pm.id, 'codeId', pc.id, 'trigger', 'code', 'state', 'applied',
      'suspendedReason', null, 'code', pc.code, 'titles', pm.titles, 'kind', pm.kind,
      'basisPoints', pm.basis_points, 'amount', pm.amount_minor, 'currency', pm.currency,
      'isExclusive', pm.is_exclusive,
      'startsAt', to_char(pm.starts_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'endsAt', to_char(pm.ends_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    from promotion_code pc join promotion pm on pm.id = pc.promotion_id
    where pc.merchant_id = c.merchant_id and pc.code_normalized = $3
      and pm.status = 'active' and pm.kind = 'percentage'
      and coalesce(pm.starts_at <= now(), true) and coalesce(pm.ends_at > now(), true)) as wanted`,
);

const writeSql = `
with saved as (
  update cart set version = version + 1, subtotal_minor = $3, discount_minor = $4, total_minor = $5, warnings
  = '[]', updated_at = $6::timestamptz,
    expires_at = $6::timestamptz + interval '30 days' where id = $1 and version = $2),
lines as (
  update cart_line l set unit_price_minor = n.unit, compare_at_minor = n."compareAt", subtotal_minor =
  n.subtotal, discount_minor = n.discount, total_minor = n.total
  from json_to_recordset($7::json) as n(id text, unit bigint, "compareAt" bigint, subtotal bigint, discount
  bigint, total bigint) where l.id = n.id and l.cart_id = $1),
coded as (
  insert into cart_promotion (cart_id, promotion_id, trigger, promotion_code_id, state, discount_minor,
  allocations, position)
  values ($1, $8, 'code', $9, 'applied', $4, $10, 0)
  on conflict (cart_id) where trigger = 'code' do update
  set promotion_id = excluded.promotion_id, promotion_code_id = excluded.promotion_code_id,
    state = 'applied', suspended_reason = null, discount_minor = excluded.discount_minor, allocations =
    excluded.allocations, position = 0),
record as (
  insert into idempotency_record (owner_id, idempotency_key, fingerprint, status, content_type, sealed,
  data_key, key_id, created_at)
  values ($11, $12, $13, 200, 'application/json; charset=utf-8', $14, '', 'none', $6::timestamptz))
insert into event (id, merchant_id, type, schema_version, subject_type, subject_id, subject_version, snapshot,
thin, occurred_at)
values ($15, $16, 'cart.promotion_applied', 1, 'cart', $1, $2 + 1, $17, $18, $6::timestamptz)`;

interface PricedRow extends CartRow {
  /** The current prices by variant id. */
  readonly prices: Readonly<Record<string, readonly [amount: number, compareAt: number | null]>>;
  readonly wanted:
    | (Omit<CartPromotion, "discount" | "allocations" | "basisPoints"> & {
        readonly codeId: string;
        readonly basisPoints: number;
      })
    | null;
}

export async function applyPromotion(pool: Pool, request: PromotionRequest): Promise<PromotionAnswer> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    const answer = await applyOnce(client, request);
    await client.query("commit");
    return answer;
  } catch (error) {
    await client.query("rollback");
    throw error;
  } finally {
    client.release();
  }
}

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();

async function applyOnce(
  client: PoolClient,
  { cartId, merchantId, installationId, key, code, publicUrl }: PromotionRequest,
): Promise<PromotionAnswer> {
  const digest = sha256(key);
  const fingerprint = sha256(`${cartId}\n${code}`);
  const { rows: locked } = await client.query<{ fingerprint: Buffer | null; sealed: Buffer }>({
    name: "lock",
    text: lockSql,
    values: [cartId, merchantId, installationId, digest],
  });
  const [earlier] = locked;
  if (earlier === undefined) return { status: 404, body: "{}" };
  if (earlier.fingerprint !== null)
    return earlier.fingerprint.equals(fingerprint)
      ? { status: 200, body: earlier.sealed.toString() }
      : { status: 422, body: "{}" };
  const { rows } = await client.query<PricedRow>({
    name: "priced",
    text: readSql,
    values: [cartId, merchantId, code.trim().toLowerCase()],
  });
  const [row] = rows;
  if (row === undefined || row.wanted === null) return { status: 422, body: "{}" };
  const now = new Date();
  const after = repriceWithPromotion(row, row.wanted, now);
  const present = row.promotions?.find(({ trigger }) => trigger === "code")?.code ?? null;
  const body = JSON.stringify({ data: toPromotionState(after, present) });
  const event = writeEvents(after, publicUrl, now);
  await client.query({
    name: "write",
    text: writeSql,
    values: [
      cartId,
      row.version,
      after.subtotal_minor,
      after.discount_minor,
      after.total_minor,
      now,
      JSON.stringify(after.lines),
      row.wanted.promotionId,
      row.wanted.codeId,
      JSON.stringify(after.promotions?.[0]?.allocations),
      installationId,
      digest,
      fingerprint,
      Buffer.from(body),
      event.id,
      merchantId,
      event.snapshot,
      event.thin,
    ],
  });
  return { status: 200, body };
}

/** Returns a share of an amount, with half-even rounding. */
function percentOf(amountMinor: number, basisPoints: number): number {
  const product = amountMinor * basisPoints;
  const rest = product % 10_000;
  const below = (product - rest) / 10_000;
  return rest > 5000 || (rest === 5000 && below % 2 === 1) ? below + 1 : below;
}

const lifeMs = 30 * 86_400_000;

function repriceWithPromotion(row: PricedRow, wanted: NonNullable<PricedRow["wanted"]>, now: Date): CartRow {
  if (row.address !== null || row.promotions?.some(({ trigger }) => trigger === "automatic") === true)
    throw new Error(
      `Cart ${row.id} has an address or automatic promotions, which the yardstick cannot price.`,
    );
  const lines = (row.lines ?? []).map((line): CartLine => {
    const [unit, compareAt] = row.prices[line.variantId] ?? [line.unit, line.compareAt];
    const subtotal = unit * line.quantity;
    const discount = percentOf(subtotal, wanted.basisPoints);
    return Object.assign(line, { unit, compareAt, subtotal, discount, total: subtotal - discount });
  });
  const subtotal = lines.reduce((sum, line) => sum + line.subtotal, 0);
  const discount = lines.reduce((sum, line) => sum + line.discount, 0);
  const allocations = lines
    .filter((line) => line.discount > 0)
    .map(({ id, discount: amountMinor }) => ({ lineId: id, amountMinor }));
  return {
    ...row,
    version: row.version + 1,
    lines,
    subtotal_minor: subtotal,
    discount_minor: discount,
    total_minor: subtotal - discount,
    promotions: [{ ...wanted, discount, allocations }],
    warnings: [],
    updated_at: now.toISOString(),
    expires_at: new Date(now.getTime() + lifeMs).toISOString(),
  };
}

function writeEvents(
  row: CartRow,
  publicUrl: string,
  now: Date,
): { readonly id: string; readonly snapshot: string; readonly thin: string } {
  const id = createId("event", now.getTime());
  const bodyOf = (object: Readonly<Record<string, unknown>>): string =>
    JSON.stringify({
      id,
      type: "cart.promotion_applied",
      schemaVersion: 1,
      apiVersion: "v1",
      timestamp: now.toISOString(),
      mode: row.mode,
      merchantId: row.merchant_id,
      subject: { type: "cart", id: row.id, version: row.version },
      data: { object, previous: null, truncated: false },
      cause: { operationId: "applyPublicCartPromotion", actor: "api_key", requestId: null },
    });
  return { id, snapshot: bodyOf(toCartPage(row, publicUrl)), thin: bodyOf({ id: row.id }) };
}
