-- Field filters of an endpoint: an object with a list of field names by event type. The endpoint receives an event
-- of such a type only if the event's `previous` has one of these fields. Null if the endpoint has no filters.
alter table webhook_endpoint add column field_filters jsonb;
