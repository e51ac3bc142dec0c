/**
 * Adds and removes pictures and videos of a product. Only the URLs of pictures and videos are stored. A URL
 * must be an https URL or a path of this service, so that no page loads unencrypted content.
 */
import { sql } from "kysely";
import type { Transaction } from "#database/transaction.ts";
import { createFailure } from "#foundation/failure.ts";
import {
  getDisallowedValueErrors,
  createRequestBodyErrorDetail,
  type InputFieldErrors,
  getIntegerFieldErrors,
  requireNoInputFieldErrors,
} from "#foundation/faults.ts";
import { createId, blankIdWithForbiddenCharacters } from "#foundation/ids.ts";
import type { MerchantCommandContext } from "#commerce/command-context.ts";
import {
  catalogBounds,
  isHttpsUrl,
  findLocalizedTextFaults,
  type LocalizedTextInput,
  toLocalizedTextMap,
} from "./catalog-fields.ts";
import {
  lockAndLoadUnarchivedProduct,
  toProductConflictDetail,
  recordProductChanges,
} from "./change-catalog.ts";

interface MediaAttachInput {
  readonly productId: string;
  readonly expectedVersion?: number | null | undefined;
  readonly type: "image" | "video";
  /** URL of the picture or video: an absolute https URL, or a path that starts with `/media/`. */
  readonly url: string;
  /** Alternative texts for people who cannot see the picture; empty if the picture is only decoration. */
  readonly alts: readonly LocalizedTextInput[];
  readonly width: number;
  readonly height: number;
  /**
   * Position at which the picture or video is inserted, counted from 0. The pictures and videos from this
   * position on move by one. If left out, the picture or video is added at the end.
   */
  readonly position?: number | null | undefined;
}

interface MediaRemoveInput {
  readonly productId: string;
  readonly expectedVersion?: number | null | undefined;
  readonly mediaId: string;
}

export async function attachProductMedia(
  transaction: Transaction,
  context: MerchantCommandContext,
  input: MediaAttachInput,
): Promise<{ productId: string; mediaId: string }> {
  requireNoInputFieldErrors(mediaFaults(input));
  const product = await lockAndLoadUnarchivedProduct(transaction, context, input);
  const { total, last } = await transaction
    .selectFrom("media")
    .select((row) => [row.fn.countAll<number>().as("total"), row.fn.max("position").as("last")])
    .where("productId", "=", product.id)
    .executeTakeFirstOrThrow();
  if (total >= catalogBounds.mediaMax) {
    throw createFailure("invalid_state", {
      conflict: toProductConflictDetail(product, "media_limit_reached", { limit: catalogBounds.mediaMax }),
    });
  }
  const end = ((last as number | null) ?? -1) + 1;
  const position = Math.min(input.position ?? end, end);
  if (position < end) await shiftMediaPositions(transaction, product.id, position);
  const mediaId = createId("media", context.now.getTime());
  const { type, url, width, height } = input;
  const alts = JSON.stringify(toLocalizedTextMap(input.alts));
  await transaction
    .insertInto("media")
    .values({
      id: mediaId,
      merchantId: context.merchantId,
      productId: product.id,
      type,
      url,
      alts,
      width,
      height,
      position,
    })
    .execute();
  await recordProductChanges(transaction, context, {
    changed: [{ before: product.before, types: ["product.updated"] }],
  });
  return { productId: product.id, mediaId };
}

async function shiftMediaPositions(
  transaction: Transaction,
  productId: string,
  position: number,
): Promise<void> {
  await sql`update media set position = position + 1 where product_id = ${productId}
    and position >= ${position}`.execute(transaction);
}

function mediaFaults({ type, url, alts, width, height, position }: MediaAttachInput): InputFieldErrors {
  const side = { min: 1, max: catalogBounds.mediaSidePixelsMax };
  return [
    ...getDisallowedValueErrors("/type", type, { allowed: ["image", "video"], noun: "type" }),
    ...(isAllowedProductMediaUrl(url)
      ? []
      : [
          createRequestBodyErrorDetail(
            "/url",
            "pattern_mismatch",
            "The URL must be an https URL without credentials, or a path that starts with /media/.",
          ),
        ]),
    ...findLocalizedTextFaults("/alts", alts, { min: 0, max: catalogBounds.nameMax, optional: true }),
    ...getIntegerFieldErrors("/width", width, side),
    ...getIntegerFieldErrors("/height", height, side),
    ...getIntegerFieldErrors("/position", position, { min: 0, max: catalogBounds.positionMax }),
  ];
}

/**
 * Returns true for an https URL or a path below `/media/`. Paths with `..`, empty or percent-encoded segments
 * are refused, because they could lead to a place outside of `/media/`.
 */
export function isAllowedProductMediaUrl(text: string): boolean {
  if (!text.startsWith("/")) return isHttpsUrl(text);
  return (
    text.length <= catalogBounds.urlMax && /^\/media(?:\/[\w-][\w.-]*)+$/.test(text) && !text.includes("..")
  );
}

/**
 * Removes a picture or video from a product. Variants that were shown by the removed picture are then shown
 * by the product's first picture.
 */
export async function removeProductMedia(
  transaction: Transaction,
  context: MerchantCommandContext,
  input: MediaRemoveInput,
): Promise<{ productId: string; mediaId: string }> {
  const product = await lockAndLoadUnarchivedProduct(transaction, context, input);
  const removed = await transaction
    .deleteFrom("media")
    .where("id", "=", blankIdWithForbiddenCharacters(input.mediaId))
    .where("productId", "=", product.id)
    .where("merchantId", "=", context.merchantId)
    .returning("id")
    .executeTakeFirst();
  if (removed === undefined) throw createFailure("resource_not_found");
  await recordProductChanges(transaction, context, {
    changed: [{ before: product.before, types: ["product.updated"] }],
  });
  return { productId: product.id, mediaId: removed.id };
}
