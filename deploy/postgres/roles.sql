-- Creates the database roles of the service and gives each only the rights that it needs. Run this script as a superuser in the service's
-- database; it may be run again, also for a database that the service already uses with one role:
--
--   psql "$SUPERUSER_URL" --single-transaction --file=deploy/postgres/roles.sql
--
-- Then set a password for each role, for example with psql's command \password commerce_app.
--
-- role              setting               may
-- commerce_owner    DATABASE_OWNER_URL    create and change tables; used only by migrations
-- commerce_app      DATABASE_URL          read and write rows; owns nothing
-- commerce_read     DATABASE_READ_URL     read rows, on a replica
-- commerce_metrics  of a metrics exporter read the statistics of PostgreSQL, but no rows of the service

do $$
declare
  role_name text;
begin
  foreach role_name in array array['commerce_owner', 'commerce_app', 'commerce_read', 'commerce_metrics'] loop
    if not exists (select from pg_roles where rolname = role_name) then
      execute format('create role %I login', role_name);
    end if;
    execute format('grant connect on database %I to %I', current_database(), role_name);
  end loop;
  -- Migrations create the extension pg_trgm, which a role may create that has this right.
  execute format('grant create on database %I to commerce_owner', current_database());
end
$$;

revoke create on schema public from public;
grant usage, create on schema public to commerce_owner;
grant usage on schema public to commerce_app, commerce_read;

-- Gives all objects of the service that exist already to the owner. Objects of extensions stay as they are.
do $$
declare
  statement text;
begin
  for statement in
    select format('alter %s %s owner to commerce_owner', kind, name)
    from (
      select 'table' as kind, oid::regclass::text as name, 'pg_class'::regclass as catalog, oid
      from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
      union all
      -- A sequence of an identity column follows its table.
      select 'sequence', oid::regclass::text, 'pg_class'::regclass, oid
      from pg_class sequence where relnamespace = 'public'::regnamespace and relkind = 'S'
        and not exists (select from pg_depend where objid = sequence.oid and deptype in ('i', 'a'))
      union all
      select 'routine', oid::regprocedure::text, 'pg_proc'::regclass, oid
      from pg_proc where pronamespace = 'public'::regnamespace
      union all
      -- The type of a table's rows, types of arrays and multiranges follow another object.
      select 'type', oid::regtype::text, 'pg_type'::regclass, oid
      from pg_type where typnamespace = 'public'::regnamespace and typtype in ('d', 'e', 'r')
    ) object
    where not exists (
      select from pg_depend
      where pg_depend.classid = catalog and objid = object.oid and (deptype = 'e' or kind = 'routine' and deptype = 'i')
    )
  loop
    execute statement;
  end loop;
end
$$;

grant select, insert, update, delete on all tables in schema public to commerce_app;
grant usage, select on all sequences in schema public to commerce_app;
grant select on all tables in schema public to commerce_read;

-- The same rights on the objects that later migrations create.
alter default privileges for role commerce_owner in schema public
  grant select, insert, update, delete on tables to commerce_app;
alter default privileges for role commerce_owner in schema public grant usage, select on sequences to commerce_app;
alter default privileges for role commerce_owner in schema public grant select on tables to commerce_read;

grant pg_monitor to commerce_metrics;

-- The service sets shorter time limits for its own connections. These limits also apply behind a pooler that does not pass them on.
alter role commerce_app set statement_timeout = '60s';
alter role commerce_app set idle_in_transaction_session_timeout = '60s';
alter role commerce_read set statement_timeout = '60s';
alter role commerce_read set idle_in_transaction_session_timeout = '60s';
alter role commerce_read set default_transaction_read_only = on;
