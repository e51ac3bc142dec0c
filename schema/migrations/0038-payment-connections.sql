-- The accounts at payment providers that merchants have connected. The secret key and the signing secret of the
-- provider's webhooks are stored in one encrypted value.
create table payment_connection (
  id text primary key,
  merchant_id text not null references merchant,
  provider text not null check (provider in ('stripe')),
  mode text not null check (mode in ('live', 'test')),
  -- The id of the account at the provider, for example acct_1Abc.
  account_id text not null,
  account_name text,
  -- The last four characters of the secret key.
  key_hint text not null,
  has_signing_secret boolean not null,
  sealed bytea not null,
  data_key bytea not null,
  key_id text not null,
  -- Set when the merchant disconnects the account or connects another one. The payments of the connection can still
  -- be captured, voided and refunded.
  disconnected_at timestamptz,
  -- Until this time, the service has read the provider's list of events.
  events_read_until timestamptz not null,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index payment_connection_active on payment_connection (merchant_id) where disconnected_at is null;

alter table payment drop constraint payment_provider_check;
alter table payment add constraint payment_provider_check check (provider in ('test', 'stripe'));
-- Null for payments of the test provider.
alter table payment add column connection_id text references payment_connection;

-- The payment pages that payment providers have opened for payments. The table belongs to the providers' code.
create table payment_page (
  -- Id of the payment in the table payment.
  reference text primary key,
  connection_id text not null references payment_connection,
  -- The provider's id of the page, for example cs_….
  page_id text not null,
  url text not null,
  expires_at timestamptz not null,
  -- The provider's id of the payment, for example pi_…; null until the provider has reported it.
  intent_id text,
  created_at timestamptz not null
);
create index payment_page_by_page on payment_page (connection_id, page_id);
create index payment_page_by_intent on payment_page (connection_id, intent_id) where intent_id is not null;
