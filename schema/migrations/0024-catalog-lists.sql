-- Indexes of the lists of products, stock movements, price history, promotion redemptions, events and
-- webhook deliveries, one for each filter.

create index product_by_status on product (merchant_id, status, id);
create index product_by_brand on product (merchant_id, brand, id) where brand is not null;
create index product_by_update on product (merchant_id, updated_at);
-- Variants with few or no free units, which are a small part of a catalog.
create index stock_level_low on stock_level (merchant_id, variant_id)
  where on_hand - reserved <= low_stock_threshold;

create index stock_movement_by_merchant on stock_movement (merchant_id, id);
create index stock_movement_by_reason on stock_movement (merchant_id, reason, id);
create index stock_movement_by_time on stock_movement (merchant_id, created_at);

create index price_by_start on price (merchant_id, valid_from, variant_id, market_id);

create index promotion_use_redeemed on promotion_use (merchant_id, id) where redeemed_at is not null;
create index promotion_use_by_redemption on promotion_use (merchant_id, redeemed_at)
  where redeemed_at is not null;

create index event_by_type on event (merchant_id, type, id);

create index webhook_delivery_by_merchant on webhook_delivery (merchant_id, id);
create index webhook_delivery_by_status on webhook_delivery (merchant_id, status, id);
