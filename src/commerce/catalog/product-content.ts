/**
 * Texts, slugs and media of a product. A slug belongs to one product of its merchant for ever: a product
 * keeps its former slugs and may use them again, but no other product can. Only the URLs of media are stored.
 * They must be https URLs or paths of this service, so that no page loads unencrypted content.
 */
import { sql } from "kysely";
import type { Transaction } from "#database/transaction.ts";
import { fail } from "#foundation/failure.ts";
import {
  choiceFaults,
  countFaults,
  faultAt,
  type Faults,
  integerFaults,
  repeatFaults,
  requireNoFaults,
  textFaults,
} from "#foundation/faults.ts";
import { createId, toId } from "#foundation/ids.ts";
import type { CommandContext } from "#commerce/command-context.ts";
import {
  catalogBounds,
  isHttpsUrl,
  localeFaults,
  localizedFaults,
  type LocalizedTextInput,
  slugFaults,
  toLocale,
  toLocalizedMap,
} from "./catalog-fields.ts";
import { productConflict, lockEditableProduct, publishProductChanges } from "./change-catalog.ts";

/** All texts of a product in one locale. A text that is left out is removed. */
export interface TranslationInput {
  readonly locale: string;
  readonly slug: string;
  readonly title: string;
  readonly summary?: string | null | undefined;
  /** Description as CommonMark. */
  readonly description?: string | null | undefined;
  readonly seoTitle?: string | null | undefined;
  readonly seoDescription?: string | null | undefined;
}

export interface ProductTranslationUpsertInput extends TranslationInput {
  readonly productId: string;
  readonly expectedVersion?: number | null | undefined;
}

export async function upsertProductTranslation(
  transaction: Transaction,
  context: CommandContext,
  input: ProductTranslationUpsertInput,
): Promise<{ productId: string }> {
  requireNoFaults(translationFaults("", input));
  const product = await lockEditableProduct(transaction, context, input);
  const { total } = await transaction
    .selectFrom("productTranslation")
    .select((row) => row.fn.countAll<number>().as("total"))
    .where("productId", "=", product.id)
    .where("locale", "<>", toLocale(input.locale))
    .executeTakeFirstOrThrow();
  if (total >= catalogBounds.localesMax) {
    throw fail("invalid_state", {
      conflict: productConflict(product, "translation_limit_reached", { limit: catalogBounds.localesMax }),
    });
  }
  const isChanged = await saveTranslations(transaction, context, {
    productId: product.id,
    translations: [input],
    fieldOf: () => "/slug",
  });
  if (isChanged)
    await publishProductChanges(transaction, context, {
      changed: [{ before: product.before, types: ["product.translation_updated"] }],
    });
  return { productId: product.id };
}

export function translationsFaults(
  field: string,
  translations: readonly TranslationInput[],
  min: number,
): Faults {
  return [
    ...countFaults(field, translations, { min, max: catalogBounds.localesMax }),
    ...translations.flatMap((translation, index) => translationFaults(`${field}/${index}`, translation)),
    ...repeatFaults(
      translations.map(({ locale }) => toLocale(locale)),
      (index) => `${field}/${index}/locale`,
    ),
  ];
}

function translationFaults(at: string, translation: TranslationInput): Faults {
  return [
    ...localeFaults(`${at}/locale`, translation.locale),
    ...slugFaults(`${at}/slug`, translation.slug),
    ...textFaults(`${at}/title`, translation.title, { max: catalogBounds.titleMax }),
    ...textFaults(`${at}/summary`, translation.summary, { max: catalogBounds.summaryMax, lines: "many" }),
    ...textFaults(`${at}/description`, translation.description, {
      max: catalogBounds.descriptionMax,
      lines: "many",
    }),
    ...textFaults(`${at}/seoTitle`, translation.seoTitle, { max: catalogBounds.seoTitleMax }),
    ...textFaults(`${at}/seoDescription`, translation.seoDescription, {
      max: catalogBounds.seoDescriptionMax,
      lines: "many",
    }),
  ];
}

