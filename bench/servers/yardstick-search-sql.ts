/**
 * Creates the yardstick's search statement. Each combination of filters has its own SQL text, so that
 * PostgreSQL caches a suitable plan for each.
 */
import { availabilityRankSql, urlSql, utcSql } from "./sql-parts.ts";
import { priceSteps } from "./yardstick-facets.ts";

export interface SearchForm {
  readonly hasWords: boolean;
  readonly hasCode: boolean;
  readonly sort: string;
  readonly chainLength: number;
  readonly category: boolean;
  readonly merchant: boolean;
  /** True to leave out the fields of the products. */
  readonly isBare: boolean;
}

const texts = new Map<string, string>();

export function searchSql(form: SearchForm): string {
  const key = Object.values(form).join("/");
  let text = texts.get(key);
  if (text === undefined) texts.set(key, (text = write(form)));
  return text;
}

const orders: Readonly<Record<string, string>> = {
  relevance: "score desc, product_id",
  newest: "published_at desc, product_id",
  price_asc: "currency is distinct from (select currency from main), currency, min_minor, product_id",
  popularity: "popularity desc, published_at desc, product_id",
};

const matchesMax = 10_000;

/**
 * Creates the SQL text. Parameters: country, public URL (unless bare), bounds of the page, locale chain,
 * filters, words.
 */
function write({ hasWords, hasCode, sort, chainLength, category, merchant, isBare }: SearchForm): string {
  let count = isBare ? 3 : 4;
  const next = (type: string): string => `$${++count}::${type}`;
  const chain = Array.from({ length: chainLength }, () => next("text"));
  const shownLocales = chain.map((tag) => `when ${tag} = any(o.locales) then ${tag}`).join(" ");
  const locale = `(case ${shownLocales} else o.fallback_locale end)`;
  const filters = [
    "o.country = $1 and m.status = 'active'",
    ...(category ? [`o.category_keys @> array[${next("text")}]`] : []),
    ...(merchant ? [`m.slug = ${next("text")}`] : []),
  ].join(" and ");
  const columns =
    "o.product_id, o.merchant_id, o.currency, o.min_minor, o.availability, o.in_stock, o.popularity, " +
    "o.published_at, o.brand, o.category_keys";
  const browseOrder = sort === "relevance" ? "popularity" : sort;
  if (!hasWords) {
    const base = `select ${columns}, ${locale} as locale, 0 as score from search_offer o join merchant m
      on m.id = o.merchant_id where ${filters}
      order by o.popularity desc, o.published_at desc, o.product_id limit ${matchesMax + 1}`;
    return around({
      base,
      order: orders[browseOrder] ?? "",
      hit: "'{}'::text[] as matched, f.score",
      isBare,
    });
  }
  const [all, allPlain, exactInTitle, allInTitle, allInTitleOrBrand, partInTitle, any] = [
    next("tsquery"),
    next("tsquery"),
    next("tsquery"),
    next("tsquery"),
    next("tsquery"),
    next("tsquery"),
    next("tsquery"),
  ];
  const [phrase, anyCode, anyTitle, anyBrand, anyText] = [
    next("text"),
    next("tsquery"),
    next("tsquery"),
    next("tsquery"),
    next("tsquery"),
  ];
  const codes = hasCode
    ? `when strpos(d.codes, ${next("text")}) > 0 then 2000 when strpos(d.codes, ${next("text")}) ` +
      "> 0 then 1500"
    : "";
  const scoreSql = (offer: string): string => `(case ${codes}
      when strpos(' ' || d.title_folded || ' ', ${phrase}) > 0 then 600
      when d.head @@ ${exactInTitle} then 500 when d.head @@ ${allInTitle} then 400
      when d.head @@ ${allInTitleOrBrand} then 300 when d.head @@ ${allPlain} then 200
      when d.head @@ ${partInTitle} then 150 else 100 end
    + case when ${offer}.in_stock then 40 else 0 end + 4 * least(9, floor(log(2, ${offer}.popularity + 1)))::int
    + 10 * ts_rank('{0.3,0.3,1,0.5}', d.head, ${any}, 1)::float8)`;
  const chainList = `array[${chain.join(", ")}]`;
  const isRanked = sort === "relevance";
  const base = `select ${columns}, d.locale, ${isRanked ? scoreSql("o") : "0"} as score
    from search_document d join search_offer o on o.product_id = d.product_id join merchant m
    on m.id = o.merchant_id
    where d.words @@ ${all} and (d.locale = any(${chainList}) or not d.locales && ${chainList})
    and d.locale = ${locale} and ${filters}`;
  const hit = `array_remove(array[
    case when d.head @@ ${anyCode} then 'sku' end, case when d.head @@ ${anyTitle} then 'title' end,
    case when d.head @@ ${anyBrand} then 'brand' end, case when d.head @@ ${anyText} then 'category' end,
    case when d.words @@ ${anyText} then 'description' end], null) as matched,
    ${isRanked ? "f.score" : scoreSql("f")} as score`;
  return around({ base, order: orders[sort] ?? "", hit, isBare });
}

const list = (rows: string, order: string): string =>
  `(select coalesce(json_agg(r order by ${order}), '[]') from (${rows}) r)`;

interface Parts {
  readonly base: string;
  readonly order: string;
  readonly hit: string;
  readonly isBare: boolean;
}

