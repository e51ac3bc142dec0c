-- Promotions, carts, personal data of buyers, events, and results stored for idempotency keys.

create table promotion (
  id text primary key,
  merchant_id text not null references merchant,
  trigger text not null check (trigger in ('code', 'automatic')),
  kind text not null check (kind in ('percentage', 'fixed_amount', 'free_shipping', 'buy_x_get_y', 'gift')),
  status text not null default 'draft' check (status in ('draft', 'active', 'paused', 'ended')),
  titles jsonb not null,
  -- Percentage: the discount on each entitled line. Buy X get Y: the discount on each unit of Y.
  basis_points integer check (basis_points between 1 and 10000),
  amount_minor bigint check (amount_minor between 1 and 9007199254740991),
  -- Currency of amount_minor and minimum_subtotal_minor.
  currency text check (currency ~ '^[A-Z]{3}$'),
  buy_quantity integer check (buy_quantity between 1 and 9999),
  -- Buy X get Y: the number of units of Y. Gift: the number of free units.
  get_quantity integer check (get_quantity between 1 and 9999),
  minimum_subtotal_minor bigint check (minimum_subtotal_minor between 1 and 9007199254740991),
  minimum_quantity integer check (minimum_quantity between 1 and 1999800),
  -- The products and categories that are discounted. If both are empty, all products are discounted.
  entitled_product_ids text[] not null default '{}',
  entitled_category_ids text[] not null default '{}',
  -- Buy X get Y: the products and categories that count as X. If both are empty, the discounted ones count.
  buy_product_ids text[] not null default '{}',
  buy_category_ids text[] not null default '{}',
  -- Empty if the promotion applies in every market.
  market_ids text[] not null default '{}',
  requires_sign_in boolean not null default false,
  -- Empty if the promotion applies to every buyer.
  buyer_references text[] not null default '{}',
  starts_at timestamptz,
  ends_at timestamptz,
  -- Time at which the event about the start was published; null if it was not published yet.
  started_at timestamptz,
  -- Maximum number of orders in total and per buyer; null without a maximum.
  usage_limit integer check (usage_limit >= 1),
  per_buyer_limit integer check (per_buyer_limit >= 1),
  used integer not null default 0 check (used >= 0),
  priority integer not null default 0 check (priority between -1000 and 1000),
  -- An exclusive automatic promotion is not combined with others. An exclusive code is not combined with
  -- automatic promotions.
  is_exclusive boolean not null default false,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check (used <= usage_limit),
  check (ends_at > starts_at),
  check ((kind in ('percentage', 'buy_x_get_y')) = (basis_points is not null)),
  check ((kind = 'fixed_amount') = (amount_minor is not null)),
  check ((kind = 'buy_x_get_y') = (buy_quantity is not null)),
  check ((kind in ('buy_x_get_y', 'gift')) = (get_quantity is not null)),
  check ((amount_minor is null and minimum_subtotal_minor is null) = (currency is null))
);
create index promotion_by_merchant on promotion (merchant_id, id);
create index promotion_due on promotion (ends_at) where status in ('active', 'paused');
create index promotion_to_start on promotion (starts_at) where status = 'active' and started_at is null;
create index promotion_automatic on promotion (merchant_id, priority desc, id) where trigger = 'automatic' and status = 'active';

create table promotion_code (
  id text primary key,
  merchant_id text not null references merchant,
  promotion_id text not null references promotion,
  -- The code as the merchant entered it.
  code text not null check (length(code) between 1 and 64),
  -- NFKC and case-folded. Codes that buyers enter are compared in this form.
  code_normalized text not null,
  usage_limit integer check (usage_limit >= 1),
  used integer not null default 0 check (used >= 0),
  created_at timestamptz not null,
  unique (merchant_id, code_normalized),
  check (used <= usage_limit)
);
create index promotion_code_by_promotion on promotion_code (promotion_id, id);

-- Number of uses per buyer, for promotions with a limit per buyer.
create table promotion_buyer (
  promotion_id text not null references promotion,
  buyer_reference text not null,
  used integer not null check (used >= 0),
  primary key (promotion_id, buyer_reference)
);

