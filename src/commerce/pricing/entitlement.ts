/** Which lines of a cart a promotion is about: those of named products or categories, or all where it names none. */

export interface Entitlement {
  /** Both empty: everything. */
  readonly productIds: readonly string[];
  readonly categoryIds: readonly string[];
}

export interface EntitledLine {
  readonly productId: string;
  /** Those it is in, with the categories above them. */
  readonly categoryIds: readonly string[];
  readonly quantity: number;
}

/** The answer for each line: asked of many lines, so what is named is looked up, not searched. */
export function entitledTo({ productIds, categoryIds }: Entitlement): (line: EntitledLine) => boolean {
  if (productIds.length === 0 && categoryIds.length === 0) return () => true;
  const products = new Set(productIds);
  const categories = new Set(categoryIds);
  return (line) => products.has(line.productId) || line.categoryIds.some((id) => categories.has(id));
}

export function quantityOf(lines: readonly EntitledLine[]): number {
  return lines.reduce((sum, { quantity }) => sum + quantity, 0);
}
