-- Indexes that contain all columns of the reports on buyers and on the funnel from cart to order, so that
-- these reports do not read the tables of orders, carts and checkout sessions.

-- The orders of each buyer by time. Orders of guests, who have no reference, are together at the end.
create index sales_order_by_buyer_placement on sales_order (merchant_id, buyer_reference, placed_at)
  include (market_id) where status <> 'canceled';
create index cart_by_merchant_id on cart (merchant_id, id) include (created_at, market_id, status, order_id);
create index hosted_checkout_session_by_cart_id on hosted_checkout_session (cart_id, id)
  include (status, expires_at, submitted_at, cancel_reason);

-- Indexes of filters of the lists of warranty registrations and of prices that few rows may match.
create index warranty_registration_by_status on warranty_registration (merchant_id, status, id);
create index price_by_market on price (market_id, valid_from, variant_id);

-- The new indexes with the same keys replace these. They are dropped last, because dropping an index blocks
-- all reads of its table until the end of the migration.
drop index cart_by_merchant;
drop index hosted_checkout_session_by_cart;
