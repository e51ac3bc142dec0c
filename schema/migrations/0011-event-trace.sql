-- The trace that caused an event or payment operation, in the format of W3C Trace Context; null if traces are
-- not exported or this one was not sampled.
alter table event add column traceparent text;
alter table payment_operation add column traceparent text;
