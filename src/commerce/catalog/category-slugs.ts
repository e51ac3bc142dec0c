/**
 * Saves the slugs that a category has for single locales. A category has a general slug, and may have another
 * slug for some locales, which replaces the general slug in that locale. In each locale, a slug belongs to at
 * most one category of a merchant.
 */
import { sql } from "kysely";
import type { MerchantCommandContext } from "#commerce/command-context.ts";
import type { Transaction } from "#database/transaction.ts";
import { createFailure } from "#foundation/failure.ts";
import {
  createRequestBodyErrorDetail,
  type InputFieldErrors,
  getDuplicateEntryErrors,
  getListLengthErrors,
} from "#foundation/faults.ts";
import { catalogBounds, findLocaleFaults, findSlugFaults, toCanonicalLocale } from "./catalog-fields.ts";

export interface CategorySlugInput {
  readonly locale: string;
  readonly slug: string;
}

export function findCategorySlugFaults(
  slugs: readonly CategorySlugInput[] | null | undefined,
): InputFieldErrors {
  if (slugs === null || slugs === undefined) return [];
  return [
    ...getListLengthErrors("/localizedSlugs", slugs, { min: 0, max: catalogBounds.localesMax }),
    ...slugs.flatMap(({ locale, slug }, index) => [
      ...findLocaleFaults(`/localizedSlugs/${index}/locale`, locale),
      ...findSlugFaults(`/localizedSlugs/${index}/slug`, slug),
    ]),
    ...getDuplicateEntryErrors(
      slugs.map(({ locale }) => toCanonicalLocale(locale)),
      (index) => `/localizedSlugs/${index}/locale`,
    ),
  ];
}

interface SlugsToSave {
  readonly categoryId: string;
  readonly slugs: readonly CategorySlugInput[];
}

/**
 * Replaces all slugs that a category has for individual locales, and leaves its general slug unchanged.
 * Returns false if the new slugs equal the stored slugs. The caller must have locked the merchant's row and
 * saved the category.
 */
export async function replaceLocalizedCategorySlugs(
  transaction: Transaction,
  { merchantId }: MerchantCommandContext,
  { categoryId, slugs }: SlugsToSave,
): Promise<boolean> {
  const wanted = slugs.map(({ locale, slug }) => ({ locale: toCanonicalLocale(locale), slug }));
  const stored = await transaction
    .selectFrom("categorySlug")
    .select(["locale", "slug"])
    .where("categoryId", "=", categoryId)
    .execute();
  if (toComparable(stored) === toComparable(wanted)) return false;
  await requireFreeSlugs(transaction, { merchantId, categoryId, wanted });
  await transaction.deleteFrom("categorySlug").where("categoryId", "=", categoryId).execute();
  if (wanted.length > 0)
    await transaction
      .insertInto("categorySlug")
      .values(wanted.map(({ locale, slug }) => ({ locale, slug, merchantId, categoryId })))
      .execute();
  return true;
}

const toComparable = (slugs: readonly CategorySlugInput[]): string =>
  slugs
    .map(({ locale, slug }) => `${locale} ${slug}`)
    .toSorted()
    .join();

/**
 * Throws if a slug of the category belongs to another category: in the same locale, or as the other
 * category's general slug.
 */
async function requireFreeSlugs(
  transaction: Transaction,
  input: {
    readonly merchantId: string;
    readonly categoryId: string;
    readonly wanted: readonly CategorySlugInput[];
  },
): Promise<void> {
  const { merchantId, categoryId, wanted } = input;
  const { rows } = await sql<{ locale: string; slug: string }>`
    select w.locale, w.slug from json_to_recordset(${JSON.stringify(wanted)}::json) as w(locale text, slug text)
    where exists (select from category c where c.merchant_id = ${merchantId} and c.id <> ${categoryId}
      and c.slug = w.slug)
    or exists (select from category_slug s where s.merchant_id = ${merchantId} and s.category_id <> ${categoryId}
      and s.locale = w.locale and s.slug = w.slug)`.execute(transaction);
  const details = wanted.flatMap(({ locale, slug }, index) =>
    rows.some((row) => row.locale === locale && row.slug === slug)
      ? [
          createRequestBodyErrorDetail(
            `/localizedSlugs/${index}/slug`,
            "already_exists",
            `Another category of the merchant has the slug "${slug}" in the locale ${locale} or in all locales.`,
          ),
        ]
      : [],
  );
  if (details[0] !== undefined)
    throw createFailure("already_exists", { message: details[0].message, details });
}

/** Throws if the general slug of a category is a slug of another category in some locale. */
export async function requireUnusedUnlocalizedCategorySlug(
  transaction: Transaction,
  { merchantId }: MerchantCommandContext,
  { categoryId, slug }: { readonly categoryId: string | null; readonly slug: string },
): Promise<void> {
  const owner = await transaction
    .selectFrom("categorySlug")
    .select("locale")
    .where("merchantId", "=", merchantId)
    .where("slug", "=", slug)
    .where("categoryId", "<>", categoryId ?? "")
    .executeTakeFirst();
  if (owner === undefined) return;
  const message = `Another category of the merchant has this slug in the locale ${owner.locale}.`;
  throw createFailure("already_exists", {
    message,
    details: [createRequestBodyErrorDetail("/slug", "already_exists", message)],
  });
}
