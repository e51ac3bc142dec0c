-- What product search reads: written by commerce/search from the catalog, never the truth itself.

-- One row per product and locale. The words arrive folded (no accents, lower case) and, where the script has no spaces, cut.
create table search_document (
  product_id text not null references product on delete cascade,
  locale text not null,
  merchant_id text not null references merchant,
  title text not null,
  -- The title folded, as one phrase, for phrase matches and for sorting.
  title_folded text collate "C" not null,
  -- The title's words folded, in their order: the n-th is the n-th word of the title.
  title_words text[] not null,
  brand_folded text,
  category_folded text,
  description_folded text,
  brand text,
  -- Slugs of the product's categories and of all their ancestors.
  category_slugs text[] not null,
  merchant_slug text not null,
  -- SKUs and GTINs of the variants, folded.
  codes text[] not null,
  -- Weights: A codes, B title, C brand and categories, D summary and description.
  words tsvector not null,
  indexed_at timestamptz not null,
  primary key (product_id, locale)
);
create index search_document_words on search_document using gin (words);
create index search_document_categories on search_document using gin (category_slugs);
create index search_document_by_merchant on search_document (merchant_slug, product_id);
create index search_document_by_title on search_document (locale, title_folded, product_id);

-- One row per country a product is offered in.
create table search_offer (
  country text not null,
  product_id text not null references product on delete cascade,
  merchant_id text not null references merchant,
  currency text not null,
  min_minor bigint not null,
  max_minor bigint not null,
  availability text not null,
  in_stock boolean not null,
  popularity integer not null,
  published_at timestamptz not null,
  -- The locales the product has a document in, and the one it falls back to in this country.
  locales text[] not null,
  fallback_locale text not null,
  primary key (product_id, country)
);
create index search_offer_by_popularity on search_offer (country, popularity desc, published_at desc, product_id);
create index search_offer_by_publication on search_offer (country, published_at desc, product_id);
create index search_offer_by_price on search_offer (country, currency, min_minor, product_id);
create index search_offer_by_price_down on search_offer (country, currency, min_minor desc, product_id);

-- The vocabulary that a misspelt word is corrected from.
create table search_term (
  locale text not null,
  term text collate "C" not null,
  primary key (locale, term)
);
create index search_term_trigrams on search_term using gin (term gin_trgm_ops);
