/**
 * The options of a product in which its variants differ, for example colour and size. A variant that is not
 * discontinued has exactly one choice of each option. A change of the options is refused if it would break
 * this rule. Discontinued variants keep their former choices.
 */
import { sql } from "kysely";
import type { Transaction } from "#database/transaction.ts";
import { createFailure } from "#foundation/failure.ts";
import {
  catalogBounds,
  findCatalogCodeFormatFaults,
  findLocalizedTextFaults,
  type LocalizedTextInput,
  toLocalizedTextMap,
} from "./catalog-fields.ts";
import { getListLengthErrors, type InputFieldErrors, getDuplicateEntryErrors } from "#foundation/faults.ts";
import { toProductConflictDetail, type LockedProduct } from "./change-catalog.ts";

export interface ProductOptionInput {
  readonly code: string;
  readonly names: readonly LocalizedTextInput[];
  /** The choices of the option, in the order in which they are displayed. */
  readonly choices: readonly ProductOptionChoiceInput[];
}

export interface ProductOptionChoiceInput {
  readonly code: string;
  readonly labels: readonly LocalizedTextInput[];
}

export function findProductOptionsFaults(
  field: string,
  options: readonly ProductOptionInput[] | null | undefined,
): InputFieldErrors {
  if (options === null || options === undefined) return [];
  return [
    ...getListLengthErrors(field, options, { min: 0, max: catalogBounds.optionsMax }),
    ...options.flatMap((option, index) => optionFaults(`${field}/${index}`, option)),
    ...getDuplicateEntryErrors(
      options.map(({ code }) => code),
      (index) => `${field}/${index}/code`,
    ),
  ];
}

function optionFaults(at: string, { code, names, choices }: ProductOptionInput): InputFieldErrors {
  return [
    ...findCatalogCodeFormatFaults(`${at}/code`, code),
    ...findLocalizedTextFaults(`${at}/names`, names, { max: catalogBounds.nameMax }),
    ...getListLengthErrors(`${at}/choices`, choices, { min: 1, max: catalogBounds.choicesMax }),
    ...choices.flatMap((choice, index) => [
      ...findCatalogCodeFormatFaults(`${at}/choices/${index}/code`, choice.code),
      ...findLocalizedTextFaults(`${at}/choices/${index}/labels`, choice.labels, {
        max: catalogBounds.nameMax,
      }),
    ]),
    ...getDuplicateEntryErrors(
      choices.map((choice) => choice.code),
      (index) => `${at}/choices/${index}/code`,
    ),
  ];
}

/**
 * Replaces the product's options. Returns true if any option has changed. The caller must then check that
 * every variant has one choice of each option.
 */
export async function saveProductOptions(
  transaction: Transaction,
  productId: string,
  options: readonly ProductOptionInput[],
): Promise<boolean> {
  const rows = options.map(({ code, names, choices }, position) => ({
    code,
    names: toLocalizedTextMap(names),
    choices: choices.map((choice) => ({ code: choice.code, labels: toLocalizedTextMap(choice.labels) })),
    position,
  }));
  const { rows: counted } = await sql<{ changes: number }>`
    with wanted as (select * from json_to_recordset(${JSON.stringify(rows)}::json) as w(code text, names
    jsonb, choices jsonb, position int)),
    removed as (delete from product_option where product_id = ${productId} and code not in (select code
    from wanted) returning 1),
    saved as (
      insert into product_option (product_id, code, names, choices, position)
      select ${productId}, code, names, choices, position from wanted
      on conflict (product_id, code) do update set names = excluded.names, choices = excluded.choices,
      position = excluded.position
      where (product_option.names, product_option.choices, product_option.position) is distinct
      from (excluded.names, excluded.choices, excluded.position)
      returning 1)
    select (select count(*) from removed) + (select count(*) from saved) as changes`.execute(transaction);
  return (counted[0]?.changes ?? 0) > 0;
}

/** Maps the code of each option of a product to the codes of its choices. */
export type ChoiceCodesByOptionCode = ReadonlyMap<string, ReadonlySet<string>>;

export async function loadProductOptionChoices(
  transaction: Transaction,
  productId: string,
): Promise<ChoiceCodesByOptionCode> {
  const rows = await transaction
    .selectFrom("productOption")
    .select(["code", "choices"])
    .where("productId", "=", productId)
    .execute();
  return new Map(
    rows.map(({ code, choices }) => [
      code,
      new Set((choices as { code: string }[]).map((choice) => choice.code)),
    ]),
  );
}

/**
 * Reads the stored variants of a product. Throws a failure if a variant that is not discontinued does not
 * have exactly one of the saved choices for each saved option.
 */
export async function requireStoredVariantsFitOptions(
  transaction: Transaction,
  product: LockedProduct,
): Promise<void> {
  const options = await loadProductOptionChoices(transaction, product.id);
  const variants = await transaction
    .selectFrom("variant")
    .select(["id", "options", "discontinued"])
    .where("productId", "=", product.id)
    .orderBy("position")
    .orderBy("id")
    .execute();
  requireVariantChoicesFitOptions(
    product,
    options,
    variants.map(({ id, discontinued, ...variant }) => ({
      id,
      discontinued,
      options: variant.options as Record<string, string>,
    })),
  );
}

export interface VariantOptionChoices {
  readonly id: string;
  readonly options: Readonly<Record<string, string>>;
  readonly discontinued: boolean;
}

/**
 * Throws a failure if one of the given variants is not discontinued and does not have exactly one existing
 * choice of each option.
 */
export function requireVariantChoicesFitOptions(
  product: LockedProduct,
  options: ChoiceCodesByOptionCode,
  variants: readonly VariantOptionChoices[],
): void {
  const misfits = variants.filter(
    (variant) =>
      !variant.discontinued && explainVariantOptionMismatch(options, variant.options) !== undefined,
  );
  if (misfits.length === 0) return;
  throw createFailure("still_in_use", {
    conflict: toProductConflictDetail(product, "options_in_use", { variantIds: misfits.map(({ id }) => id) }),
  });
}

/**
 * Explains why the choices of a variant do not fit the product's options, for example because a choice is
 * missing. Returns undefined if the choices fit.
 */
export function explainVariantOptionMismatch(
  options: ChoiceCodesByOptionCode,
  combination: Readonly<Record<string, string>>,
): string | undefined {
  for (const [code, choices] of options) {
    const chosen = combination[code];
    if (chosen === undefined) return `A choice of the option "${code}" is missing.`;
    if (!choices.has(chosen)) return `The option "${code}" has no choice "${chosen}".`;
  }
  return Object.keys(combination).length === options.size
    ? undefined
    : "The variant has a choice of an option that the product does not have.";
}
