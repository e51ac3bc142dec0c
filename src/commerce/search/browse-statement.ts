/** Everything there is, in an order: the first matches of it, read from the indexes of the offers. */
import { type RawBuilder, sql } from "kysely";
import { slot } from "#database/kept-statement.ts";
import { currencyIn } from "./offer-key.ts";
import { type Base, chainLength, country, isSelling, localeOf, mainCurrency, matchesMax, mostUsedCurrency, type SearchForm } from "./search-form.ts";

type Sql = RawBuilder<unknown>;

const window = sql.raw(String(matchesMax + 1));
const popularity = sql`o.popularity desc, o.published_at desc, o.product_id`;
const mostPopular = sql`base where place <= ${sql.raw(String(matchesMax))}`;
const newest = sql`o.published_at desc, o.product_id`;

export function browsed(form: SearchForm): Base {
  // The same currency in every order: that of the most popular.
  const popular = sql`(select o.currency from ${offers(form)} order by ${popularity} limit ${sql.raw(String(matchesMax))}) as popular`;
  const isByPopularity = form.sort === "relevance" || form.sort === "popularity";
  const main = mainCurrency(isByPopularity ? mostUsedCurrency(currencyIn(sql`offer`), mostPopular) : mostUsedCurrency(sql`currency`, popular));
  return { base: baseOf(form), main, order: sql`place` };
}

/** Without words everything is equally relevant. */
function baseOf(form: SearchForm): Sql {
  if (form.sort === "title_asc") return byTitle(form);
  if (form.sort === "price_asc") return byPrice(form, sql`asc`);
  if (form.sort === "price_desc") return byPrice(form, sql`desc`);
  return placed(sql`select ${columns} from ${offers(form)} order by ${form.sort === "newest" ? newest : popularity} limit ${window}`);
}

/** Rows are numbered as they come: in the order of what they are taken from. */
const placed = (rows: Sql): Sql => sql`select *, row_number() over () as place from (${rows}) as ordered`;

const fixed = sql`o.product_id, o.group_key, o.brand, o.offer_key as offer`;
const columns = sql`${fixed}, ${localeOf(sql`o.locales`, sql`o.fallback_locale`)} as locale`;

/** The offers of the country that pass the filters, as what follows `from`; what is added must start with `and`. */
function offers({ hasCategory, hasMerchant }: SearchForm, joined?: Sql): Sql {
  const filters = [sql`o.country = ${country}`, isSelling(sql`o.merchant_id`)];
  if (hasCategory) filters.push(sql`o.category_keys @> array[${slot("categoryKey")}::text]`);
  if (hasMerchant) filters.push(sql`o.merchant_id = (select id from merchant where slug = ${slot("merchant")}::text)`);
  return sql`search_offer o ${joined === undefined ? sql`` : sql`on ${joined}`} where ${sql.join(filters, sql` and `)}`;
}

/** The last line decides; the one before says the same of most, from the document alone. */
function byTitle(form: SearchForm): Sql {
  const chain = sql`array[${sql.join(Array.from({ length: chainLength }, (_, index) => slot(`chain${index}`)))}]::text[]`;
  return placed(sql`
    select ${fixed}, d.locale from search_document d join ${offers(form, sql`o.product_id = d.product_id`)}
      and (d.locale = any(${chain}) or not d.locales && ${chain})
      and d.locale = ${localeOf(sql`o.locales`, sql`o.fallback_locale`)}
    order by d.title_folded, d.product_id limit ${window}`);
}

/** Two ordered reads of the index; the second one only runs when the first has not filled the window. */
function byPrice(form: SearchForm, direction: Sql): Sql {
  const main = sql`(select currency from main)`;
  const part = (number: 0 | 1, { among, order }: { among: Sql; order: Sql }): Sql => sql`
    (select ${columns}, ${sql.raw(String(number))} as part, o.currency, o.min_minor from ${offers(form)} and o.currency ${among}
      order by ${order} limit ${window})`;
  return sql`
    select *, row_number() over (order by part, currency, min_minor ${direction}, product_id) as place from (
      ${part(0, { among: sql`= ${main}`, order: sql`o.min_minor ${direction}, o.product_id` })}
      union all
      ${part(1, { among: sql`<> ${main}`, order: sql`o.currency, o.min_minor ${direction}, o.product_id` })}
      limit ${window}) as parts`;
}
