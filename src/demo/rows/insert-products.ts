/** Writes the rows of any number of products, one statement a table. */
import type { Transaction } from "#database/transaction.ts";
import { insertRows, type Row } from "./insert-rows.ts";
import type { VariantRows } from "./variant-rows.ts";

export interface ProductRows extends VariantRows {
  readonly product: Row<"product">;
  readonly productSlug: readonly Row<"productSlug">[];
  readonly productTranslation: readonly Row<"productTranslation">[];
  readonly productCategory: readonly Row<"productCategory">[];
  readonly productOption: readonly Row<"productOption">[];
  readonly media: readonly Row<"media">[];
}

export function insertProducts(transaction: Transaction, products: readonly ProductRows[]): Promise<void> {
  return insertRows(transaction, {
    product: products.map(({ product }) => product),
    productSlug: products.flatMap(({ productSlug }) => productSlug),
    productTranslation: products.flatMap(({ productTranslation }) => productTranslation),
    productCategory: products.flatMap(({ productCategory }) => productCategory),
    productOption: products.flatMap(({ productOption }) => productOption),
    media: products.flatMap(({ media }) => media),
    variant: products.flatMap(({ variant }) => variant),
    price: products.flatMap(({ price }) => price),
    stockLevel: products.flatMap(({ stockLevel }) => stockLevel),
    stockMovement: products.flatMap(({ stockMovement }) => stockMovement),
  });
}
