-- How the checkout page presents a merchant. A merchant without a row has the platform's look and no links.
create table merchant_branding (
  merchant_id text primary key references merchant,
  color text check (color ~ '^#[0-9a-f]{6}$'),
  logo bytea check (length(logo) <= 131072),
  -- SHA-256 of the file, in hexadecimal digits: the last part of the logo's URL.
  logo_hash text,
  logo_type text check (logo_type in ('image/png', 'image/jpeg', 'image/webp')),
  logo_width integer,
  logo_height integer,
  support_email text,
  support_phone text,
  support_url text,
  terms_url text,
  privacy_url text,
  imprint_url text,
  updated_at timestamptz not null,
  check (num_nulls(logo, logo_hash, logo_type, logo_width, logo_height) in (0, 5))
);
create index merchant_branding_by_logo on merchant_branding (logo_hash);
