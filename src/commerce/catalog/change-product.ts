/**
 * Creates products, and changes their brand, rating, tax class, attributes, options and categories. A new
 * product is a draft. Its texts, variants and prices may be added in any order, because they are required
 * only when the product is published.
 */
import { sql } from "kysely";
import type { Transaction } from "#database/transaction.ts";
import { createFailure } from "#foundation/failure.ts";
import { createId, blankIdWithForbiddenCharacters } from "#foundation/ids.ts";
import {
  getListLengthErrors,
  createRequestBodyErrorDetail,
  type InputFieldErrors,
  getIntegerFieldErrors,
  getListLengthAndDuplicateErrors,
  getDuplicateEntryErrors,
  requireNoInputFieldErrors,
  getTextFieldErrors,
} from "#foundation/faults.ts";
import { requireTaxClass } from "#commerce/tax/tax-classes.ts";
import { standardTaxClass } from "#commerce/tax/tax-provider.ts";
import type { MerchantCommandContext } from "#commerce/command-context.ts";
import {
  catalogBounds,
  findCatalogCodeFormatFaults,
  findLocalizedTextFaults,
  type LocalizedTextInput,
  toLocalizedTextMap,
} from "./catalog-fields.ts";
import {
  type ProductOptionInput,
  findProductOptionsFaults,
  requireStoredVariantsFitOptions,
  saveProductOptions,
} from "./product-options.ts";
import {
  lockMerchantCatalog,
  lockAndLoadUnarchivedProduct,
  incrementCatalogVersion,
  recordProductChanges,
} from "./change-catalog.ts";
import {
  saveProductTranslations,
  type ProductTranslationInput,
  findProductTranslationsFaults,
} from "./product-texts.ts";

export interface ProductRatingInput {
  /** Average rating of the product, from 0 to 5. */
  readonly average: number;
  readonly count: number;
}

type AttributeValue = string | number | boolean | readonly string[];

/** A product attribute: a property that is the same for all variants, for example the material. */
interface AttributeInput {
  readonly code: string;
  readonly names: readonly LocalizedTextInput[];
  readonly value: AttributeValue;
  readonly unit?: string | null | undefined;
}

/**
 * Fields of a product in the input of a change. A field that is left out stays unchanged; null removes the
 * stored value.
 */
export interface ProductInputFields {
  readonly brand?: string | null | undefined;
  /** The product's rating, which the merchant imported from another system. */
  readonly rating?: ProductRatingInput | null | undefined;
  readonly attributes?: readonly AttributeInput[] | null | undefined;
  readonly options?: readonly ProductOptionInput[] | null | undefined;
  /** Code of the product's tax class; null for the class `standard`. */
  readonly taxClass?: string | null | undefined;
}

export interface CreateProductInput extends ProductInputFields {
  readonly categoryIds?: readonly string[] | null | undefined;
  readonly translations: readonly ProductTranslationInput[];
}

export interface UpdateProductInput extends ProductInputFields {
  readonly productId: string;
  readonly expectedVersion?: number | null | undefined;
  readonly categoryIds?: readonly string[] | null | undefined;
}

export async function createProduct(
  transaction: Transaction,
  context: MerchantCommandContext,
  input: CreateProductInput,
): Promise<{ productId: string }> {
  requireNoInputFieldErrors([
    ...findProductFaults("", input),
    ...findProductCategoriesFaults("/categoryIds", input.categoryIds),
    ...findProductTranslationsFaults("/translations", input.translations, 1),
  ]);
  await lockMerchantCatalog(transaction, context);
  await requireTaxClass(transaction, context, { code: input.taxClass, field: "/taxClass" });
  const productId = await insertEmptyProductDraft(transaction, context);
  await saveProductTranslations(transaction, context, {
    productId,
    translations: input.translations,
    fieldOf: (index) => `/translations/${index}/slug`,
  });
  await saveProductFields(transaction, context, { productId, fields: input });
  if (input.categoryIds !== null && input.categoryIds !== undefined) {
    await requireCategories(transaction, context, input.categoryIds);
    await saveProductCategories(transaction, productId, input.categoryIds);
  }
  await incrementCatalogVersion(transaction, context);
  context.outbox.append({ type: "product.created", id: productId });
  return { productId };
}

