-- A price can have an end that was set together with the price. From this time on, the price that was valid
-- before applies again. `valid_until` stays null until the sweep "end prices" has stored the end: reads
-- compute it from the current time (`catalog/current-price.ts`).
alter table price
  -- The end of the price, exclusive; null if none was set.
  add column ends_at timestamptz,
  -- The price after `ends_at`; null if the variant is then not sold in the market.
  add column next_amount_minor bigint,
  add column next_compare_at_minor bigint;
create index price_by_end on price (merchant_id, ends_at) where ends_at is not null and valid_until is null;
