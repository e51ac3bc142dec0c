-- Indexes of the reports on refunds and fulfillments.
create index refund_by_creation on refund (merchant_id, created_at);
create index fulfillment_by_shipment on fulfillment (merchant_id, shipped_at) where shipped_at is not null;
-- Orders that are waiting for shipment: a small part of all orders.
create index sales_order_unshipped on sales_order (merchant_id, placed_at, id)
  where status in ('pending', 'confirmed', 'on_hold')
  and fulfillment_status in ('unfulfilled', 'in_progress', 'partially_shipped');

-- Indexes of the list of orders, one for each filter that few orders of a merchant may match, and for totals.
create index sales_order_by_status on sales_order (merchant_id, status, id);
create index sales_order_by_payment_status on sales_order (merchant_id, payment_status, id);
create index sales_order_by_fulfillment_status on sales_order (merchant_id, fulfillment_status, id);
create index sales_order_by_return_status on sales_order (merchant_id, return_status, id) where return_status <> 'none';
create index sales_order_by_market on sales_order (merchant_id, market_id, id);
create index sales_order_by_country on sales_order (merchant_id, country, id);
create index sales_order_by_total on sales_order (merchant_id, currency, total_minor, id);

-- Indexes of the lists of payments, refunds, returns, fulfillments and warranty registrations of all orders.
create index payment_by_merchant on payment (merchant_id, id);
create index payment_by_status on payment (merchant_id, status, id);
create index refund_by_merchant on refund (merchant_id, id);
create index refund_by_status on refund (merchant_id, status, id);
create index order_return_by_merchant on order_return (merchant_id, id);
create index order_return_by_status on order_return (merchant_id, status, id);
create index fulfillment_by_merchant on fulfillment (merchant_id, id);
create index fulfillment_by_status on fulfillment (merchant_id, status, id);
create index warranty_registration_by_merchant on warranty_registration (merchant_id, id);