function around({ base, order, hit, isBare }: Parts): string {
  return `
with base as materialized (${base}),
main as materialized (select currency from base group by currency order by count(*) desc, currency limit 1),
found as materialized (select * from (select *, row_number() over (order by ${order}) as place from base) r
where place <= ${matchesMax + 1}),
counted as materialized (
  select grouping(merchant_id, brand, availability, locale, step) as by, merchant_id, brand, availability,
  locale, step, count(*) as count
  from (select merchant_id, brand, availability, locale,
      case when currency = (select currency from main) then width_bucket(min_minor,
      array[${priceSteps.join(",")}]::bigint[]) end as step
    from found where place <= ${matchesMax}) f
  group by grouping sets ((merchant_id), (brand), (availability), (locale), (step))
)
select (select coalesce(json_agg(h order by h.place), '[]')
from (${isBare ? barePage(hit) : page(hit)}) h) as hits,
  (select count(*) from found) as total, (select currency from main) as currency,
  (select locale from counted where by = 29 order by count desc, locale limit 1) as locale,
  json_build_object(
    'category', ${list(
      `select substr(k.key, 4) as slug, c.names, m.default_locale, k.count
        from (select key, count(*) as count, min(merchant_id) as merchant_id
        from found, unnest(category_keys) u(key) where place <= ${matchesMax}
          group by key order by count(*) desc, key limit 20) k
        left join category c on c.merchant_id = k.merchant_id and c.slug = substr(k.key, 4) left
        join merchant m on m.id = k.merchant_id`,
      "count desc, slug",
    )},
    'merchant', ${list(
      `select m.slug as value, m.name as label, k.count
        from (select merchant_id, count from counted where by = 15
          order by count desc, merchant_id limit 20) k
        join merchant m on m.id = k.merchant_id`,
      "count desc, value",
    )},
    'brand', ${list(
      `select brand as value, count from counted where by = 23 and brand is not null
        order by count desc, brand limit 20`,
      "count desc, value",
    )},
    'availability',
    ${list("select availability as value, count from counted where by = 27", "count desc, value")},
    'price', ${list("select step, count from counted where by = 30 and step is not null", "step")}) as facets,
  (select max(indexed_at) from search_document) as "indexedAt"`;
}

const titleStems = `(select json_agg((ts_lexize(t.oid::regdictionary, w.word))[1] order by w.place)
    from unnest(d.title_words) with ordinality w(word, place), pg_ts_dict t
    where t.dictname = d.stemmer || '_stem') as "titleStems"`;

const barePage = (hit: string): string => `
select o.place, o.score, o.matched, d.title, d.stemmer, ${titleStems}, o.product_id as id, o.locale
from (select f.place, f.product_id, f.locale, ${hit} from found f join search_document d
on d.product_id = f.product_id and d.locale = f.locale
    where f.place > $2::int and f.place <= $3::int) o
join search_document d on d.product_id = o.product_id and d.locale = o.locale`;

/** Returns the SQL that selects the fields of the found products from the catalog tables. */
function page(hit: string): string {
  return `
select o.place, o.score, o.matched, d.title, d.stemmer, ${titleStems},
  p.id, t.slug, t.locale, t.title as name, t.summary, p.brand, m.id as merchant, m.slug as "merchantSlug",
  m.name as "merchantName",
  m.default_locale as "merchantLocale", mk.default_locale as "marketLocale", mk.currency, v.prices,
  v.compares, v.variants,
  coalesce(v.offered_rank, v.rank, 5) as rank, p.rating_average as rating, p.rating_count as ratings,
  ${utcSql("p.published_at")} as "publishedAt", ${utcSql("p.updated_at")} as "updatedAt",
  (select json_agg(json_build_object('slug', k.slug, 'names', k.names) order by pc.position, k.id)
    from product_category pc join category k on k.id = pc.category_id
    where pc.product_id = p.id) as categories,
  (select json_build_object('url', ${urlSql("md.url", "$2")}, 'alts', md.alts, 'width', md.width, 'height',
  md.height)
    from media md where md.product_id = p.id and md.type = 'image' order by md.position, md.id
    limit 1) as image
from (select f.place, f.product_id, f.locale, ${hit} from found f join search_document d
on d.product_id = f.product_id and d.locale = f.locale
    where f.place > $3::int and f.place <= $4::int) o
join search_document d on d.product_id = o.product_id and d.locale = o.locale
join product p on p.id = o.product_id join merchant m on m.id = p.merchant_id
join product_translation t on t.product_id = p.id and t.locale = o.locale
join market_country mc on mc.merchant_id = p.merchant_id and mc.country = $1 join market mk
on mk.id = mc.market_id
cross join lateral (
  select array_remove(array[min(pr.amount_minor), max(pr.amount_minor)], null) as prices,
    array_remove(array[min(pr.compare_at_minor), max(pr.compare_at_minor)], null) as compares, count(*) as
    variants,
    min(r.rank) as rank, min(r.rank) filter (where pr.variant_id is not null) as offered_rank
  from variant v left join stock_level sl on sl.variant_id = v.id cross join
  lateral (select ${availabilityRankSql("v", "sl")} as rank) r
  left join price pr on pr.variant_id = v.id and pr.market_id = mk.id and pr.valid_until is null
  where v.product_id = p.id) v`;
}
