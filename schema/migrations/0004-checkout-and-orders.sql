-- Checkout sessions, payments and their operations, orders, fulfillments, returns and warranties.

-- The rules of a policy that eligibility checks read. Rules that are left out have default values.
alter table policy add column rules jsonb not null default '{}';

-- The key with which buyer ids are derived from buyer references. A holder of the key can find the reference
-- of a buyer id, so the key is never returned.
alter table merchant add column reference_key text not null default gen_random_uuid()::text || gen_random_uuid()::text;

-- Orders reduce the stock, and cancellations give it back.
alter table stock_movement drop constraint stock_movement_reason_check;
alter table stock_movement add constraint stock_movement_reason_check
  check (reason in ('received', 'correction', 'damaged', 'lost', 'returned', 'sold', 'canceled'));

-- Products that the search index must update. Checkouts add rows here instead of updating the index themselves,
-- so that concurrent checkouts do not wait for each other.
create table search_due (
  id bigint generated always as identity primary key,
  product_id text not null references product on delete cascade
);
create index search_due_by_product on search_due (product_id);

alter table hosted_checkout_session
  -- The secret of the page's URL: its SHA-256 for finding the session, and the sealed URL, which the creator of
  -- the session can read while the session is open.
  add column url_digest bytea unique,
  add column url_sealed bytea,
  add column url_data_key bytea,
  add column url_key_id text,
  -- Id of the token that created the session.
  add column created_by text,
  add column success_url text,
  add column cancel_url text,
  -- Values of the cart at the last change of the session, so that an ended session remains readable.
  add column country text,
  add column currency text,
  add column locale text,
  add column amount_total_minor bigint,
  add column submitted_at timestamptz,
  add column completed_at timestamptz,
  add column canceled_at timestamptz,
  add column cancel_reason text check (cancel_reason in ('buyer_abandoned', 'buyer_changed_mind', 'merchant_request', 'price_changed', 'out_of_stock',
    'fraud_suspected', 'duplicate', 'test', 'other')),
  add column cancel_note text check (length(cancel_note) <= 500),
  add column cancel_actor text check (cancel_actor in ('api_key', 'oauth_client', 'buyer', 'staff', 'system')),
  add column order_id text,
  add check (num_nulls(url_sealed, url_data_key, url_key_id) in (0, 3)),
  add check (status not in ('canceled') or cancel_reason is null or canceled_at is not null);
update hosted_checkout_session s set country = c.country, currency = c.currency, locale = c.locale, amount_total_minor = c.total_minor,
  success_url = 'https://example.com/', cancel_url = 'https://example.com/',
  submitted_at = case when s.status in ('processing', 'completed') then s.updated_at end,
  completed_at = case when s.status = 'completed' then s.updated_at end,
  canceled_at = case when s.status = 'canceled' then s.updated_at end,
  cancel_reason = case when s.status = 'canceled' then 'other' end,
  cancel_actor = case when s.status = 'canceled' then 'system' end
from cart c where c.id = s.cart_id;
alter table hosted_checkout_session
  alter column success_url set not null, alter column cancel_url set not null, alter column country set not null, alter column currency set not null,
  alter column locale set not null, alter column amount_total_minor set not null,
  add check ((status = 'canceled') = (cancel_reason is not null)),
  add check ((status = 'completed') = (completed_at is not null)),
  add check (status <> 'processing' or submitted_at is not null);
create index hosted_checkout_session_due on hosted_checkout_session (expires_at, id) where status = 'open';
create index hosted_checkout_session_by_merchant on hosted_checkout_session (merchant_id, id);

-- Units that a checkout session reserves. They are included in stock_level.reserved until they are released or
-- sold.
create table stock_hold (
  session_id text not null references hosted_checkout_session,
  variant_id text not null references variant on delete cascade,
  merchant_id text not null references merchant,
  quantity integer not null check (quantity >= 1),
  -- The end of the open session. From this time on the hold does not count, even before the row is deleted.
  -- Null while the session is being paid: the hold then has no end.
  expires_at timestamptz,
  primary key (session_id, variant_id)
);
create index stock_hold_by_variant on stock_hold (variant_id, expires_at);

