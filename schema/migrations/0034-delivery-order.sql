-- The order of deliveries about the same subject, as an option of an endpoint. Only the first unfinished delivery of
-- a subject has a time for its next attempt; the others have `infinity` until all earlier ones have ended.

alter table webhook_endpoint add column delivery_order text not null default 'any' check (delivery_order in ('any', 'subject'));
-- The subject and the feed position of the event; null if the delivery keeps no order, as replays.
alter table webhook_delivery add column ordered_subject_id text;
alter table webhook_delivery add column ordered_position bigint;
create index webhook_delivery_in_order on webhook_delivery (endpoint_id, ordered_subject_id, ordered_position)
  where ordered_subject_id is not null and next_attempt_at is not null;

-- Lets the first unfinished delivery of a subject be sent when an earlier one has ended, in the transaction that
-- ended it. A trigger, because deliveries end in many statements. Creating deliveries locks the unfinished ones of
-- the subject, so a delivery that is created at the same moment is not forgotten.
create function webhook_delivery_ended() returns trigger language plpgsql as $$
declare
  ended webhook_delivery := case tg_op when 'DELETE' then old else new end;
begin
  update webhook_delivery set next_attempt_at = coalesce(ended.finished_at, now())
  where next_attempt_at = 'infinity' and id = (
    select id from webhook_delivery
    where endpoint_id = ended.endpoint_id and ordered_subject_id = ended.ordered_subject_id and next_attempt_at is not null
    order by ordered_position limit 1
  );
  return null;
end $$;
create trigger webhook_delivery_ended after update of next_attempt_at on webhook_delivery for each row
  when (new.ordered_subject_id is not null and old.next_attempt_at is not null and new.next_attempt_at is null)
  execute function webhook_delivery_ended();
create trigger webhook_delivery_deleted after delete on webhook_delivery for each row
  when (old.ordered_subject_id is not null and old.next_attempt_at is not null)
  execute function webhook_delivery_ended();
