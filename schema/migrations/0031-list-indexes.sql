-- Indexes of filters and orders of lists that had none, or that had to skip the rows of a long time.

-- Stock movements and redemptions are sorted by time, so that a period is one range of the index.
create index stock_movement_by_creation on stock_movement (created_at, id);
create index stock_movement_of_merchant on stock_movement (merchant_id, created_at, id);
create index stock_movement_of_reason on stock_movement (merchant_id, reason, created_at, id);
create index stock_movement_of_variant on stock_movement (variant_id, created_at, id);
create index promotion_use_of_merchant on promotion_use (merchant_id, redeemed_at, id)
  where redeemed_at is not null;
create index promotion_use_of_promotion on promotion_use (promotion_id, redeemed_at, id)
  where redeemed_at is not null;

create index event_by_merchant on event (merchant_id, id);
create index api_request_by_status on api_request (merchant_id, status, id);
create index audit_entry_by_actor_kind on audit_entry (merchant_id, actor, id);
create index audit_entry_by_action on audit_entry (merchant_id, action, id);
create index promotion_by_status on promotion (merchant_id, status, id);
create index promotion_by_trigger on promotion (merchant_id, trigger, id);
create index hosted_checkout_session_by_status on hosted_checkout_session (merchant_id, status, id);
-- Most carts that are stored are completed: their orders need them.
create index cart_by_status on cart (merchant_id, status, id) where status <> 'completed';
-- Contains the columns that decide whether a cart is still listed, so that old carts are skipped quickly.
create index cart_of_merchant on cart (merchant_id, id)
  include (created_at, market_id, status, order_id, ended_at, expires_at);
-- Carts that were changed for a long time, which lists must find among much older carts that ended long ago.
create index cart_long_lived on cart (merchant_id, id)
  where coalesce(ended_at, expires_at) - created_at > interval '35 days';
-- Without statistics of its condition, PostgreSQL expects a third of all carts in that index, and does not use it.
create statistics cart_lifetime on (coalesce(ended_at, expires_at) - created_at) from cart;

-- The new indexes replace these. They are dropped last, because dropping an index blocks all reads of its
-- table until the end of the migration.
drop index stock_movement_by_merchant;
drop index stock_movement_by_time;
drop index stock_movement_by_reason;
drop index stock_movement_by_variant;
drop index promotion_use_redeemed;
drop index promotion_use_by_redemption;
drop index cart_by_merchant_id;
