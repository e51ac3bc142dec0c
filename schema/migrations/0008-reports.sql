-- Data for reports about searches.

-- Number of searches per query and day. A query is stored only after three clients have sent it on that day
-- (commerce/search/search-counts.ts). The clients are not stored.
create table search_query_day (
  -- The day in UTC.
  day date not null,
  -- The merchant whose products were searched; null for searches over all merchants.
  merchant_id text references merchant,
  country text not null check (country ~ '^[A-Z]{2}$'),
  -- The query in the folded form of search, split into words.
  query text collate "C" not null check (length(query) between 1 and 100),
  searches integer not null check (searches > 0),
  -- Number of these searches without a result.
  empty integer not null check (empty between 0 and searches),
  -- The day is the first column, because reports read a range of days and cleaning up deletes the oldest days.
  unique nulls not distinct (day, merchant_id, country, query)
);
