-- The log of API requests is partitioned by day (UTC), so that old rows are removed with their partition. Ids begin
-- with their time, so a range of ids is a range of time, and the primary key stays the id. docs/scaling.md says why
-- no other table is partitioned.

-- The lowest id of a time. The same text as `getLowestIdAtTime` in src/foundation/ids.ts: ten digits in base 32 for
-- the milliseconds, and 16 digits that are random in ids.
create function lowest_id_at_time(prefix text, at timestamptz) returns text language sql immutable parallel safe as $$
  select prefix || '_' || string_agg(
      substr('0123456789abcdefghjkmnpqrstvwxyz', (floor(extract(epoch from at) * 1000)::bigint >> (5 * place) & 31)::integer + 1, 1),
      '' order by place desc
    ) || repeat('0', 16)
  from generate_series(0, 9) as place
$$;

-- Creates the partitions of four days, from the day of `at` on, unless they exist. Returns their number. Rows of these
-- days in the default partition are moved; if a day has more than 10 000 rows there, the day gets no partition,
-- because moving the rows would take long while other statements wait. Runs with the rights of the owner of the
-- tables, because other roles must not create tables. If another process creates or drops partitions at the same
-- time, does nothing.
create function create_day_partitions(parent text, id_prefix text, at timestamptz) returns integer
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '200ms' as $$
declare
  key_column text;
  first_day date := (at at time zone 'UTC')::date;
  last_day date;
  low text;
  high text;
  name text;
  waiting integer;
  created integer := 0;
begin
  if not has_table_privilege(session_user, parent, 'delete') then
    raise insufficient_privilege using message = 'permission denied for the partitions of ' || parent;
  end if;
  if not pg_try_advisory_xact_lock(7462193016) then return 0; end if;
  select attname into strict key_column from pg_partitioned_table
    join pg_attribute on attrelid = partrelid and attnum = partattrs[0] where partrelid = parent::regclass;
  -- Rows from before this migration are in one partition, whose name ends with its last day.
  select max(to_date(substring(relname from '_until_(\d{8})$'), 'YYYYMMDD')) into last_day
    from pg_inherits join pg_class on pg_class.oid = inhrelid where inhparent = parent::regclass;
  for day in 0..3 loop
    name := parent || '_' || to_char(first_day + day, 'YYYYMMDD');
    continue when first_day + day <= last_day or to_regclass(name) is not null;
    low := lowest_id_at_time(id_prefix, (first_day + day)::timestamp at time zone 'UTC');
    high := lowest_id_at_time(id_prefix, (first_day + day + 1)::timestamp at time zone 'UTC');
    execute format('select count(*) from (select from %I where %I >= %L and %2$I < %4$L limit 10001) as found',
      parent || '_default', key_column, low, high) into waiting;
    continue when waiting > 10000;
    -- A table that is attached later takes weaker locks than a table that is created as a partition.
    execute format('create table %I (like %I including defaults including constraints)', name, parent);
    execute format('lock table %I in access exclusive mode', parent || '_default');
    execute format('with moved as (delete from %I where %I >= %L and %2$I < %4$L returning *) insert into %5$I select * from moved',
      parent || '_default', key_column, low, high, name);
    execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, name, low, high);
    created := created + 1;
  end loop;
  return created;
end $$;

-- Drops the oldest partition whose days are all before the day of `before`. Returns its name; null if there is no such
-- partition, or if another process creates or drops partitions at the same time.
create function drop_day_partition(parent text, before timestamptz) returns text
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '200ms' as $$
declare
  oldest text;
begin
  if not has_table_privilege(session_user, parent, 'delete') then
    raise insufficient_privilege using message = 'permission denied for the partitions of ' || parent;
  end if;
  if not pg_try_advisory_xact_lock(7462193016) then return null; end if;
  select relname into oldest from pg_inherits join pg_class on pg_class.oid = inhrelid
    where inhparent = parent::regclass
      and to_date(substring(relname from '_(\d{8})$'), 'YYYYMMDD') < (before at time zone 'UTC')::date
    order by substring(relname from '_(\d{8})$') limit 1;
  if oldest is not null then execute format('drop table %I', oldest); end if;
  return oldest;
end $$;

alter table api_request rename to api_request_until;
alter table api_request_until rename constraint api_request_pkey to api_request_until_pkey;
alter index api_request_by_installation rename to api_request_until_by_installation;
alter index api_request_failed rename to api_request_until_failed;
alter index api_request_by_merchant rename to api_request_until_by_merchant;
alter index api_request_failed_by_merchant rename to api_request_until_failed_by_merchant;
alter index api_request_by_operation rename to api_request_until_by_operation;
alter index api_request_by_credential rename to api_request_until_by_credential;
alter index api_request_by_status rename to api_request_until_by_status;
create table api_request (like api_request_until including defaults including constraints, primary key (id)) partition by range (id);
create index api_request_by_installation on api_request (installation_id, id);
create index api_request_failed on api_request (installation_id, id) where status >= 400;
create index api_request_by_merchant on api_request (merchant_id, id);
create index api_request_failed_by_merchant on api_request (merchant_id, id) where status >= 400;
create index api_request_by_operation on api_request (merchant_id, operation, id);
create index api_request_by_credential on api_request (credential_id, id);
create index api_request_by_status on api_request (merchant_id, status, id);

-- The old table becomes the partition of all days until today. Its indexes fit, so PostgreSQL reads the table once to
-- check its ids, and writes nothing. A row with a later id, from a clock that was ahead, is moved. Rights that were
-- granted on the old table are granted on the new one too. A new database needs no partition for earlier days.
create table api_request_default partition of api_request default;
do $$
declare
  granted record;
  today date := (now() at time zone 'UTC')::date;
  high text := lowest_id_at_time('req', (today + 1)::timestamp at time zone 'UTC');
  name text := 'api_request_until_' || to_char(today, 'YYYYMMDD');
begin
  for granted in
    select g.grantee::regrole::text as role_name, g.privilege_type
    from pg_class, aclexplode(relacl) g where oid = 'api_request_until'::regclass and g.grantee <> 0
  loop
    execute format('grant %s on api_request, api_request_default to %s', granted.privilege_type, granted.role_name);
  end loop;
  with moved as (delete from api_request_until where id >= high returning *)
  insert into api_request_default select * from moved;
  if exists (select from api_request_until) then
    execute format('alter table api_request_until rename to %I', name);
    execute format('alter table api_request attach partition %I for values from (minvalue) to (%L)', name, high);
  else
    drop table api_request_until;
  end if;
  perform create_day_partitions('api_request', 'req', now());
end $$;

-- Counts all attempts of a statement at once. Rows are changed in the order of their endpoints, so that two processes
-- do not wait for each other. The lateral subquery makes PostgreSQL read the deliveries by their index.
create or replace function webhook_attempt_made() returns trigger language plpgsql as $$
begin
  insert into webhook_endpoint_hour as h (endpoint_id, hour, attempts, successes)
  select d.endpoint_id, date_trunc('hour', a.started_at, 'UTC'), count(*), count(*) filter (where a.error_code is null)
  from new_attempts a cross join lateral (select endpoint_id from webhook_delivery where id = a.delivery_id offset 0) d
  group by 1, 2 order by 1, 2
  on conflict (endpoint_id, hour) do update set attempts = h.attempts + excluded.attempts, successes = h.successes + excluded.successes;
  return null;
end $$;
drop trigger webhook_attempt_made on webhook_attempt;
create trigger webhook_attempt_made after insert on webhook_attempt referencing new table as new_attempts
  for each statement execute function webhook_attempt_made();
