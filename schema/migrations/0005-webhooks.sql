-- Webhook endpoints, deliveries and attempts. An event has one delivery per endpoint that subscribes to its
-- type.

alter table event add column fanned_out_at timestamptz;
-- Events from the time before webhook endpoints existed are not delivered.
update event set fanned_out_at = occurred_at;
create index event_to_fan_out on event (id) where fanned_out_at is null;
create index event_by_installation on event (installation_id, id) where installation_id is not null;
create index event_by_age on event (occurred_at);
-- For the newest events of each subject type that an installation may read. The collation "C" keeps the planner
-- from scanning all events by id when it overestimates how many rows a subject type has.
create index event_of_kind on event (merchant_id, subject_type, id collate "C") where installation_id is null;
drop index event_by_merchant;

-- Every change of a stock level raises the version. Events about the variant's stock are ordered by it.
alter table stock_level add column version integer not null default 1;
-- The version of a key, as above. expiry_notices counts the published notices of the key's expiry: seven days
-- before it, and one day before it.
alter table api_key add column version integer not null default 1;
alter table api_key add column expiry_notices integer not null default 0 check (expiry_notices between 0 and 2);
create index api_key_by_expiry on api_key (expires_at) where expires_at is not null and revoked_at is null and expiry_notices < 2;

create table webhook_endpoint (
  id text primary key,
  merchant_id text not null references merchant,
  installation_id text not null references installation,
  url text not null,
  -- The URL as normalized by the URL parser. An installation can register a normalized URL only once.
  url_normalized text not null,
  description text,
  status text not null default 'enabled' check (status in ('enabled', 'disabled', 'auto_disabled', 'deleted')),
  disabled_reason text check (disabled_reason in ('manual', 'gone', 'failing')),
  disabled_at timestamptz,
  -- Names of event types, `group.*` for a group, or only `*` for all.
  event_types text[] not null check (cardinality(event_types) between 1 and 100),
  payload_mode text not null default 'snapshot' check (payload_mode in ('snapshot', 'thin')),
  max_per_second integer check (max_per_second between 1 and 100),
  metadata jsonb not null default '{}',
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((status in ('disabled', 'auto_disabled')) = (disabled_reason is not null)),
  check ((disabled_reason is null) = (disabled_at is null))
);
create unique index webhook_endpoint_url on webhook_endpoint (installation_id, url_normalized) where status <> 'deleted';
create index webhook_endpoint_by_merchant on webhook_endpoint (merchant_id) where status <> 'deleted';

-- Signing secrets: the current one, and the previous one until it expires.
create table webhook_secret (
  id text primary key,
  endpoint_id text not null references webhook_endpoint,
  version integer not null check (version > 0),
  sealed bytea not null,
  data_key bytea not null,
  key_id text not null,
  -- The last four characters of the secret.
  hint text not null,
  created_at timestamptz not null,
  -- Null for the current secret.
  expires_at timestamptz,
  unique (endpoint_id, version)
);
create unique index webhook_secret_current on webhook_secret (endpoint_id) where expires_at is null;

-- The state of the deliveries to an endpoint. It changes with every attempt, so it is stored apart from the
-- endpoint, whose version must not change with it.
create table webhook_endpoint_health (
  endpoint_id text primary key references webhook_endpoint,
  installation_id text not null references installation,
  consecutive_failures integer not null default 0 check (consecutive_failures >= 0),
  last_success_at timestamptz,
  last_failure_at timestamptz,
  last_failure_code text,
  last_failure_status integer,
  -- Time of the first failed attempt since the last success; null if the last attempt succeeded.
  failing_since timestamptz,
  -- Number of attempted deliveries that failed since the last success.
  failed_since_success integer not null default 0,
  degraded_at timestamptz,
  -- Set while the circuit breaker is open: the time from which one probe request may be sent.
  probe_at timestamptz,
  -- The token bucket that enforces max_per_second: the number of tokens at the time tokens_at.
  tokens double precision not null default 1,
  tokens_at timestamptz not null
);

create table webhook_delivery (
  id text primary key,
  merchant_id text not null references merchant,
  installation_id text not null references installation,
  event_id text not null references event on delete cascade,
  endpoint_id text not null references webhook_endpoint,
  -- 0 for the delivery that the event caused, 1 and more for replays.
  replay_no integer not null default 0 check (replay_no >= 0),
  replay_of text references webhook_delivery on delete cascade,
  replay_reason text check (replay_reason in ('receiver_outage', 'receiver_bug', 'testing', 'other')),
  replay_note text,
  status text not null check (status in ('pending', 'sending', 'succeeded', 'retrying', 'exhausted', 'skipped', 'canceled')),
  attempt_count integer not null default 0 check (attempt_count between 0 and 10),
  -- Time of the next attempt. While an attempt is being sent: the time at which its lease ends. Null if there
  -- will be no further attempt.
  next_attempt_at timestamptz,
  -- Id of the worker that sends the delivery. A result is stored only if the lease is still the same.
  lease text,
  created_at timestamptz not null,
  finished_at timestamptz,
  unique (event_id, endpoint_id, replay_no),
  check ((status in ('pending', 'sending', 'retrying')) = (next_attempt_at is not null)),
  check ((status = 'sending') = (lease is not null)),
  check ((replay_of is null) = (replay_no = 0)),
  check ((replay_of is null) = (replay_reason is null))
);
create index webhook_delivery_due on webhook_delivery (endpoint_id, next_attempt_at, id) where next_attempt_at is not null;
create index webhook_delivery_retrying on webhook_delivery (next_attempt_at) where status = 'retrying';
create index webhook_delivery_sending on webhook_delivery (installation_id, endpoint_id) where status = 'sending';
-- For lists of an endpoint's deliveries per status; the list of all statuses merges these. The collation "C"
-- keeps the planner from scanning the deliveries of all endpoints by id.
create index webhook_delivery_by_endpoint on webhook_delivery (endpoint_id, status, id collate "C");
create index webhook_delivery_unhappy on webhook_delivery (installation_id, status, event_id, id)
  where status in ('exhausted', 'retrying', 'skipped', 'canceled');
create index webhook_delivery_of_replay on webhook_delivery (replay_of) where replay_of is not null;

create table webhook_attempt (
  id text primary key,
  delivery_id text not null references webhook_delivery on delete cascade,
  number integer not null check (number between 1 and 10),
  started_at timestamptz not null,
  duration_ms integer not null,
  http_status integer,
  error_code text check (error_code in ('timeout', 'dns', 'tls', 'connection', 'http_status', 'blocked_address', 'redirect')),
  unique (delivery_id, number)
);
create index webhook_attempt_by_age on webhook_attempt (started_at);

-- Number of attempts and successes per endpoint and hour, so that the success rate of a day is read from 24
-- rows.
create table webhook_endpoint_hour (
  endpoint_id text not null references webhook_endpoint,
  hour timestamptz not null,
  attempts integer not null,
  successes integer not null,
  primary key (endpoint_id, hour)
);
create index webhook_endpoint_hour_by_age on webhook_endpoint_hour (hour);

create function webhook_attempt_made() returns trigger language plpgsql as $$
begin
  insert into webhook_endpoint_hour as h (endpoint_id, hour, attempts, successes)
  select endpoint_id, date_trunc('hour', new.started_at, 'UTC'), 1, (new.error_code is null)::integer from webhook_delivery where id = new.delivery_id
  on conflict (endpoint_id, hour) do update set attempts = h.attempts + 1, successes = h.successes + excluded.successes;
  return null;
end $$;
create trigger webhook_attempt_made after insert on webhook_attempt for each row execute function webhook_attempt_made();