create table cart (
  id text primary key,
  merchant_id text not null references merchant,
  -- The stored status. A cart whose session or own lifetime has just ended still has the previous status here;
  -- commerce/carts/cart-status.ts derives the current status from the clock.
  status text not null default 'active' check (status in ('active', 'locked', 'completed', 'revoked', 'expired', 'merged')),
  version integer not null default 1 check (version >= 1),
  market_id text not null references market,
  -- The country for which the prices were determined, one of the market's countries.
  country text not null check (country ~ '^[A-Z]{2}$'),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  tax_included boolean not null,
  locale text not null,
  buyer_reference text check (length(buyer_reference) between 1 and 128),
  -- Reference to personal_data: the buyer's e-mail address.
  buyer_email_id text,
  subtotal_minor bigint not null default 0,
  discount_minor bigint not null default 0,
  -- Shipping before discounts; null if it is not known yet.
  shipping_minor bigint,
  shipping_discount_minor bigint not null default 0,
  tax_minor bigint,
  total_minor bigint not null default 0,
  -- Id of the chosen delivery method; null if none was chosen.
  delivery_method_id text,
  -- [{ id, name, carrier, priceMinor, minDays, maxDays, pickup }]: the methods available at the last change;
  -- null if the cart has no address.
  delivery_options jsonb,
  -- [{ code, lineId, data }]
  warnings jsonb not null default '[]',
  -- Reference to personal_data: the delivery address. The digest is SHA-256 of the address token. The token
  -- expires at address_expires_at, which can be extended up to address_expires_at_max.
  address_id text,
  address_token_digest bytea,
  address_expires_at timestamptz,
  address_expires_at_max timestamptz,
  order_id text,
  merged_into_cart_id text references cart,
  revocation_reason text check (revocation_reason in ('buyer_request', 'merchant_request', 'security', 'duplicate', 'test', 'other')),
  revocation_note text check (length(revocation_note) <= 280),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  expires_at timestamptz not null,
  -- Time at which the cart was completed, revoked or merged.
  ended_at timestamptz,
  check (total_minor = subtotal_minor - discount_minor + coalesce(shipping_minor, 0) + case when tax_included then 0 else coalesce(tax_minor, 0) end),
  check (discount_minor between 0 and subtotal_minor + coalesce(shipping_minor, 0)),
  check ((ended_at is null) = (status in ('active', 'locked', 'expired'))),
  check ((status = 'revoked') = (revocation_reason is not null)),
  check ((status = 'merged') = (merged_into_cart_id is not null)),
  check (num_nulls(address_id, address_token_digest, address_expires_at, address_expires_at_max, delivery_options) in (0, 5))
);
create index cart_by_merchant on cart (merchant_id, id);
create index cart_by_buyer on cart (merchant_id, buyer_reference, id) where buyer_reference is not null;
create index cart_by_expiry on cart (expires_at, id) where status in ('active', 'locked');
create unique index cart_address_token on cart (address_token_digest) where address_token_digest is not null;

create table cart_line (
  id text primary key,
  cart_id text not null references cart on delete cascade,
  merchant_id text not null references merchant,
  position integer not null,
  -- No foreign keys: a line remains in the cart if its product is deleted.
  product_id text not null,
  variant_id text not null,
  quantity integer not null check (quantity between 1 and 9999),
  unit_price_minor bigint not null check (unit_price_minor between 0 and 9007199254740991),
  compare_at_minor bigint,
  subtotal_minor bigint not null,
  discount_minor bigint not null check (discount_minor between 0 and subtotal_minor),
  tax_minor bigint,
  total_minor bigint not null,
  -- { productSlug, sku, title, variantTitle, image } in the cart's locale, as of the last change.
  display jsonb not null,
  requires_shipping boolean not null,
  restrictions text[] not null,
  created_at timestamptz not null,
  unique (cart_id, variant_id),
  check (subtotal_minor = unit_price_minor * quantity)
);

-- The promotion code of a cart, and the automatic promotions that currently apply.
create table cart_promotion (
  cart_id text not null references cart on delete cascade,
  promotion_id text not null references promotion,
  trigger text not null check (trigger in ('code', 'automatic')),
  promotion_code_id text references promotion_code,
  state text not null check (state in ('applied', 'suspended')),
  suspended_reason text,
  discount_minor bigint not null check (discount_minor >= 0),
  -- [{ lineId, amountMinor }]; lineId is null for a discount on shipping.
  allocations jsonb not null,
  position integer not null,
  primary key (cart_id, promotion_id),
  check ((trigger = 'code') = (promotion_code_id is not null)),
  check ((state = 'suspended') = (suspended_reason is not null)),
  check (trigger = 'code' or state = 'applied')
);
create unique index cart_promotion_one_code on cart_promotion (cart_id) where trigger = 'code';
create index cart_promotion_by_promotion on cart_promotion (promotion_id);

