/** The figures of a judged search: whether the first product is right, nDCG@10, precision@3 and empty answers. */

/** A query with its judgements: SKU of a product → grade from 1 (acceptable) to 3 (exactly right). */
export interface JudgedQuery {
  readonly q: string;
  readonly kind: string;
  readonly grades: Readonly<Record<string, number>>;
}

export interface JudgedAnswer {
  readonly query: JudgedQuery;
  /** SKUs of the found products, best first. */
  readonly found: readonly string[];
}

/** Figures of one query, or their means. */
export interface Figures {
  readonly count: number;
  /** 1 if the first product has the best grade of the query. */
  readonly isFirstRight: number;
  /** Normalized discounted cumulative gain of the first ten products, with the gain 2^grade − 1. */
  readonly ndcg: number;
  /** Share of the first three products with grade 2 or 3; of fewer, if fewer products have such a grade. */
  readonly precision: number;
  readonly isEmpty: number;
}

const ndcgDepth = 10;
const precisionDepth = 3;
const goodGrade = 2;

export function figuresOf({ query: { grades }, found }: JudgedAnswer): Figures {
  const sorted = Object.values(grades).toSorted((one, other) => other - one);
  const gradeOf = (sku: string | undefined): number => (sku === undefined ? 0 : (grades[sku] ?? 0));
  const best = sorted[0] ?? 0;
  const good = sorted.filter((grade) => grade >= goodGrade).length;
  const depth = Math.max(1, Math.min(precisionDepth, good));
  const right = found.slice(0, depth).filter((sku) => gradeOf(sku) >= Math.min(goodGrade, best)).length;
  const ideal = gainOf(sorted);
  return {
    count: 1,
    isFirstRight: Number(best > 0 && gradeOf(found[0]) === best),
    ndcg: ideal === 0 ? 0 : gainOf(found.map(gradeOf)) / ideal,
    precision: right / depth,
    isEmpty: Number(found.length === 0),
  };
}

const gainOf = (grades: readonly number[]): number =>
  grades.slice(0, ndcgDepth).reduce((sum, grade, index) => sum + (2 ** grade - 1) / Math.log2(index + 2), 0);

/** The means of figures. */
export function sumUp(all: readonly Figures[]): Figures {
  const mean = (name: Exclude<keyof Figures, "count">): number =>
    all.reduce((sum, figures) => sum + figures[name], 0) / Math.max(1, all.length);
  return {
    count: all.length,
    isFirstRight: mean("isFirstRight"),
    ndcg: mean("ndcg"),
    precision: mean("precision"),
    isEmpty: mean("isEmpty"),
  };
}