create table sales_order (
  id text primary key,
  merchant_id text not null references merchant,
  -- The number shown to buyers. Random, so that it does not reveal the number of orders.
  number text not null check (length(number) between 1 and 20),
  version integer not null default 1 check (version >= 1),
  status text not null default 'pending' check (status in ('pending', 'confirmed', 'on_hold', 'completed', 'canceled')),
  -- The three statuses are derived from lines, payments and returns at every save
  -- (commerce/orders/order-statuses.ts).
  payment_status text not null check (payment_status in
    ('not_required', 'pending', 'authorized', 'partially_paid', 'paid', 'partially_refunded', 'refunded', 'voided', 'failed', 'disputed')),
  fulfillment_status text not null check (fulfillment_status in
    ('unfulfilled', 'in_progress', 'partially_shipped', 'shipped', 'partially_delivered', 'delivered', 'canceled', 'not_required')),
  return_status text not null check (return_status in ('none', 'requested', 'in_progress', 'partially_returned', 'returned')),
  -- A cart results in one order at most.
  cart_id text not null unique references cart,
  session_id text not null unique references hosted_checkout_session,
  market_id text not null references market,
  country text not null,
  -- The market's time zone when the order was placed. Deadlines end at the end of a day in this time zone.
  time_zone text not null,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  tax_included boolean not null,
  locale text not null,
  buyer_reference text,
  buyer_email_id text,
  address_id text,
  -- { id, name, carrier, priceMinor, minDays, maxDays, pickup }: the chosen delivery method.
  delivery jsonb,
  subtotal_minor bigint not null,
  discount_minor bigint not null,
  shipping_minor bigint,
  shipping_discount_minor bigint not null,
  tax_minor bigint,
  total_minor bigint not null check (total_minor >= 0),
  -- The part of the total that the buyer no longer owes, because of cancellations, returns (less their fees) or
  -- price reductions; and the share of shipping in it.
  reduced_minor bigint not null default 0,
  shipping_reduced_minor bigint not null default 0,
  -- [{ promotionId, trigger, kind, code, titles, discountMinor, allocations: [{ lineId, amountMinor }],
  --   boughtLineIds, minimum: { lineIds, subtotalMinor, quantity } | null }]
  promotions jsonb not null,
  -- A cancellation request that the merchant has not answered: { lines: [{ lineId, quantity }], reason, note,
  -- actor, at }.
  cancellation_request jsonb,
  canceled_reason text,
  -- Free text of the caller that canceled the order. Only the merchant can read the note.
  canceled_note text check (length(canceled_note) <= 500),
  canceled_actor text check (canceled_actor in ('buyer', 'merchant', 'system')),
  canceled_at timestamptz,
  hold_reason text,
  placed_at timestamptz not null,
  updated_at timestamptz not null,
  unique (merchant_id, number),
  check (reduced_minor between 0 and total_minor),
  check (shipping_reduced_minor between 0 and reduced_minor),
  check ((status = 'canceled') = (canceled_at is not null)),
  check ((status = 'on_hold') = (hold_reason is not null))
);
create index sales_order_by_merchant on sales_order (merchant_id, id);
create index sales_order_by_buyer on sales_order (merchant_id, buyer_reference, id) where buyer_reference is not null;
create index sales_order_placed on sales_order (placed_at);

