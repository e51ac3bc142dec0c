/**
 * Opaque buyer references (`byr_…`), which orders show instead of the buyer references that the frontend
 * uses. Computes them, and finds orders by them.
 */
import { createHash, createHmac } from "node:crypto";
import { type RawBuilder, sql } from "kysely";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import type { OrderAggregate } from "./order-aggregate.ts";

const prefix = "byr_";
const digits = 26;
const pattern = /^byr_[0-9a-f]{26}$/;

/** Returns true if the text has the form of an opaque buyer reference. */
export const isOpaqueBuyerReference = (text: string): boolean => pattern.test(text);

/**
 * Computes the buyer reference that integrators see instead of the frontend's own reference. All orders of a
 * buyer with one merchant have the same reference; each order of a guest has a different one. The HMAC key is
 * a secret of the merchant. A key of ENCRYPTION_KEYS cannot be used, because these keys are replaced over
 * time, while integrators keep the references.
 */
export function createOpaqueBuyerReference({
  id,
  merchant,
  buyerReference,
}: Pick<OrderAggregate, "id" | "merchant" | "buyerReference">): string {
  const known = buyerReference === null ? `order:${id}` : `buyer:${buyerReference}`;
  return `${prefix}${createHmac("sha256", merchant.referenceKey).update(known).digest("hex").slice(0, digits)}`;
}

export interface MerchantAndOpaqueBuyerReference {
  readonly merchantId: string;
  /** The opaque buyer reference, `byr_…`. */
  readonly reference: string;
}

/**
 * Creates the SQL condition that selects the orders with an opaque buyer reference. The references are not
 * stored, so the condition computes the reference of each order. PostgreSQL without extensions has no HMAC
 * function, so the condition computes the HMAC with two calls of sha256 (RFC 2104).
 */
export async function createOpaqueBuyerReferenceSqlCondition(
  reader: DatabaseOrTransaction,
  { merchantId, reference }: MerchantAndOpaqueBuyerReference,
): Promise<RawBuilder<boolean>> {
  const merchant = await reader
    .selectFrom("merchant")
    .select("referenceKey")
    .where("id", "=", merchantId)
    .executeTakeFirst();
  if (merchant === undefined) return sql<boolean>`false`;
  const { inner, outer } = createHmacPads(merchant.referenceKey);
  const known = sql`convert_to(case when sales_order.buyer_reference is null then 'order:' || sales_order.id
    else 'buyer:' || sales_order.buyer_reference end, 'UTF8')`;
  return sql<boolean>`encode(sha256(${outer}::bytea || sha256(${inner}::bytea || ${known})), 'hex')
    like ${`${reference.slice(prefix.length)}%`}`;
}

/** Length of the blocks that SHA-256 processes, in bytes. */
const blockBytes = 64;

/**
 * Returns the two padded key blocks of HMAC-SHA-256. The block `inner` is put before the text, the block
 * `outer` before the inner hash.
 */
function createHmacPads(key: string): { readonly inner: Buffer; readonly outer: Buffer } {
  const given = Buffer.from(key, "utf8");
  const short = given.length > blockBytes ? createHash("sha256").update(given).digest() : given;
  const block = Buffer.alloc(blockBytes);
  short.copy(block);
  const combine = (pad: number): Buffer => Buffer.from(block.map((byte) => byte ^ pad));
  return { inner: combine(0x36), outer: combine(0x5c) };
}