export interface TranslationsToSave {
  readonly productId: string;
  readonly translations: readonly TranslationInput[];
  /** Returns the JSON Pointer of the slug of the translation with this index in the input. */
  readonly fieldOf: (index: number) => string;
}

/**
 * Saves translations; returns true if any changed. The merchant's row must be locked, so that no other change
 * can take a slug between the check and the write.
 */
export async function saveTranslations(
  transaction: Transaction,
  context: CommandContext,
  toSave: TranslationsToSave,
): Promise<boolean> {
  if (toSave.translations.length === 0) return false;
  await reserveSlugs(transaction, context, toSave);
  const rows = toSave.translations.map((translation) => ({
    ...translation,
    locale: toLocale(translation.locale),
  }));
  const saved = await sql`
    insert into product_translation
      (product_id, locale, merchant_id, slug, title, summary, description, seo_title, seo_description, updated_at)
    select ${toSave.productId}, t.locale, ${context.merchantId}, t.slug, t.title, t.summary, t.description, t."seoTitle", t."seoDescription", ${context.now}::timestamptz
    from json_to_recordset(${JSON.stringify(rows)}::json)
      as t(locale text, slug text, title text, summary text, description text, "seoTitle" text, "seoDescription" text)
    on conflict (product_id, locale) do update set
      slug = excluded.slug, title = excluded.title, summary = excluded.summary, description = excluded.description,
      seo_title = excluded.seo_title, seo_description = excluded.seo_description, updated_at = excluded.updated_at
    where (product_translation.slug, product_translation.title, product_translation.summary, product_translation.description,
           product_translation.seo_title, product_translation.seo_description)
      is distinct from (excluded.slug, excluded.title, excluded.summary, excluded.description, excluded.seo_title, excluded.seo_description)
    returning locale`.execute(transaction);
  return saved.rows.length > 0;
}

async function reserveSlugs(
  transaction: Transaction,
  context: CommandContext,
  { productId, translations, fieldOf }: TranslationsToSave,
): Promise<void> {
  const slugs = [...new Set(translations.map(({ slug }) => slug))];
  const known = await transaction
    .selectFrom("productSlug")
    .select(["slug", "productId"])
    .where("merchantId", "=", context.merchantId)
    .where(sql<boolean>`slug = any(${slugs}::text[])`)
    .execute();
  const foreign = known.filter((owner) => owner.productId !== productId);
  const [first] = foreign;
  if (first !== undefined) throw slugTaken(foreign, { translations, fieldOf });
  const fresh = slugs.filter((slug) => known.every((owner) => owner.slug !== slug));
  if (fresh.length === 0) return;
  await transaction
    .insertInto("productSlug")
    .values(fresh.map((slug) => ({ merchantId: context.merchantId, slug, productId })))
    .execute();
}

function slugTaken(
  owners: readonly { slug: string; productId: string }[],
  { translations, fieldOf }: Pick<TranslationsToSave, "translations" | "fieldOf">,
): Error {
  const taken = new Map(owners.map(({ slug, productId }) => [slug, productId]));
  const details = translations.flatMap(({ slug }, index) =>
    taken.has(slug)
      ? [faultAt(fieldOf(index), "already_exists", "Another product of the merchant has or had this slug.")]
      : [],
  );
  const [owner] = owners;
  return fail("already_exists", {
    details,
    conflict: {
      resource: "product",
      id: owner?.productId ?? null,
      currentStatus: null,
      currentVersion: null,
      reason: "slug_taken",
      data: { slugs: [...taken.keys()] },
    },
  });
}

interface MediaAttachInput {
  readonly productId: string;
  readonly expectedVersion?: number | null | undefined;
  readonly type: "image" | "video";
  /** Absolute https URL, or a path that starts with `/media/`. */
  readonly url: string;
  /** Alternative texts, for people who cannot see the picture; empty if the picture is only decoration. */
  readonly alts: readonly LocalizedTextInput[];
  readonly width: number;
  readonly height: number;
  /** Position counted from 0; media at this position and after it move one up. Left out: the end. */
  readonly position?: number | null | undefined;
}