create table order_line (
  id text primary key,
  order_id text not null references sales_order on delete cascade,
  merchant_id text not null references merchant,
  position integer not null,
  -- No foreign keys: an order remains if its products are deleted.
  product_id text not null,
  variant_id text not null,
  -- The product's categories and all their ancestors at the time of the order.
  category_ids text[] not null,
  display jsonb not null,
  requires_shipping boolean not null,
  restrictions text[] not null,
  unit_price_minor bigint not null,
  subtotal_minor bigint not null,
  discount_minor bigint not null,
  tax_minor bigint,
  total_minor bigint not null check (total_minor >= 0),
  -- The part of total_minor that the buyer no longer owes.
  reduced_minor bigint not null default 0,
  ordered integer not null check (ordered between 1 and 9999),
  canceled integer not null default 0 check (canceled >= 0),
  -- Units taken from the stock for this line, less the units that a cancellation gave back.
  allocated integer not null default 0 check (allocated >= 0),
  shipped integer not null default 0 check (shipped >= 0),
  delivered integer not null default 0 check (delivered >= 0),
  return_requested integer not null default 0 check (return_requested >= 0),
  returned integer not null default 0 check (returned >= 0),
  refunded integer not null default 0 check (refunded >= 0),
  check (canceled + shipped <= ordered),
  check (allocated <= ordered - canceled and shipped <= allocated),
  check (return_requested + returned <= delivered and delivered <= shipped),
  check (refunded <= ordered),
  check (reduced_minor between 0 and total_minor)
);
create index order_line_by_order on order_line (order_id, position);
create index order_line_by_variant on order_line (variant_id);

-- The policies that applied when the order was placed. Later changes of a policy do not apply to the order.
create table policy_snapshot (
  id text primary key,
  order_id text not null references sales_order on delete cascade,
  merchant_id text not null references merchant,
  type text not null check (type in ('cancellation', 'return', 'withdrawal', 'warranty')),
  summary text not null,
  url text,
  rules jsonb not null,
  captured_at timestamptz not null,
  unique (order_id, type)
);