export async function updateProduct(
  transaction: Transaction,
  context: MerchantCommandContext,
  input: UpdateProductInput,
): Promise<{ productId: string }> {
  requireNoInputFieldErrors([
    ...findProductFaults("", input),
    ...findProductCategoriesFaults("/categoryIds", input.categoryIds),
  ]);
  const product = await lockAndLoadUnarchivedProduct(transaction, context, input);
  await requireTaxClass(transaction, context, { code: input.taxClass, field: "/taxClass" });
  let isChanged = await saveProductFields(transaction, context, { productId: product.id, fields: input });
  if (input.options !== undefined) await requireStoredVariantsFitOptions(transaction, product);
  if (input.categoryIds !== undefined) {
    await requireCategories(transaction, context, input.categoryIds ?? []);
    isChanged = (await saveProductCategories(transaction, product.id, input.categoryIds ?? [])) || isChanged;
  }
  if (isChanged)
    await recordProductChanges(transaction, context, {
      changed: [{ before: product.before, types: ["product.updated"] }],
    });
  return { productId: product.id };
}

export function findProductFaults(
  at: string,
  { brand, rating, attributes, options }: ProductInputFields,
): InputFieldErrors {
  const average = rating?.average ?? 0;
  return [
    ...getTextFieldErrors(`${at}/brand`, brand, { max: catalogBounds.brandMax }),
    ...(average >= 0 && average <= 5
      ? []
      : [
          createRequestBodyErrorDetail(
            `${at}/rating/average`,
            average > 5 ? "too_large" : "too_small",
            "The average rating must be from 0 to 5.",
          ),
        ]),
    ...getIntegerFieldErrors(`${at}/rating/count`, rating?.count, { min: 0, max: 2_147_483_647 }),
    ...attributesFaults(`${at}/attributes`, attributes),
    ...findProductOptionsFaults(`${at}/options`, options),
  ];
}

export const findProductCategoriesFaults = (
  field: string,
  keys: readonly string[] | null | undefined,
): InputFieldErrors => getListLengthAndDuplicateErrors(field, keys, catalogBounds.categoriesPerProductMax);

function attributesFaults(
  field: string,
  attributes: readonly AttributeInput[] | null | undefined,
): InputFieldErrors {
  if (attributes === null || attributes === undefined) return [];
  return [
    ...getListLengthErrors(field, attributes, { min: 0, max: catalogBounds.attributesMax }),
    ...attributes.flatMap(({ code, names, value, unit }, index) => [
      ...findCatalogCodeFormatFaults(`${field}/${index}/code`, code),
      ...findLocalizedTextFaults(`${field}/${index}/names`, names, { max: catalogBounds.nameMax }),
      ...valueFaults(`${field}/${index}/value`, value),
      ...getTextFieldErrors(`${field}/${index}/unit`, unit, { max: catalogBounds.unitMax }),
    ]),
    ...getDuplicateEntryErrors(
      attributes.map(({ code }) => code),
      (index) => `${field}/${index}/code`,
    ),
  ];
}

/**
 * Returns a fault if the value of a product attribute has a type that is not allowed. The GraphQL scalar of
 * attribute values accepts any JSON value, so it does not check the type.
 */
function valueFaults(field: string, value: unknown): InputFieldErrors {
  if (typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value))) return [];
  if (typeof value === "string")
    return getTextFieldErrors(field, value, { max: catalogBounds.attributeValueMax });
  if (!Array.isArray(value))
    return [
      createRequestBodyErrorDetail(
        field,
        "wrong_type",
        "The value must be a string, a number, a boolean or a list of strings.",
      ),
    ];
  return [
    ...getListLengthErrors(field, value, { min: 1, max: catalogBounds.attributeValuesMax }),
    ...value.flatMap((entry: unknown, index) => {
      if (typeof entry !== "string")
        return [
          createRequestBodyErrorDetail(
            `${field}/${index}`,
            "wrong_type",
            "Every value of the list must be a string.",
          ),
        ];
      return getTextFieldErrors(`${field}/${index}`, entry, { max: catalogBounds.attributeValueMax });
    }),
  ];
}

/**
 * Converts product attributes from the input to the form in which the column `product.attributes` stores
 * them.
 */
function toAttributes(attributes: readonly AttributeInput[]): readonly unknown[] {
  return attributes.map(({ code, names, value, unit }) => ({
    code,
    names: toLocalizedTextMap(names),
    value,
    unit: unit ?? null,
  }));
}

