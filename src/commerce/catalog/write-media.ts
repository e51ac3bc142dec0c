/** Pictures and films of a product. Only addresses are kept: on https, or a path of this service, so that no page mixes in what is not encrypted. */
import { sql } from "kysely";
import type { Transaction } from "#database/transaction.ts";
import { fail } from "#foundation/failure.ts";
import { createId } from "#foundation/ids.ts";
import { catalogBounds } from "./write-bounds.ts";
import { isHttpsUrl, localizedFaults, type LocalizedTextInput, toLocalizedMap } from "./write-faults.ts";
import { faultAt, type Faults, integerFaults, requireNoFaults } from "#foundation/faults.ts";
import { conflictOf, lockEditableProduct, recordProductChange, type Tenant, toId } from "./write-tenant.ts";

export interface MediaAttachInput {
  readonly productId: string;
  readonly expectedVersion?: number | null | undefined;
  readonly type: "image" | "video";
  /** Absolute on https, or a path that starts with `/media/`. */
  readonly url: string;
  /** What it shows, for those who don't see it; may be empty for decoration. */
  readonly alts: readonly LocalizedTextInput[];
  readonly width: number;
  readonly height: number;
  /** Counted from 0; those from there on move up. Without it: at the end. */
  readonly position?: number | null | undefined;
}

export interface MediaRemoveInput {
  readonly productId: string;
  readonly expectedVersion?: number | null | undefined;
  readonly mediaId: string;
}

export async function attachMedia(
  transaction: Transaction,
  tenant: Tenant,
  input: MediaAttachInput,
): Promise<{ productId: string; mediaId: string }> {
  requireNoFaults(mediaFaults(input));
  const product = await lockEditableProduct(transaction, tenant, input);
  const { total, last } = await transaction
    .selectFrom("media")
    .select((row) => [row.fn.countAll<number>().as("total"), row.fn.max("position").as("last")])
    .where("productId", "=", product.id)
    .executeTakeFirstOrThrow();
  if (total >= catalogBounds.mediaMax) {
    throw fail("invalid_state", { conflict: conflictOf(product, "media_limit_reached", { limit: catalogBounds.mediaMax }) });
  }
  const end = ((last as number | null) ?? -1) + 1;
  const position = Math.min(input.position ?? end, end);
  if (position < end) await makeRoom(transaction, product.id, position);
  const mediaId = createId("media", tenant.now.getTime());
  const { type, url, width, height } = input;
  const alts = JSON.stringify(toLocalizedMap(input.alts));
  await transaction
    .insertInto("media")
    .values({ id: mediaId, merchantId: tenant.merchantId, productId: product.id, type, url, alts, width, height, position })
    .execute();
  await recordProductChange(transaction, tenant, { changed: [{ before: product.before, types: ["product.updated"] }] });
  return { productId: product.id, mediaId };
}

async function makeRoom(transaction: Transaction, productId: string, position: number): Promise<void> {
  await sql`update media set position = position + 1 where product_id = ${productId} and position >= ${position}`.execute(transaction);
}

function mediaFaults({ type, url, alts, width, height, position }: MediaAttachInput): Faults {
  const side = { min: 1, max: catalogBounds.mediaSidePixelsMax };
  return [
    ...(["image", "video"].includes(type) ? [] : [{ ...faultAt("/type", "not_allowed", "There is no such type."), allowed: ["image", "video"] }]),
    ...(isMediaUrl(url)
      ? []
      : [faultAt("/url", "pattern_mismatch", "It must be an https address without credentials, or a path that starts with /media/.")]),
    ...localizedFaults("/alts", alts, { min: 0, max: catalogBounds.nameMax, optional: true }),
    ...integerFaults("/width", width, side),
    ...integerFaults("/height", height, side),
    ...integerFaults("/position", position, { min: 0, max: catalogBounds.positionMax }),
  ];
}

/** A path must stay below /media/: neither `..` nor an empty segment, encoded or not, can lead out of it. */
export function isMediaUrl(text: string): boolean {
  if (!text.startsWith("/")) return isHttpsUrl(text);
  return text.length <= catalogBounds.urlMax && /^\/media(?:\/[\w-][\w.-]*)+$/.test(text) && !text.includes("..");
}

/** The variants that showed it show the product's first one again. */
export async function removeMedia(
  transaction: Transaction,
  tenant: Tenant,
  input: MediaRemoveInput,
): Promise<{ productId: string; mediaId: string }> {
  const product = await lockEditableProduct(transaction, tenant, input);
  const removed = await transaction
    .deleteFrom("media")
    .where("id", "=", toId(input.mediaId))
    .where("productId", "=", product.id)
    .where("merchantId", "=", tenant.merchantId)
    .returning("id")
    .executeTakeFirst();
  if (removed === undefined) throw fail("resource_not_found");
  await recordProductChange(transaction, tenant, { changed: [{ before: product.before, types: ["product.updated"] }] });
  return { productId: product.id, mediaId: removed.id };
}
