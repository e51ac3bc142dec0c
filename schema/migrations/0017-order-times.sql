-- The orders of a merchant that were placed in a period.
create index sales_order_by_placement on sales_order (merchant_id, placed_at, id);
