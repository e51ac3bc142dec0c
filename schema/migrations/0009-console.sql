-- Console sessions of staff members, and the log of REST requests that the console shows.

-- A session of a staff member at the console.
create table staff_session (
  -- SHA-256 of the session's cookie, which is a secret.
  digest bytea primary key,
  staff_id text not null references staff_account,
  -- The version of the account at sign-in. The session ends when the account has another version.
  staff_version integer not null,
  created_at timestamptz not null,
  -- Rounded to the minute. An unused session ends after a while.
  last_used_at timestamptz not null,
  -- The session ends at this time even if it is in use.
  expires_at timestamptz not null
);
create index staff_session_by_expiry on staff_session (expires_at);

-- A sample of the apps' REST requests, stored for a few days. Rows are written in batches after the answers were
-- sent. There are no foreign keys, so that writing does not wait for locks.
create table api_request (
  -- The request id that the response and the log contain.
  id text primary key,
  merchant_id text not null,
  installation_id text not null,
  -- Id of the API key or grant.
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
