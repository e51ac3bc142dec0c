-- Merchants, credentials and the catalog. Every row belongs to a merchant. Amounts of money are integers in
-- the minor unit of the currency (cents). States are text with a check constraint.

create extension if not exists pg_trgm;

create table merchant (
  id text primary key,
  slug text not null unique check (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and length(slug) <= 96),
  name text not null,
  mode text not null check (mode in ('live', 'test')),
  status text not null default 'active' check (status in ('active', 'suspended')),
  default_locale text not null,
  default_market text not null check (default_market ~ '^[A-Z]{2}$'),
  -- Every change of the catalog raises this number. Clients compare it to find out whether their copy is
  -- current.
  catalog_version bigint not null default 1,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create table app (
  id text primary key,
  name text not null,
  publisher text,
  created_at timestamptz not null
);

create table installation (
  id text primary key,
  merchant_id text not null references merchant,
  app_id text not null references app,
  status text not null default 'active' check (status in ('active', 'suspended', 'uninstalled')),
  scopes text[] not null,
  version integer not null default 1,
  installed_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index installation_live on installation (merchant_id, app_id) where status <> 'uninstalled';

create table api_key (
  id text primary key,
  merchant_id text not null references merchant,
  installation_id text not null references installation,
  key_id text not null unique,
  name text not null,
  mode text not null check (mode in ('live', 'test')),
  -- SHA-256 of the whole key. The key itself is shown once and is not stored.
  digest bytea not null,
  last_four text not null,
  scopes text[] not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  rotates_to text references api_key
);
create index api_key_by_installation on api_key (installation_id, created_at, id);

create table internal_token (
  id text primary key,
  -- Null for a token of the platform, which is valid for all merchants.
  merchant_id text references merchant,
  token_id text not null unique,
  name text not null,
  role text not null check (role in ('storefront', 'admin', 'analyst', 'operator')),
  digest bytea not null,
  last_four text not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  check (merchant_id is not null or role in ('analyst', 'operator')),
  check (merchant_id is null or role <> 'operator')
);
create index internal_token_by_merchant on internal_token (merchant_id, created_at, id);

create table market (
  id text primary key,
  merchant_id text not null references merchant,
  handle text not null check (handle ~ '^[a-z0-9]+(-[a-z0-9]+)*$'),
  name text not null,
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  tax_included boolean not null,
  default_locale text not null,
  time_zone text not null,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (merchant_id, handle)
);

-- At most one market of a merchant sells to a country. The country at position 0 is the market's main country.
create table market_country (
  merchant_id text not null references merchant,
  country text not null check (country ~ '^[A-Z]{2}$'),
  market_id text not null references market on delete cascade,
  position integer not null,
  primary key (merchant_id, country)
);
create index market_country_by_market on market_country (market_id, position);
create index market_country_by_country on market_country (country, merchant_id);

create table tax_rate (
  id text primary key,
  merchant_id text not null references merchant,
  market_id text not null references market on delete cascade,
  country text not null check (country ~ '^[A-Z]{2}$'),
  region_code text check (region_code ~ '^[A-Z]{2}-[A-Z0-9]{1,3}$'),
  name text not null,
  basis_points integer not null check (basis_points between 0 and 10000),
  applies_to_shipping boolean not null,
  updated_at timestamptz not null,
  unique nulls not distinct (market_id, country, region_code)
);

create table delivery_method (
  id text primary key,
  merchant_id text not null references merchant,
  market_id text not null references market on delete cascade,
  code text not null check (code ~ '^[a-z0-9]+(-[a-z0-9]+)*$'),
  names jsonb not null,
  carrier text,
  pickup boolean not null,
  price_minor bigint not null check (price_minor >= 0),
  -- Subtotal in minor units from which the delivery is free; null if it is never free.
  free_from_minor bigint check (free_from_minor >= 0),
  min_days integer not null check (min_days >= 0),
  max_days integer not null check (max_days >= min_days),
  active boolean not null,
  position integer not null,
  updated_at timestamptz not null,
  unique (market_id, code)
);

create table policy (
  id text primary key,
  merchant_id text not null references merchant,
  -- Null if the policy applies in every market that has no policy of this type of its own.
  market_id text references market on delete cascade,
  type text not null check (type in ('cancellation', 'return', 'withdrawal', 'warranty')),
  summaries jsonb not null,
  url text,
  version integer not null default 1,
  updated_at timestamptz not null,
  unique nulls not distinct (merchant_id, market_id, type)
);

create table category (
  id text primary key,
  merchant_id text not null references merchant,
  parent_id text references category,
  slug text not null check (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and length(slug) <= 96),
  names jsonb not null,
  position integer not null,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (merchant_id, slug)
);
create index category_by_parent on category (parent_id);

create table product (
  id text primary key,
  merchant_id text not null references merchant,
  status text not null default 'draft' check (status in ('draft', 'published', 'archived')),
  brand text,
  rating_average double precision check (rating_average between 0 and 5),
  rating_count integer check (rating_count >= 0),
  -- [{ code, names: {locale: text}, value, unit }]
  attributes jsonb not null default '[]',
  -- Number of units ordered in the last 30 days.
  popularity integer not null default 0,
  version integer not null default 1,
  published_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((rating_average is null) = (rating_count is null)),
  check (status <> 'published' or published_at is not null)
);
create index product_published on product (merchant_id, published_at desc, id) where status = 'published';
create index product_by_creation on product (merchant_id, created_at desc, id desc);

-- All slugs that a product has ever had. A slug is never given to another product of the merchant, so that old
-- links keep working. The current slugs are in product_translation.
create table product_slug (
  merchant_id text not null references merchant,
  slug text not null check (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and length(slug) <= 96),
  product_id text not null references product on delete cascade,
  primary key (merchant_id, slug)
);
create index product_slug_by_product on product_slug (product_id);

create table product_translation (
  product_id text not null references product on delete cascade,
  locale text not null,
  merchant_id text not null references merchant,
  slug text not null,
  title text not null check (length(title) between 1 and 200),
  summary text check (length(summary) <= 300),
  description text check (length(description) <= 20000),
  seo_title text,
  seo_description text,
  updated_at timestamptz not null,
  primary key (product_id, locale),
  foreign key (merchant_id, slug) references product_slug (merchant_id, slug)
);
create index product_translation_by_slug on product_translation (merchant_id, slug);

create table product_category (
  product_id text not null references product on delete cascade,
  category_id text not null references category,
  position integer not null,
  primary key (product_id, category_id)
);
create index product_category_by_category on product_category (category_id, product_id);

create table product_option (
  product_id text not null references product on delete cascade,
  code text not null,
  names jsonb not null,
  -- [{ code, labels: {locale: text} }] in display order.
  choices jsonb not null,
  position integer not null,
  primary key (product_id, code)
);

create table media (
  id text primary key,
  merchant_id text not null references merchant,
  product_id text not null references product on delete cascade,
  type text not null check (type in ('image', 'video')),
  -- An absolute URL, or a path of this service that starts with a slash.
  url text not null,
  alts jsonb not null,
  width integer not null check (width > 0),
  height integer not null check (height > 0),
  position integer not null
);
create index media_by_product on media (product_id, position);

create table variant (
  id text primary key,
  merchant_id text not null references merchant,
  product_id text not null references product on delete cascade,
  sku text not null,
  gtin text check (gtin ~ '^(\d{8}|\d{12}|\d{13}|\d{14})$'),
  -- {option code: choice code}
  options jsonb not null,
  media_id text references media on delete set null,
  restrictions text[] not null,
  requires_shipping boolean not null,
  weight_grams integer check (weight_grams >= 0),
  max_order_quantity integer check (max_order_quantity between 1 and 9999),
  discontinued boolean not null default false,
  -- Before this time the variant is sold as a pre-order.
  available_from timestamptz,
  position integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Deferrable, because one statement may exchange the option choices of two variants.
  unique (product_id, options) deferrable
);
-- SKUs are unique without regard to case, because people type them and read them out.
create unique index variant_sku on variant (merchant_id, lower(sku));
create index variant_by_product on variant (product_id, position);
create index variant_by_availability on variant (available_from) where available_from is not null;
create index variant_by_gtin on variant (gtin) where gtin is not null;

-- Current and past prices. Each variant and market has one row without an end; every earlier row ends when the
-- next one starts.
create table price (
  variant_id text not null references variant on delete cascade,
  market_id text not null references market on delete cascade,
  merchant_id text not null references merchant,
  amount_minor bigint not null check (amount_minor between 0 and 9007199254740991),
  compare_at_minor bigint check (compare_at_minor > amount_minor and compare_at_minor <= 9007199254740991),
  valid_from timestamptz not null,
  valid_until timestamptz,
  primary key (variant_id, market_id, valid_from),
  check (valid_until > valid_from)
);
create unique index price_open on price (variant_id, market_id) where valid_until is null;

create table stock_level (
  variant_id text primary key references variant on delete cascade,
  merchant_id text not null references merchant,
  on_hand integer not null check (on_hand >= 0),
  reserved integer not null default 0 check (reserved >= 0),
  backorder_limit integer not null default 0 check (backorder_limit >= 0),
  low_stock_threshold integer not null default 5 check (low_stock_threshold >= 0),
  updated_at timestamptz not null,
  check (reserved <= on_hand + backorder_limit)
);

create table stock_movement (
  id bigint generated always as identity primary key,
  merchant_id text not null references merchant,
  variant_id text not null references variant on delete cascade,
  delta integer not null,
  on_hand_after integer not null,
  reason text not null check (reason in ('received', 'correction', 'damaged', 'lost', 'returned', 'sold')),
  note text,
  created_at timestamptz not null
);
create index stock_movement_by_variant on stock_movement (variant_id, id desc);