create table hosted_checkout_session (
  id text primary key,
  merchant_id text not null references merchant,
  cart_id text not null references cart,
  status text not null check (status in ('open', 'processing', 'completed', 'canceled', 'expired')),
  version integer not null default 1,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index hosted_checkout_session_live on hosted_checkout_session (cart_id) where status in ('open', 'processing');
create index hosted_checkout_session_by_cart on hosted_checkout_session (cart_id, id);

-- Uses of promotions. Submitting a checkout session takes a use. The use is given back if the session fails, is
-- canceled or expires, and is redeemed when the order is placed.
create table promotion_use (
  id bigint generated always as identity primary key,
  merchant_id text not null references merchant,
  promotion_id text not null references promotion,
  promotion_code_id text references promotion_code,
  session_id text not null references hosted_checkout_session,
  buyer_reference text,
  order_id text,
  taken_at timestamptz not null,
  redeemed_at timestamptz,
  given_back_at timestamptz,
  check (redeemed_at is null or given_back_at is null),
  check ((redeemed_at is null) = (order_id is null)),
  unique (order_id, promotion_id)
);
create unique index promotion_use_held on promotion_use (session_id, promotion_id) where given_back_at is null;
create index promotion_use_by_promotion on promotion_use (promotion_id, id);

-- Addresses and e-mail addresses of buyers. Each row is encrypted with its own data key; erasing a row deletes
-- the key.
create table personal_data (
  id text primary key,
  merchant_id text not null references merchant,
  cart_id text references cart on delete cascade,
  -- Set if the data is saved for this buyer's next carts.
  buyer_reference text,
  kind text not null check (kind in ('address', 'buyer_email')),
  -- The masked form, which may be shown.
  masked jsonb not null,
  -- How strictly the address was validated.
  level text check (level in ('strict', 'basic')),
  sealed bytea,
  data_key bytea,
  key_id text,
  created_at timestamptz not null,
  erase_after timestamptz,
  erased_at timestamptz,
  check ((kind = 'address') = (level is not null)),
  check ((erased_at is null) = (sealed is not null)),
  check (num_nulls(sealed, data_key, key_id) in (0, 3))
);
create index personal_data_by_cart on personal_data (cart_id);
create index personal_data_by_buyer on personal_data (merchant_id, buyer_reference, id) where buyer_reference is not null;
create index personal_data_to_erase on personal_data (erase_after) where erased_at is null;

-- Events. The payload is rendered in the transaction that caused the event; deliveries are created from it
-- later.
create table event (
  id text primary key,
  merchant_id text not null references merchant,
  -- Set if only this installation may see the event.
  installation_id text references installation,
  type text not null,
  schema_version integer not null,
  subject_type text not null,
  subject_id text not null,
  subject_version integer not null,
  -- The request bodies of webhook deliveries for the two payload modes, byte for byte.
  snapshot text not null,
  thin text not null,
  occurred_at timestamptz not null
);
create index event_by_merchant on event (merchant_id, id);
create index event_by_subject on event (subject_id, subject_version);

-- Stored results of requests with an idempotency key. A row is committed together with the effects of its
-- request.
create table idempotency_record (
  owner_id text not null,
  -- SHA-256 of the key.
  idempotency_key bytea not null,
  -- SHA-256 of the request.
  fingerprint bytea not null,
  status integer not null,
  content_type text not null,
  sealed bytea not null,
  data_key bytea not null,
  key_id text not null,
  created_at timestamptz not null,
  primary key (owner_id, idempotency_key)
);
create index idempotency_record_by_age on idempotency_record (created_at);

-- A transaction may save a cart only once, and each save raises the version by exactly one. Clients and webhook
-- receivers order the states of a cart by its version.
create function cart_saved() returns trigger language plpgsql as $$
begin
  if new.version <> old.version + 1 then
    raise exception 'cart %: version % must be followed by %, not %', old.id, old.version, old.version + 1, new.version using errcode = 'CG001';
  end if;
  if old.xmin = pg_current_xact_id()::xid then
    raise exception 'cart % was saved twice in one transaction', old.id using errcode = 'CG001';
  end if;
  return new;
end $$;
create trigger cart_saved before update on cart for each row execute function cart_saved();

-- The lines and promotions of a cart may only change together with the cart's version. Checked at commit.
create function cart_part_changed() returns trigger language plpgsql as $$
declare
  id_changed text := coalesce(new.cart_id, old.cart_id);
begin
  if exists (select 1 from cart where id = id_changed and xmin <> pg_current_xact_id()::xid) then
    raise exception 'cart % changed without its version', id_changed using errcode = 'CG001';
  end if;
  return null;
end $$;
create constraint trigger cart_line_changed after insert or update or delete on cart_line
  deferrable initially deferred for each row execute function cart_part_changed();
create constraint trigger cart_promotion_changed after insert or update or delete on cart_promotion
  deferrable initially deferred for each row execute function cart_part_changed();
