-- Columns that let search score, count and sort a match by its document alone, without a look-up per match.
-- commerce/search writes them together with search_offer, which has the same values for browsing.

alter table search_document
  -- The stem of each word of title_words; null if the language has no stemmer.
  add column title_stems text[],
  -- The merchant's id and the slugs of the product's categories and all their ancestors, separated by spaces.
  -- Facets are counted by this value.
  add column group_key text collate "C",
  add column merchant_id text,
  add column brand text,
  add column published_at timestamptz,
  -- By country: a digit for the availability (commerce/catalog/availability.ts), the currency, the step of
  -- the lowest price in two digits, the fallback locale, a slash, the lowest price. Facets are counted by the
  -- first six characters.
  add column offers jsonb;

-- The same two values for an offer, so that browsing counts facets in the same way; offer_key has only the six
-- characters that are counted.
alter table search_offer
  add column group_key text collate "C",
  add column offer_key text collate "C";

update search_offer set
  group_key = concat_ws(' ', merchant_id, (select string_agg(substr(key, 4), ' ' order by place) from unnest(category_keys) with ordinality as u(key, place))),
  offer_key = array_position(array['in_stock', 'low_stock', 'backorder', 'preorder', 'out_of_stock', 'discontinued'], availability) - 1
    || currency || lpad(width_bucket(min_minor, (select array_agg(digit * 10::bigint ^ power order by digit * 10::bigint ^ power)::bigint[]
      from unnest(array[1, 2, 5]) as digit, generate_series(0, 15) as power))::text, 2, '0');

alter table search_offer
  alter column group_key set not null,
  alter column offer_key set not null;

update search_document d set
  title_stems = case when exists (select from pg_ts_dict where dictname = d.stemmer || '_stem') then
    array(select (ts_lexize((d.stemmer || '_stem')::regdictionary, w.word))[1] from unnest(d.title_words) with ordinality as w(word, place) order by w.place) end,
  group_key = o.group_key, merchant_id = o.merchant_id, brand = o.brand, published_at = o.published_at, offers = o.offers
from (
  select product_id, min(group_key) as group_key, min(merchant_id) as merchant_id, min(brand) as brand, min(published_at) as published_at,
    jsonb_object_agg(country, offer_key || fallback_locale || '/' || min_minor) as offers
  from search_offer group by product_id) as o
where o.product_id = d.product_id;

delete from search_document where offers is null;

alter table search_document
  alter column group_key set not null,
  alter column merchant_id set not null,
  alter column published_at set not null,
  alter column offers set not null;

-- The product summaries that search results show; commerce/catalog/read-summaries.ts defines their content.
-- They have a table of their own, because search reads many documents for each summary that it returns.
create table search_summary (
  product_id text not null references product on delete cascade,
  locale text not null,
  merchant_id text not null references merchant,
  summary json not null,
  primary key (product_id, locale)
);

insert into search_summary (product_id, locale, merchant_id, summary)
select p.id, t.locale, p.merchant_id, json_build_object('id', p.id, 'slug', t.slug, 'locale', t.locale, 'title', t.title, 'summary', t.summary, 'brand', p.brand,
  'ratingAverage', p.rating_average, 'ratingCount', p.rating_count,
  'publishedAt', to_char(coalesce(p.published_at, p.created_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
  'updatedAt', to_char(p.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
  'categories', (select json_agg(json_build_object('slug', c.slug, 'names', c.names) order by pc.position, c.id)
    from product_category pc join category c on c.id = pc.category_id where pc.product_id = p.id),
  'image', (select json_build_object('url', md.url, 'alts', md.alts, 'width', md.width, 'height', md.height)
    from media md where md.product_id = p.id and md.type = 'image' order by md.position, md.id limit 1))
from search_document d join product p on p.id = d.product_id join product_translation t on t.product_id = p.id and t.locale = d.locale;

-- Transactions that changed the results of browsing. Cached facet counts are stored with the database
-- snapshot of their calculation. They are valid while this table has no transaction that is invisible in that
-- snapshot.
create table search_change (
  -- Transaction id.
  xid bigint primary key,
  at timestamptz not null
);

create function search_changed() returns trigger language plpgsql as $$
begin
  insert into search_change (xid, at) values (pg_current_xact_id()::text::bigint, clock_timestamp()) on conflict do nothing;
  -- Deletes two old rows per new row, so that the table stays small. Counts from before a deleted row are stale
  -- because of the new row, too.
  delete from search_change where xid <> pg_current_xact_id()::text::bigint and xid in (
    select xid from (select xid, at from search_change order by xid limit 2 for update skip locked) as oldest where at < clock_timestamp() - interval '10 minutes');
  -- Transaction ids above this cluster's come from a restored dump. No snapshot would ever see them as
  -- committed.
  delete from search_change where xid >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint and xid <> pg_current_xact_id()::text::bigint
    and at < clock_timestamp() - interval '10 minutes';
  return null;
end $$;

create trigger search_offer_changed after insert or update or delete on search_offer for each statement execute function search_changed();
create trigger search_merchant_changed after update of slug, name, status, default_locale on merchant for each statement execute function search_changed();
create trigger search_category_changed after insert or update or delete on category for each statement execute function search_changed();
