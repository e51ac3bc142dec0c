-- What product search reads: written by commerce/search from the catalog, never the truth itself.
-- All analysis of text (folding, cutting into words) is done by commerce/search, so that it does not depend on the server's locale.

-- One row per product and locale.
create table search_document (
  product_id text not null references product on delete cascade,
  locale text not null,
  -- Every locale the product has a document in.
  locales text[] not null,
  -- The language its words are stemmed by, `simple` where there is none.
  stemmer text not null,
  title text not null,
  -- The title's words folded, joined by spaces, for phrase matches and for sorting.
  title_folded text collate "C" not null,
  -- The title's words folded: the n-th is the n-th word of the title.
  title_words text[] not null,
  -- SKUs and GTINs squeezed to letters and digits, each between spaces.
  codes text collate "C" not null,
  -- Every word, unstemmed and stemmed. Weights: A codes, B title, C brand and categories, D summary and description.
  -- Without a weight: `~stemmer`, `#slug` of its categories and all their ancestors, `@id` of the merchant.
  words tsvector not null,
  -- The short part of it that ranking reads for every match, with `~stemmer`. Weights: A codes, B title, C brand, D categories.
  head tsvector not null,
  indexed_at timestamptz not null,
  primary key (product_id, locale)
);
-- Matches are found in the index and ranked by the small columns: where a row is large, it is `words` that goes to the side table, as it is.
alter table search_document alter column words set storage external;
create index search_document_words on search_document using gin (words) with (gin_pending_list_limit = 512);
create index search_document_by_title on search_document (title_folded, product_id);
create index search_document_by_time on search_document (indexed_at);

-- One row per country a product is offered in; a browse without words reads nothing else until it has its page.
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
  -- `country/slug` of the product's categories and of all their ancestors.
  category_keys text[] not null,
  -- The locales the product has a document in, and the one it falls back to in this country.
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

-- The vocabulary that a misspelt word is corrected from. A term may outlive its last product: who corrects asks the documents as well.
create table search_term (
  locale text not null,
  term text collate "C" not null,
  -- The term in ASCII alone: trigrams of other letters depend on the server's locale.
  trigram_key text collate "C" not null,
  primary key (locale, term)
);
create index search_term_trigrams on search_term using gin (trigram_key gin_trgm_ops);
