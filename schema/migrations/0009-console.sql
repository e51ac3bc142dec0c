-- Merchants' people sign in at the console, and see there what their apps sent.

-- A person who is signed in at the console.
create table staff_session (
  -- SHA-256 of what the browser holds, which is a secret.
  digest bytea primary key,
  staff_id text not null references staff_account,
  -- Of the account when it began: under another it is over.
  staff_version integer not null,
  created_at timestamptz not null,
  -- To the minute: unused for too long it is over.
  last_used_at timestamptz not null,
  -- Over then, however much it is used.
  expires_at timestamptz not null
);
create index staff_session_by_expiry on staff_session (expires_at);

-- What apps sent over REST, for a few days: a sample, written behind the answers, many rows at a time. Without references to others, so that
-- writing waits for nobody.
create table api_request (
  -- The request's own id, as its answer and the log name it.
  id text primary key,
  merchant_id text not null,
  installation_id text not null,
  -- The API key or the grant.
  credential_id text not null,
  operation text not null,
  method text not null,
  status integer not null,
  error_code text,
  duration_ms integer not null,
  at timestamptz not null
);
create index api_request_by_installation on api_request (installation_id, id);
create index api_request_failed on api_request (installation_id, id) where status >= 400;