interface MediaRemoveInput {
  readonly productId: string;
  readonly expectedVersion?: number | null | undefined;
  readonly mediaId: string;
}

export async function attachMedia(
  transaction: Transaction,
  context: CommandContext,
  input: MediaAttachInput,
): Promise<{ productId: string; mediaId: string }> {
  requireNoFaults(mediaFaults(input));
  const product = await lockEditableProduct(transaction, context, input);
  const { total, last } = await transaction
    .selectFrom("media")
    .select((row) => [row.fn.countAll<number>().as("total"), row.fn.max("position").as("last")])
    .where("productId", "=", product.id)
    .executeTakeFirstOrThrow();
  if (total >= catalogBounds.mediaMax) {
    throw fail("invalid_state", {
      conflict: productConflict(product, "media_limit_reached", { limit: catalogBounds.mediaMax }),
    });
  }
  const end = ((last as number | null) ?? -1) + 1;
  const position = Math.min(input.position ?? end, end);
  if (position < end) await shiftMediaPositions(transaction, product.id, position);
  const mediaId = createId("media", context.now.getTime());
  const { type, url, width, height } = input;
  const alts = JSON.stringify(toLocalizedMap(input.alts));
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
  await publishProductChanges(transaction, context, {
    changed: [{ before: product.before, types: ["product.updated"] }],
  });
  return { productId: product.id, mediaId };
}

async function shiftMediaPositions(
  transaction: Transaction,
  productId: string,
  position: number,
): Promise<void> {
  await sql`update media set position = position + 1 where product_id = ${productId} and position >= ${position}`.execute(
    transaction,
  );
}

function mediaFaults({ type, url, alts, width, height, position }: MediaAttachInput): Faults {
  const side = { min: 1, max: catalogBounds.mediaSidePixelsMax };
  return [
    ...choiceFaults("/type", type, { allowed: ["image", "video"], noun: "type" }),
    ...(isMediaUrl(url)
      ? []
      : [
          faultAt(
            "/url",
            "pattern_mismatch",
            "It must be an https address without credentials, or a path that starts with /media/.",
          ),
        ]),
    ...localizedFaults("/alts", alts, { min: 0, max: catalogBounds.nameMax, optional: true }),
    ...integerFaults("/width", width, side),
    ...integerFaults("/height", height, side),
    ...integerFaults("/position", position, { min: 0, max: catalogBounds.positionMax }),
  ];
}

/**
 * Returns true for an https URL or a path below `/media/`. Segments `..` and empty or percent-encoded
 * segments are refused, because they could lead out of `/media/`.
 */
export function isMediaUrl(text: string): boolean {
  if (!text.startsWith("/")) return isHttpsUrl(text);
  return (
    text.length <= catalogBounds.urlMax && /^\/media(?:\/[\w-][\w.-]*)+$/.test(text) && !text.includes("..")
  );
}

/** Removes a picture or video. Variants that were shown by it are shown by the product's first picture again. */
export async function removeMedia(
  transaction: Transaction,
  context: CommandContext,
  input: MediaRemoveInput,
): Promise<{ productId: string; mediaId: string }> {
  const product = await lockEditableProduct(transaction, context, input);
  const removed = await transaction
    .deleteFrom("media")
    .where("id", "=", toId(input.mediaId))
    .where("productId", "=", product.id)
    .where("merchantId", "=", context.merchantId)
    .returning("id")
    .executeTakeFirst();
  if (removed === undefined) throw fail("resource_not_found");
  await publishProductChanges(transaction, context, {
    changed: [{ before: product.before, types: ["product.updated"] }],
  });
  return { productId: product.id, mediaId: removed.id };
}
