-- The event feed: all events in an order in which no event is ever added before one that a reader has seen.

create sequence event_insert_number;
-- Rises with every inserted row. A transaction holds the lock of an event's subject from before the insert until
-- its commit, so events about the same subject have rising numbers in the order of their changes. Null for events
-- from before this migration.
alter table event add column insert_number bigint;
alter table event alter column insert_number set default nextval('event_insert_number');
-- The position in the feed, without gaps. Given after the transaction of the event has committed, by one process at a
-- time, so events become visible in the order of their positions. Null until then.
alter table event add column position bigint;
create index event_to_position on event (insert_number nulls first, id) where position is null;
create index event_by_position on event (position) where position is not null;
create index event_of_feed on event (merchant_id, position) where position is not null;
-- event_to_fan_out serves only processes of the previous release. A later migration may drop it.

-- A single row. Its lock serializes the processes that give positions.
create table event_feed (
  id integer primary key default 1 check (id = 1),
  -- The highest position that was given.
  last_position bigint not null default 0,
  -- The highest position of a deleted event. A cursor before it may have lost events.
  deleted_position bigint not null default 0
);
insert into event_feed default values;
