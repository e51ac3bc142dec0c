/**
 * `npm run relevance`: runs the judged queries over the demo in an embedded database and prints how well the
 * search answers them, by language and by kind of query. README.md explains the judgements and the figures.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { indexProducts } from "#commerce/search/index-products.ts";
import { searchProducts } from "#commerce/search/search-products.ts";
import { openDatabase } from "#database/connect.ts";
import { migrate } from "#database/migrate.ts";
import { runInTransaction, type DatabaseOrTransaction } from "#database/transaction.ts";
import { seedDemo } from "#demo/seed-demo.ts";
import { type Figures, figuresOf, type JudgedAnswer, type JudgedQuery, sumUp } from "./figures.ts";

const languages = [
  { locale: "en", market: "DE" },
  { locale: "de", market: "DE" },
  { locale: "ja", market: "JP" },
] as const;
const pageSize = 10;
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const now = new Date();

const { values: options } = parseArgs({ options: { misses: { type: "boolean", default: false } } });

const readQueries = (locale: string): JudgedQuery[] =>
  JSON.parse(readFileSync(new URL(`queries-${locale}.json`, import.meta.url), "utf8")) as JudgedQuery[];

/** The demo's products by the SKU of their entry in the catalog: variants have it as the beginning of theirs. */
async function findSkus(
  reader: DatabaseOrTransaction,
  skus: ReadonlySet<string>,
): Promise<Map<string, string>> {
  const variants = await reader.selectFrom("variant").select(["productId", "sku"]).execute();
  return new Map(
    variants.flatMap(({ productId, sku }) => {
      const parts = sku.split("-");
      const entry = parts
        .map((_, index) => parts.slice(0, parts.length - index).join("-"))
        .find((beginning) => skus.has(beginning));
      return entry === undefined ? [] : [[productId, entry] as const];
    }),
  );
}

/** The SKUs that are sold in a market. Other products are not judged there, because no buyer can find them. */
async function soldIn(
  reader: DatabaseOrTransaction,
  market: string,
  skus: ReadonlyMap<string, string>,
): Promise<ReadonlySet<string>> {
  const offers = await reader
    .selectFrom("searchOffer")
    .select("productId")
    .where("country", "=", market)
    .execute();
  return new Set(offers.map(({ productId }) => skus.get(productId) ?? productId));
}

const database = await openDatabase({});
try {
  await migrate(database);
  await runInTransaction(database.db, async (transaction) => {
    const { productIds } = await seedDemo(transaction, { now });
    await indexProducts(transaction, productIds, now);
  });
  const judged = languages.flatMap(({ locale, market }) =>
    readQueries(locale).map((query) => ({ query, locale, market })),
  );
  const skus = await findSkus(database.db, new Set(judged.flatMap(({ query }) => Object.keys(query.grades))));
  const answers: (JudgedAnswer & { readonly locale: string })[] = [];
  const sold = new Map<string, ReadonlySet<string>>();
  for (const { market } of languages) sold.set(market, await soldIn(database.db, market, skus));
  for (const { query: whole, locale, market } of judged) {
    const grades = Object.entries(whole.grades).filter(([sku]) => sold.get(market)?.has(sku) === true);
    if (grades.length === 0) continue;
    const query = { ...whole, grades: Object.fromEntries(grades) };
    const input = { q: query.q, locale, market, sort: "relevance", page: 1, pageSize } as const;
    const { hits } = await searchProducts(database.db, input, now);
    answers.push({ query, locale, found: hits.map(({ productId }) => skus.get(productId) ?? productId) });
  }
  printFigures(answers);
  if (options.misses) printMisses(answers);
} finally {
  await database.close();
}

function printFigures(answers: readonly (JudgedAnswer & { readonly locale: string })[]): void {
  const groups: [string, readonly JudgedAnswer[]][] = [
    ["all", answers],
    ...Map.groupBy(answers, ({ locale }) => locale),
    ...[...Map.groupBy(answers, ({ query }) => query.kind)].toSorted(([one], [other]) =>
      one.localeCompare(other),
    ),
  ];
  print("group          queries  first right  nDCG@10  precision@3  empty");
  for (const [name, own] of groups) print(writeRow(name, sumUp(own.map(figuresOf))));
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

function writeRow(name: string, { count, isFirstRight, ndcg, precision, isEmpty }: Figures): string {
  return [
    name.padEnd(14),
    String(count).padStart(7),
    percent(isFirstRight).padStart(12),
    ndcg.toFixed(3).padStart(8),
    percent(precision).padStart(12),
    percent(isEmpty).padStart(7),
  ].join(" ");
}

function printMisses(answers: readonly JudgedAnswer[]): void {
  for (const answer of answers) {
    const { query, found } = answer;
    if (figuresOf(answer).isFirstRight === 1) continue;
    const best = Object.keys(query.grades).filter((sku) => query.grades[sku] === 3);
    print(`${query.kind} "${query.q}": ${found.slice(0, 4).join(" ") || "nothing"}; best ${best.join(" ")}`);
  }
}
