-- Tables of product search. commerce/search derives them from the catalog, so they can be rebuilt at any
-- time.
-- commerce/search folds and splits all text itself, so that results do not depend on the server's locale.

-- One row per product and locale.
create table search_document (
  product_id text not null references product on delete cascade,
  locale text not null,
  -- All locales in which the product has a document.
  locales text[] not null,
  -- The language whose stemmer is applied to the words; `simple` if the language has no stemmer.
  stemmer text not null,
  title text not null,
  -- The folded words of the title, joined by spaces, for phrase matches and for sorting.
  title_folded text collate "C" not null,
  -- The folded words of the title, in the order of the title.
  title_words text[] not null,
  -- SKUs and GTINs reduced to letters and digits, separated by spaces.
  codes text collate "C" not null,
  -- All words, unstemmed and stemmed. Weights: A codes, B title, C brand and categories, D summary and
  -- description.
  -- Without a weight: `~stemmer`, `#slug` for the product's categories and all their ancestors, `@id` for the
  -- merchant.
  words tsvector not null,
  -- The part of the words that ranking reads for every match. Weights: A codes, B title, C brand, D categories.
  head tsvector not null,
  indexed_at timestamptz not null,
  primary key (product_id, locale)
);
-- Ranking reads the small columns of every match. `words` is only used through the index, so it is the column
-- that is moved out of the row.
alter table search_document alter column words set storage external;
create index search_document_words on search_document using gin (words) with (gin_pending_list_limit = 512);
create index search_document_by_title on search_document (title_folded, product_id);
create index search_document_by_time on search_document (indexed_at);

-- One row per product and country in which the product is sold. Browsing without search words reads only this
-- table until the page of results is known.
create table search_offer (
  country text not null,
  product_id text not null references product on delete cascade,
  merchant_id text not null references merchant,
  currency text not null,
  min_minor bigint not null,
  max_minor bigint not null,
  availability text not null check (availability in ('in_stock', 'low_stock', 'backorder', 'preorder', 'out_of_stock', 'discontinued')),
  in_stock boolean not null,
  popularity integer not null,
  published_at timestamptz not null,
  brand text,
  -- `country/slug` for the product's categories and all their ancestors.
  category_keys text[] not null,
  -- The locales in which the product has a document, and the locale that is used in this country otherwise.
  locales text[] not null,
  fallback_locale text not null,
  primary key (product_id, country)
);
create index search_offer_by_popularity on search_offer (country, popularity desc, published_at desc, product_id);
create index search_offer_by_publication on search_offer (country, published_at desc, product_id);
create index search_offer_by_price on search_offer (country, currency, min_minor, product_id);
create index search_offer_by_price_down on search_offer (country, currency, min_minor desc, product_id);
create index search_offer_by_merchant on search_offer (merchant_id, country);
create index search_offer_by_category on search_offer using gin (category_keys);

-- The vocabulary for correcting misspelled words. A term may remain after its last product was deleted, so a
-- correction is also checked against the documents.
create table search_term (
  locale text not null,
  term text collate "C" not null,
  -- The term in ASCII, because trigrams of other letters depend on the server's locale.
  trigram_key text collate "C" not null,
  primary key (locale, term)
);
create index search_term_trigrams on search_term using gin (trigram_key gin_trgm_ops);
