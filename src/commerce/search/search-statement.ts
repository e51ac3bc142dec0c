/**
 * The one statement of a search: matches, their order, the facets, and the page with what is shown of its products. One text per combination of
 * filters and sort, never a filter that may be null, so that PostgreSQL's generic plan of it stays a good one. From each product exactly one
 * document takes part.
 */
import { type RawBuilder, sql } from "kysely";
import { browsed } from "./browse-statement.ts";
import { countedIn, facetsOf, mostUsedLocale } from "./facet-statement.ts";
import { firstMax } from "./kept-browse.ts";
import { slot } from "#database/kept-statement.ts";
import { knownPage, pageOf } from "./page-statement.ts";
import { matchesMax, type SearchForm } from "./search-form.ts";
import { matched } from "./words-statement.ts";

const max = sql.raw(String(matchesMax));

/**
 * `base`: every match of the words; of a browse, the first of its order. `found`: what is counted. `main`: the currency that most of the matches are
 * sold in, in which alone amounts are compared.
 */
export function searchStatement(form: SearchForm): RawBuilder<unknown> {
  const { base, main, order } = form.hasWords ? matched(form) : browsed(form);
  return sql`
    with recursive ${usedLocales(form)}
    base as materialized (${base}),
    size as materialized (select count(*)::int as total from base),
    main as materialized (${main}),
    found as not materialized (${form.hasWords ? bestOf(order) : sql`select * from base where place <= ${max}`}),
    counted as materialized (${countedIn(sql`found`)}),
    page as materialized (${pageOf(form, order)})
    select (select coalesce(json_agg(h order by h.place), '[]') from (select * from page) as h) as hits, (select total from size) as total,
      (select currency from main where (select total from size) > 0) as currency, ${mostUsedLocale} as locale,
      ${facetsOf()} as facets, ${form.hasWords ? sql`(select array_agg(locale) from used) as used_locales` : kept}, ${indexedAt} as indexed_at`;
}

const indexedAt = sql`(select max(indexed_at) from search_document)`;

/** What a browse is kept with: its first products, and what it has seen. */
const kept = sql`(select coalesce(json_agg(json_build_object('product_id', product_id, 'locale', locale) order by place), '[]')
    from base where place <= ${sql.raw(String(firstMax))}) as first, pg_current_snapshot()::text as snapshot`;

/** A page of a browse whose products are known, and whether they still are these: nothing was changed that the snapshot has not seen. */
export function knownPageStatement(): RawBuilder<unknown> {
  const snapshot = sql`${slot("snapshot")}::text::pg_snapshot`;
  return sql`
    with page as materialized (${knownPage})
    select (select coalesce(json_agg(h order by h.place), '[]') from (select * from page) as h) as hits,
      not exists (select from search_change where xid >= pg_snapshot_xmin(${snapshot})::text::bigint
        and not pg_visible_in_snapshot(xid::text::xid8, ${snapshot})) as is_current, ${indexedAt} as indexed_at`;
}

/** All matches, or the best of them. Only one of the two is read: which, is known before either is begun. */
function bestOf(order: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
      select * from base where (select total from size) <= ${max}
      union all
      (select * from base where (select total from size) > ${max} order by ${order} limit ${max})`;
}

/** The locales there are documents in. It steps from locale to locale in the index instead of reading the vocabulary. */
function usedLocales({ hasWords }: SearchForm): RawBuilder<unknown> {
  if (!hasWords) return sql``;
  return sql`used(locale) as (
      (select locale from search_term order by locale limit 1)
      union all
      select (select t.locale from search_term t where t.locale > u.locale order by t.locale limit 1) from used u where u.locale is not null
    ),`;
}
