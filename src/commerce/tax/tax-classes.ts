/**
 * Creates and renames the tax classes of a merchant. Products and delivery methods belong to one class each,
 * and every tax rate applies to one class. A class is identified by its code and is never deleted, because
 * orders name it.
 */
import { type Selectable, sql } from "kysely";
import { lockMerchantCatalog } from "#commerce/catalog/change-catalog.ts";
import { catalogBounds } from "#commerce/catalog/catalog-fields.ts";
import type { MerchantCommandContext } from "#commerce/command-context.ts";
import type { TaxClassTable } from "#database/tables.ts";
import type { DatabaseOrTransaction, Transaction } from "#database/transaction.ts";
import { createFailure, type FailureDetail } from "#foundation/failure.ts";
import {
  createRequestBodyErrorDetail,
  getTextFieldErrors,
  requireNoInputFieldErrors,
} from "#foundation/faults.ts";
import { blankIdWithForbiddenCharacters } from "#foundation/ids.ts";
import { isSlug, slugLengthMax } from "#foundation/text.ts";

export interface UpsertTaxClassInput {
  readonly code: string;
  readonly name: string;
}

const taxClassesMax = 50;

export async function upsertTaxClass(
  transaction: Transaction,
  context: MerchantCommandContext,
  { code, name }: UpsertTaxClassInput,
): Promise<{ taxClass: string }> {
  requireNoInputFieldErrors([
    ...(isSlug(code)
      ? []
      : [
          createRequestBodyErrorDetail(
            "/code",
            "pattern_mismatch",
            `The code must have 1 to ${slugLengthMax} lower-case letters, digits or single hyphens between them.`,
          ),
        ]),
    ...getTextFieldErrors("/name", name, { max: catalogBounds.nameMax }),
  ]);
  await lockMerchantCatalog(transaction, context);
  const { merchantId, now } = context;
  const classes = await findTaxClasses(transaction, [merchantId]);
  if (classes.length >= taxClassesMax && !classes.some((known) => known.code === code))
    throw createFailure("invalid_field", {
      details: [
        createRequestBodyErrorDetail(
          "/code",
          "too_many",
          `A merchant can have ${taxClassesMax} tax classes at most.`,
        ),
      ],
    });
  await sql`
    insert into tax_class as t (merchant_id, code, name, created_at, updated_at)
    values (${merchantId}, ${code}, ${name}, ${now}, ${now})
    on conflict (merchant_id, code) do update set name = excluded.name, updated_at = excluded.updated_at
    where t.name <> excluded.name`.execute(transaction);
  return { taxClass: code };
}

export type TaxClassRow = Selectable<TaxClassTable>;

/** Loads the tax classes of several merchants, sorted by their code. */
export const findTaxClasses = (
  reader: DatabaseOrTransaction,
  merchantIds: readonly string[],
): Promise<TaxClassRow[]> =>
  reader
    .selectFrom("taxClass")
    .selectAll()
    .where(sql<boolean>`merchant_id = any(${merchantIds}::text[])`)
    .orderBy("code")
    .execute();

/** Throws a failure if the merchant has no tax class with the code. Does nothing if no code is given. */
export async function requireTaxClass(
  reader: DatabaseOrTransaction,
  { merchantId }: Pick<MerchantCommandContext, "merchantId">,
  { code, field }: { readonly code: string | null | undefined; readonly field: string },
): Promise<void> {
  if (code === null || code === undefined) return;
  const known = await reader
    .selectFrom("taxClass")
    .select("code")
    .where("merchantId", "=", merchantId)
    .where("code", "=", blankIdWithForbiddenCharacters(code))
    .executeTakeFirst();
  if (known === undefined)
    throw createFailure("resource_not_found", { details: [createUnknownTaxClassErrorDetail(field)] });
}

export const createUnknownTaxClassErrorDetail = (field: string): FailureDetail =>
  createRequestBodyErrorDetail(
    field,
    "resource_not_found",
    "The merchant has no tax class with this code. The query `taxClasses` lists the codes.",
  );
