/** The page's part of the search statement: the products on it, what of them was found, and their summaries. */
import { type RawBuilder, sql } from "kysely";
import { summaryColumns, summaryTables } from "#commerce/catalog/read-summaries.ts";
import { slot } from "#database/kept-statement.ts";
import { isInStock } from "./offer-key.ts";
import { country, pageSizeMax, type SearchForm } from "./search-form.ts";
import { scoreOf } from "./words-statement.ts";

type Sql = RawBuilder<unknown>;

const isIn = (name: string, column: "head" | "words"): Sql => sql`d.${sql.raw(column)} @@ ${slot(name)}::tsquery`;

const tables = summaryTables(sql`f`, { country, now: sql`${slot<Date>("now")}::timestamptz` });

/** Products that are known already, as JSON: a list whose length is no part of the plan. */
export const knownPage = sql`
  select f.place, 0 as score, ${summaryColumns}
  from (select product_id, locale, row_number() over () as place from json_to_recordset(${slot("known")}::json) as r(product_id text, locale text)) as f
  ${tables}`;

/** `limit` twice: how long a page can be is known when it is planned, how long it is when it is asked for. */
export function pageOf(form: SearchForm, order: Sql): Sql {
  const score = form.hasWords && form.sort === "relevance" ? sql`, score` : sql``;
  const asked = sql`
    select product_id, locale, offer ${score}, row_number() over () as place
    from (select * from base order by ${order} offset ${slot("offset")}::int limit ${slot("limit")}::int) as ordered limit ${sql.raw(String(pageSizeMax))}`;
  if (!form.hasWords) return sql`select f.place, 0 as score, ${summaryColumns} from (${asked}) as f ${tables}`;
  return sql`
    select f.place, ${form.sort === "relevance" ? sql`f.score` : sql`${scoreOf(form, isInStock(sql`f.offer`))} as score`},
      ${isIn("anyCode", "head")} as "inCode", ${isIn("anyTitle", "head")} as "inTitle", ${isIn("anyBrand", "head")} as "inBrand",
      ${isIn("anyCategory", "head")} as "inCategory", ${isIn("anyText", "words")} as "inText", d.stemmer, d.title_stems as "titleStems", ${summaryColumns}
    from (${asked}) as f join search_document d on d.product_id = f.product_id and d.locale = f.locale ${tables}`;
}
