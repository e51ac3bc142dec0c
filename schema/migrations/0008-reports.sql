-- What reports are made of beside the shop's own rows: what was searched for.

-- How often something was searched for on a day, written down once it came from three clients on that day (commerce/search/search-counts.ts). Who searched
-- is nowhere written.
create table search_query_day (
  -- Of UTC.
  day date not null,
  -- Whose products alone were searched; null: everybody's.
  merchant_id text references merchant,
  country text not null check (country ~ '^[A-Z]{2}$'),
  -- Folded and cut into words, as search sees it.
  query text collate "C" not null check (length(query) between 1 and 100),
  searches integer not null check (searches > 0),
  -- Of them, those that found nothing.
  empty integer not null check (empty between 0 and searches),
  -- Days first: a report reads some of them, and the sweep deletes the oldest.
  unique nulls not distinct (day, merchant_id, country, query)
);