create table fulfillment (
  id text primary key,
  order_id text not null references sales_order on delete cascade,
  merchant_id text not null references merchant,
  -- Set if the fulfillment ships the replacement goods of an exchange.
  return_id text,
  status text not null default 'pending' check (status in
    ('pending', 'packing', 'ready_for_pickup', 'shipped', 'in_transit', 'out_for_delivery', 'delivered', 'failed', 'returned_to_sender', 'canceled')),
  type text not null check (type in ('shipping', 'pickup', 'digital')),
  carrier text,
  tracking_number text,
  tracking_url text,
  packing_started_at timestamptz,
  shipped_at timestamptz,
  estimated_delivery_at timestamptz,
  delivered_at timestamptz,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index fulfillment_by_order on fulfillment (order_id, id);

create table fulfillment_line (
  fulfillment_id text not null references fulfillment on delete cascade,
  order_line_id text not null references order_line on delete cascade,
  quantity integer not null check (quantity >= 1),
  -- Units of a lost or replacement shipment for which no stock could be reserved. Packing the fulfillment takes
  -- them from the stock.
  unreserved integer not null default 0 check (unreserved between 0 and quantity),
  primary key (fulfillment_id, order_line_id)
);
create index fulfillment_line_by_line on fulfillment_line (order_line_id);

create table payment (
  id text primary key,
  merchant_id text not null references merchant,
  session_id text not null references hosted_checkout_session,
  -- Set when the order is placed.
  order_id text references sales_order,
  provider text not null check (provider in ('test')),
  method_type text not null,
  -- The payment token that the checkout page sent. Deleted when the payment is settled.
  token_sealed bytea,
  token_data_key bytea,
  token_key_id text,
  status text not null default 'pending' check (status in
    ('pending', 'authorized', 'captured', 'partially_refunded', 'refunded', 'failed', 'canceled')),
  currency text not null,
  amount_minor bigint not null check (amount_minor > 0),
  captured_minor bigint not null default 0 check (captured_minor >= 0),
  -- The authorized amount that was released without a capture.
  voided_minor bigint not null default 0 check (voided_minor >= 0),
  refunded_minor bigint not null default 0 check (refunded_minor between 0 and captured_minor),
  failure_code text,
  disputed_at timestamptz,
  dispute_reason text,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check (captured_minor + voided_minor <= amount_minor),
  check (num_nulls(token_sealed, token_data_key, token_key_id) in (0, 3))
);
-- At most one payment of a session may be in progress or successful.
create unique index payment_live on payment (session_id) where status in ('pending', 'authorized') or order_id is not null;
create index payment_by_order on payment (order_id) where order_id is not null;
create index payment_by_session on payment (session_id, id);

-- Requests to the payment provider. A row is written in the transaction that decides on the request, sent after
-- the commit, and repeated until its outcome is known.
-- The id of the row is the idempotency key of the request.
create table payment_operation (
  id text primary key,
  merchant_id text not null references merchant,
  payment_id text not null references payment,
  kind text not null check (kind in ('authorize', 'capture', 'void', 'refund')),
  amount_minor bigint not null check (amount_minor > 0),
  status text not null default 'pending' check (status in ('pending', 'succeeded', 'failed')),
  failure_code text,
  attempts integer not null default 0,
  due_at timestamptz not null,
  -- A worker processes the operation until this time; null if no worker does.
  leased_until timestamptz,
  created_at timestamptz not null,
  settled_at timestamptz,
  check ((status = 'pending') = (settled_at is null))
);
create index payment_operation_due on payment_operation (due_at, id) where status = 'pending';
create index payment_operation_by_payment on payment_operation (payment_id, id);

create table refund (
  id text primary key,
  merchant_id text not null references merchant,
  payment_id text not null references payment,
  -- Null if the payment succeeded too late for an order.
  order_id text references sales_order,
  return_id text,
  operation_id text not null references payment_operation,
  status text not null default 'pending' check (status in ('pending', 'succeeded', 'failed', 'canceled')),
  amount_minor bigint not null check (amount_minor > 0),
  currency text not null,
  reason text not null,
  note text,
  -- [{ lineId, quantity, amountMinor }]. The remainder of the amount is shipping or an agreed amount.
  lines jsonb not null default '[]',
  shipping_minor bigint not null default 0,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index refund_by_order on refund (order_id, id) where order_id is not null;
create index refund_by_operation on refund (operation_id);

create table order_return (
  id text primary key,
  order_id text not null references sales_order on delete cascade,
  merchant_id text not null references merchant,
  kind text not null check (kind in ('return_refund', 'exchange', 'refund_only', 'repair', 'replacement', 'withdrawal')),
  status text not null check (status in ('requested', 'approved', 'declined', 'in_transit', 'received', 'inspected', 'closed', 'canceled')),
  reason text not null,
  note text,
  decline_reason text,
  -- Free text of the staff member who inspected the return.
  inspection_note text,
  method text check (method in ('mail', 'store', 'pickup', 'keep_item')),
  settlement text check (settlement in ('original_payment', 'store_credit', 'replacement')),
  -- Amounts that were calculated and shown when the return was requested.
  refund_minor bigint not null default 0,
  fee_minor bigint not null default 0,
  -- Exchange and replacement: the variant that is sent to the buyer.
  exchange_variant_id text,
  policy_id text,
  requested_at timestamptz not null,
  closed_at timestamptz,
  version integer not null default 1,
  updated_at timestamptz not null
);
create index order_return_by_order on order_return (order_id, id);

create table return_line (
  return_id text not null references order_return on delete cascade,
  order_line_id text not null references order_line on delete cascade,
  quantity integer not null check (quantity >= 1),
  received integer not null default 0 check (received between 0 and quantity),
  accepted integer not null default 0 check (accepted between 0 and received),
  restocked integer not null default 0 check (restocked between 0 and accepted),
  primary key (return_id, order_line_id)
);
create index return_line_by_line on return_line (order_line_id);

create table warranty_registration (
  id text primary key,
  order_id text not null references sales_order on delete cascade,
  order_line_id text not null references order_line on delete cascade,
  merchant_id text not null references merchant,
  serial_number text,
  status text not null default 'active' check (status in ('active', 'void')),
  starts_at timestamptz not null,
  ends_at timestamptz not null,
  repairs_left integer not null check (repairs_left >= 0),
  replacements_left integer not null check (replacements_left >= 0),
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (order_line_id)
);
create index warranty_registration_by_order on warranty_registration (order_id);

create table warranty_claim (
  id text primary key,
  warranty_id text not null references warranty_registration on delete cascade,
  merchant_id text not null references merchant,
  kind text not null check (kind in ('repair', 'replacement')),
  status text not null default 'open' check (status in ('open', 'accepted', 'rejected')),
  description text not null,
  resolution text,
  opened_at timestamptz not null,
  resolved_at timestamptz,
  -- The return that an accepted claim led to. The claim's repair or replacement was counted when it was
  -- accepted.
  return_id text references order_return on delete cascade
);
create index warranty_claim_by_warranty on warranty_claim (warranty_id, id);

create table order_timeline (
  id bigint generated always as identity primary key,
  order_id text not null references sales_order on delete cascade,
  at timestamptz not null,
  -- The type of the event with `_` in place of `.`.
  type text not null,
  actor text not null check (actor in ('buyer', 'merchant', 'system'))
);
create index order_timeline_by_order on order_timeline (order_id, id);

-- Time at which the use was given back because the entire order was canceled.
alter table promotion_use add column restored_at timestamptz, add check (restored_at is null or redeemed_at is not null);

-- The records of the built-in test provider, as a payment provider would keep them on its side. They are never
-- written in a transaction of the commerce code.
create table test_provider_payment (
  -- Id of the payment in the table payment.
  reference text primary key,
  token text not null,
  status text not null check (status in ('pending', 'authorized', 'declined', 'voided')),
  currency text not null,
  amount_minor bigint not null,
  captured_minor bigint not null default 0,
  voided_minor bigint not null default 0,
  refunded_minor bigint not null default 0,
  -- Until this time the provider reports the outcome as pending.
  decided_at timestamptz not null,
  created_at timestamptz not null,
  check (captured_minor + voided_minor <= amount_minor),
  check (refunded_minor <= captured_minor)
);

create table test_provider_entry (
  idempotency_key text primary key,
  reference text not null,
  kind text not null check (kind in ('authorize', 'capture', 'void', 'refund')),
  amount_minor bigint not null,
  outcome text not null,
  created_at timestamptz not null
);
create index test_provider_entry_by_reference on test_provider_entry (reference);

-- A transaction may save an order only once, and each save raises the version by exactly one, as with carts.
create function order_saved() returns trigger language plpgsql as $$
begin
  if new.version <> old.version + 1 then
    raise exception 'order %: version % must be followed by %, not %', old.id, old.version, old.version + 1, new.version using errcode = 'CG001';
  end if;
  if old.xmin = pg_current_xact_id()::xid then
    raise exception 'order % was saved twice in one transaction', old.id using errcode = 'CG001';
  end if;
  return new;
end $$;
create trigger order_saved before update on sales_order for each row execute function order_saved();

-- Lines, fulfillments and returns may only change together with the order's version. Checked at commit.
create function order_part_changed() returns trigger language plpgsql as $$
declare
  id_changed text := coalesce(new.order_id, old.order_id);
begin
  if exists (select 1 from sales_order where id = id_changed and xmin <> pg_current_xact_id()::xid) then
    raise exception 'order % changed without its version', id_changed using errcode = 'CG001';
  end if;
  return null;
end $$;
create constraint trigger order_line_changed after insert or update or delete on order_line
  deferrable initially deferred for each row execute function order_part_changed();
create constraint trigger fulfillment_changed after insert or update or delete on fulfillment
  deferrable initially deferred for each row execute function order_part_changed();
create constraint trigger order_return_changed after insert or update or delete on order_return
  deferrable initially deferred for each row execute function order_part_changed();
