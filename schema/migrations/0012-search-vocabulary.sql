-- The vocabulary of the catalog: all words of search documents, with keys for correcting typos and with
-- reversed stems for finding the parts of compound words.
drop index search_term_trigrams;
alter table search_term
  -- No longer written. Processes of the previous version still use the column during an update.
  alter column trigram_key set default '',
  add column id bigint generated always as identity,
  -- The word's stem in reverse; the word in reverse if it has no stem.
  add column reversed text collate "C" not null default '',
  -- Hashes of the word's beginning with up to two letters left out; null for words that occur in descriptions
  -- only.
  add column typo_keys integer[];
create index search_term_by_id on search_term (id);
create index search_term_by_term on search_term (term);
create index search_term_by_ending on search_term (reversed);
create index search_term_typos on search_term using gin (typo_keys);

-- Attributes as `code:value`, for counting facets.
alter table search_document add column attributes text[] not null default '{}';

-- The synonyms of a merchant in one locale, as entered. An empty list keeps its row, so that the version never
-- falls.
create table search_synonym_list (
  merchant_id text not null references merchant on delete cascade,
  locale text not null,
  version bigint generated always as identity,
  rules jsonb not null,
  updated_at timestamptz not null,
  primary key (merchant_id, locale)
);
create index search_synonym_list_by_version on search_synonym_list (version);

-- One row for each phrase and synonym, in the folded form of search.
create table search_synonym (
  merchant_id text not null,
  locale text not null,
  phrase text collate "C" not null,
  synonym text collate "C" not null,
  primary key (phrase, merchant_id, locale, synonym),
  foreign key (merchant_id, locale) references search_synonym_list on delete cascade
);
create index search_synonym_by_list on search_synonym (merchant_id, locale);

-- Background work indexes every product again.
insert into search_due (product_id) select id from product where status = 'published';
