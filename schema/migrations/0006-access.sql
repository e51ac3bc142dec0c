-- Staff accounts, OAuth clients, grants and tokens, and the audit log.

create table staff_account (
  id text primary key,
  merchant_id text not null references merchant,
  email text not null check (length(email) between 3 and 254),
  -- The compared form of the e-mail address: NFC in lower case.
  email_normalized text not null,
  name text not null check (length(name) between 1 and 200),
  -- Argon2id (RFC 9106) as a PHC string.
  password_hash text not null,
  version integer not null default 1,
  created_at timestamptz not null,
  disabled_at timestamptz,
  last_signed_in_at timestamptz
);
-- Unique among enabled accounts: a disabled account's e-mail address can be used for a new account.
create unique index staff_account_by_email on staff_account (email_normalized) where disabled_at is null;
create index staff_account_by_merchant on staff_account (merchant_id, created_at, id);

-- The OAuth client of an app.
create table oauth_client (
  id text primary key,
  app_id text not null references app,
  -- Compared character by character (RFC 9700 section 2.1).
  redirect_uris text[] not null check (cardinality(redirect_uris) between 1 and 20),
  auth_method text not null check (auth_method in ('none', 'private_key_jwt')),
  -- The client's public keys as a JSON Web Key Set (RFC 7517).
  jwks jsonb,
  version integer not null default 1,
  created_at timestamptz not null,
  disabled_at timestamptz,
  check ((auth_method = 'private_key_jwt') = (jwks is not null))
);
create index oauth_client_by_app on oauth_client (app_id, id);

-- The consent of a staff member to a client. A grant is a credential of an installation, like an API key.
create table oauth_grant (
  id text primary key,
  merchant_id text not null references merchant,
  installation_id text not null references installation,
  client_id text not null references oauth_client,
  staff_id text not null references staff_account,
  scopes text[] not null,
  version integer not null default 1,
  issued_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  last_used_at timestamptz
);
create index oauth_grant_by_installation on oauth_grant (installation_id, issued_at, id);
create index oauth_grant_by_merchant on oauth_grant (merchant_id, issued_at, id);
create index oauth_grant_by_staff on oauth_grant (staff_id);
create index oauth_grant_by_client on oauth_grant (client_id);
-- Time at which the grant ended or will end, for deleting old grants.
create index oauth_grant_by_end on oauth_grant (least(revoked_at, expires_at));

-- Temporary data of the authorization server: codes, tokens, sessions, interactions, pushed requests.
create table oauth_item (
  kind text not null,
  -- SHA-256 of the item's id, because the id is a secret.
  digest bytea not null,
  grant_id text,
  uid_digest bytea,
  sealed bytea not null,
  data_key bytea not null,
  key_id text not null,
  consumed_at timestamptz,
  expires_at timestamptz not null,
  primary key (kind, digest)
);
create index oauth_item_by_grant on oauth_item (grant_id) where grant_id is not null;
create index oauth_item_by_uid on oauth_item (uid_digest) where uid_digest is not null;
create index oauth_item_by_expiry on oauth_item (expires_at);

-- Keys for signing access tokens.
create table oauth_signing_key (
  id text primary key,
  algorithm text not null check (algorithm in ('ES256', 'EdDSA')),
  public_jwk jsonb not null,
  sealed bytea not null,
  data_key bytea not null,
  key_id text not null,
  created_at timestamptz not null,
  -- Time from which the key signs. Its signatures are accepted until the last token that it signed has expired.
  signs_from timestamptz not null,
  retired_at timestamptz
);

-- DPoP proofs that were used, stored while they could be replayed (RFC 9449 section 11.1). The table is
-- logged although its rows are needed for minutes only: an unlogged table is empty after a crash and on a
-- standby, so that a recorded proof could be replayed then. Rows are small, and rate limits bound their
-- number.
create table dpop_proof (
  -- SHA-256 of the key's thumbprint and the proof's jti.
  digest bytea primary key,
  expires_at timestamptz not null
);
create index dpop_proof_by_expiry on dpop_proof (expires_at);

-- The audit log: who changed what. A trigger rejects updates and deletes.
create table audit_entry (
  id text primary key,
  -- Null for actions of the platform.
  merchant_id text references merchant,
  at timestamptz not null,
  actor text not null check (actor in ('api_key', 'oauth_client', 'buyer', 'staff', 'operator', 'command', 'system')),
  -- Id of the API key, grant, token or staff account.
  actor_id text,
  -- Name of the mutation or REST operation.
  action text not null,
  target_type text,
  target_id text,
  request_id text,
  details jsonb not null default '{}'
);
create index audit_entry_by_merchant on audit_entry (merchant_id, id);
create index audit_entry_by_actor on audit_entry (actor_id, id) where actor_id is not null;
create index audit_entry_by_target on audit_entry (target_id, id) where target_id is not null;

create function audit_entry_stays() returns trigger language plpgsql as $$
begin
  raise exception 'audit_entry is append-only';
end $$;
create trigger audit_entry_stays before update or delete on audit_entry for each row execute function audit_entry_stays();
create trigger audit_entry_stays_whole before truncate on audit_entry for each statement execute function audit_entry_stays();

-- Time at which all credentials were suspended; null if they are not suspended, or were suspended before this
-- column existed.
alter table merchant add column suspended_at timestamptz;
alter table installation add column suspended_at timestamptz;
