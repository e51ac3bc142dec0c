/**
 * The texts and slugs of a product. A slug belongs to one product of its merchant for ever: the product may
 * use its former slugs again, and no other product may use them.
 */
import { sql } from "kysely";
import type { Transaction } from "#database/transaction.ts";
import { createFailure } from "#foundation/failure.ts";
import {
  getListLengthErrors,
  createRequestBodyErrorDetail,
  type InputFieldErrors,
  getDuplicateEntryErrors,
  requireNoInputFieldErrors,
  getTextFieldErrors,
} from "#foundation/faults.ts";
import type { MerchantCommandContext } from "#commerce/command-context.ts";
import { catalogBounds, findLocaleFaults, findSlugFaults, toCanonicalLocale } from "./catalog-fields.ts";
import {
  toProductConflictDetail,
  lockAndLoadUnarchivedProduct,
  recordProductChanges,
} from "./change-catalog.ts";

/** All texts of a product in one locale. If a text is left out here, saving removes the stored text. */
export interface ProductTranslationInput {
  readonly locale: string;
  readonly slug: string;
  readonly title: string;
  readonly summary?: string | null | undefined;
  /** The product's description in the CommonMark format. */
  readonly description?: string | null | undefined;
  readonly seoTitle?: string | null | undefined;
  readonly seoDescription?: string | null | undefined;
}

export interface UpsertProductTranslationInput extends ProductTranslationInput {
  readonly productId: string;
  readonly expectedVersion?: number | null | undefined;
}

export async function upsertProductTranslation(
  transaction: Transaction,
  context: MerchantCommandContext,
  input: UpsertProductTranslationInput,
): Promise<{ productId: string }> {
  requireNoInputFieldErrors(translationFaults("", input));
  const product = await lockAndLoadUnarchivedProduct(transaction, context, input);
  const { total } = await transaction
    .selectFrom("productTranslation")
    .select((row) => row.fn.countAll<number>().as("total"))
    .where("productId", "=", product.id)
    .where("locale", "<>", toCanonicalLocale(input.locale))
    .executeTakeFirstOrThrow();
  if (total >= catalogBounds.localesMax) {
    throw createFailure("invalid_state", {
      conflict: toProductConflictDetail(product, "translation_limit_reached", {
        limit: catalogBounds.localesMax,
      }),
    });
  }
  const isChanged = await saveProductTranslations(transaction, context, {
    productId: product.id,
    translations: [input],
    fieldOf: () => "/slug",
  });
  if (isChanged)
    await recordProductChanges(transaction, context, {
      changed: [{ before: product.before, types: ["product.translation_updated"] }],
    });
  return { productId: product.id };
}

export function findProductTranslationsFaults(
  field: string,
  translations: readonly ProductTranslationInput[],
  min: number,
): InputFieldErrors {
  return [
    ...getListLengthErrors(field, translations, { min, max: catalogBounds.localesMax }),
    ...translations.flatMap((translation, index) => translationFaults(`${field}/${index}`, translation)),
    ...getDuplicateEntryErrors(
      translations.map(({ locale }) => toCanonicalLocale(locale)),
      (index) => `${field}/${index}/locale`,
    ),
  ];
}

function translationFaults(at: string, translation: ProductTranslationInput): InputFieldErrors {
  return [
    ...findLocaleFaults(`${at}/locale`, translation.locale),
    ...findSlugFaults(`${at}/slug`, translation.slug),
    ...getTextFieldErrors(`${at}/title`, translation.title, { max: catalogBounds.titleMax }),
    ...getTextFieldErrors(`${at}/summary`, translation.summary, {
      max: catalogBounds.summaryMax,
      lines: "many",
    }),
    ...getTextFieldErrors(`${at}/description`, translation.description, {
      max: catalogBounds.descriptionMax,
      lines: "many",
    }),
    ...getTextFieldErrors(`${at}/seoTitle`, translation.seoTitle, { max: catalogBounds.seoTitleMax }),
    ...getTextFieldErrors(`${at}/seoDescription`, translation.seoDescription, {
      max: catalogBounds.seoDescriptionMax,
      lines: "many",
    }),
  ];
}

export interface ProductTranslationsToSave {
  readonly productId: string;
  readonly translations: readonly ProductTranslationInput[];
  /** Returns the JSON Pointer of the slug in the translation at the given index of the input. */
  readonly fieldOf: (index: number) => string;
}

/**
 * Saves translations of a product. Returns true if any translation has changed. The caller must have locked
 * the merchant's row, so that no other transaction can use a slug between the check and the write.
 */
export async function saveProductTranslations(
  transaction: Transaction,
  context: MerchantCommandContext,
  toSave: ProductTranslationsToSave,
): Promise<boolean> {
  if (toSave.translations.length === 0) return false;
  await reserveSlugs(transaction, context, toSave);
  const rows = toSave.translations.map((translation) => ({
    ...translation,
    locale: toCanonicalLocale(translation.locale),
  }));
  const saved = await sql`
    insert into product_translation
      (product_id, locale, merchant_id, slug, title, summary, description, seo_title, seo_description,
      updated_at)
    select ${toSave.productId}, t.locale, ${context.merchantId}, t.slug, t.title, t.summary, t.description,
    t."seoTitle", t."seoDescription", ${context.now}::timestamptz
    from json_to_recordset(${JSON.stringify(rows)}::json)
      as t(locale text, slug text, title text, summary text, description text, "seoTitle" text,
      "seoDescription" text)
    on conflict (product_id, locale) do update set
      slug = excluded.slug, title = excluded.title, summary = excluded.summary, description =
      excluded.description,
      seo_title = excluded.seo_title, seo_description = excluded.seo_description, updated_at =
      excluded.updated_at
    where (product_translation.slug, product_translation.title, product_translation.summary,
    product_translation.description,
           product_translation.seo_title, product_translation.seo_description)
      is distinct from (excluded.slug, excluded.title, excluded.summary, excluded.description,
      excluded.seo_title, excluded.seo_description)
    returning locale`.execute(transaction);
  return saved.rows.length > 0;
}

async function reserveSlugs(
  transaction: Transaction,
  context: MerchantCommandContext,
  { productId, translations, fieldOf }: ProductTranslationsToSave,
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
  { translations, fieldOf }: Pick<ProductTranslationsToSave, "translations" | "fieldOf">,
): Error {
  const taken = new Map(owners.map(({ slug, productId }) => [slug, productId]));
  const details = translations.flatMap(({ slug }, index) =>
    taken.has(slug)
      ? [
          createRequestBodyErrorDetail(
            fieldOf(index),
            "already_exists",
            "Another product of the merchant has or had this slug.",
          ),
        ]
      : [],
  );
  const [owner] = owners;
  return createFailure("already_exists", {
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