export async function insertEmptyProductDraft(
  transaction: Transaction,
  context: MerchantCommandContext,
): Promise<string> {
  const id = createId("product", context.now.getTime());
  await transaction
    .insertInto("product")
    .values({ id, merchantId: context.merchantId, createdAt: context.now, updatedAt: context.now })
    .execute();
  return id;
}

interface FieldsToSave {
  readonly productId: string;
  readonly fields: ProductInputFields;
}

/** Saves the given fields of a product, whose tax class must exist. Returns true if any value has changed. */
export async function saveProductFields(
  transaction: Transaction,
  context: MerchantCommandContext,
  { productId, fields }: FieldsToSave,
): Promise<boolean> {
  const areOptionsChanged =
    fields.options === undefined
      ? false
      : await saveProductOptions(transaction, productId, fields.options ?? []);
  const patch = patchOf(fields);
  if (Object.keys(patch).length === 0) return areOptionsChanged;
  const saved = await sql`
    with patch as (select ${JSON.stringify(patch)}::jsonb as given),
    wanted as (
      select id,
        case when given ? 'brand' then given ->> 'brand' else brand end as brand,
        case when given ? 'rating' then (given -> 'rating' ->> 'average')::float8 else rating_average
        end as rating_average,
        case when given ? 'rating' then (given -> 'rating' ->> 'count')::int else rating_count
        end as rating_count,
        coalesce(given -> 'attributes', attributes) as attributes,
        coalesce(given ->> 'taxClass', tax_class) as tax_class
      from product, patch where id = ${productId} and merchant_id = ${context.merchantId})
    update product p set brand = w.brand, rating_average = w.rating_average, rating_count = w.rating_count,
    attributes = w.attributes, tax_class = w.tax_class
    from wanted w
    where p.id = w.id and (p.brand, p.rating_average, p.rating_count, p.attributes, p.tax_class) is distinct
    from (w.brand, w.rating_average, w.rating_count, w.attributes, w.tax_class)
    returning p.id`.execute(transaction);
  return areOptionsChanged || saved.rows.length > 0;
}

/**
 * Returns the new column values of those product fields that the input contains. A field with null empties
 * its column; a field that is left out adds no column.
 */
function patchOf({ brand, rating, attributes, taxClass }: ProductInputFields): Record<string, unknown> {
  return {
    ...(brand === undefined ? {} : { brand }),
    ...(rating === undefined ? {} : { rating }),
    ...(attributes === undefined ? {} : { attributes: toAttributes(attributes ?? []) }),
    ...(taxClass === undefined ? {} : { taxClass: taxClass ?? standardTaxClass }),
  };
}

async function requireCategories(
  transaction: Transaction,
  context: MerchantCommandContext,
  categoryIds: readonly string[],
): Promise<void> {
  if (categoryIds.length === 0) return;
  const known = await transaction
    .selectFrom("category")
    .select("id")
    .where("merchantId", "=", context.merchantId)
    .where(sql<boolean>`id = any(${categoryIds.map(blankIdWithForbiddenCharacters)}::text[])`)
    .execute();
  const found = new Set(known.map(({ id }) => id));
  const details = categoryIds.flatMap((id, index) =>
    found.has(id)
      ? []
      : [
          createRequestBodyErrorDetail(
            `/categoryIds/${index}`,
            "resource_not_found",
            "The merchant has no category with this ID.",
          ),
        ],
  );
  if (details.length > 0) throw createFailure("resource_not_found", { details });
}

/** Replaces the product's categories and their order. Returns true if the list of categories has changed. */
export async function saveProductCategories(
  transaction: Transaction,
  productId: string,
  categoryIds: readonly string[],
): Promise<boolean> {
  const { rows } = await sql<{ changes: number }>`
    with wanted as (select id, (place - 1)::int as position from unnest(${categoryIds}::text[])
    with ordinality as w(id, place)),
    removed as (delete from product_category where product_id = ${productId} and category_id not in (select id
    from wanted) returning 1),
    saved as (
      insert into product_category (product_id, category_id, position) select ${productId}, id, position
      from wanted
      on conflict (product_id, category_id) do update set position = excluded.position
      where product_category.position <> excluded.position
      returning 1)
    select (select count(*) from removed) + (select count(*) from saved) as changes`.execute(transaction);
  return (rows[0]?.changes ?? 0) > 0;
}
