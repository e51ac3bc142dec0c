-- What brought an event or a payment's operation about, as W3C Trace Context writes it: only where traces are collected and this one is among them.
alter table event add column traceparent text;
alter table payment_operation add column traceparent text;
