-- One encrypted value of known content for each key of ENCRYPTION_KEYS that has encrypted data. Every start decrypts
-- these values, so that a process with a wrong or missing key does not start.
create table encryption_canary (
  id text primary key,
  canary bytea not null,
  wrapped_key bytea not null,
  created_at timestamptz not null default now()
);
