-- The events of payment providers that were handled, so that an event that arrives again is not handled again.
create table provider_event (
  connection_id text not null references payment_connection,
  -- The provider's id of the event, for example evt_….
  id text not null,
  type text not null,
  handled_at timestamptz not null,
  primary key (connection_id, id)
);
create index provider_event_by_age on provider_event (handled_at);

-- The disputes of payments at payment providers, with the last status that was recorded in the payment's order.
create table payment_dispute (
  connection_id text not null references payment_connection,
  -- The provider's id of the dispute, for example dp_….
  id text not null,
  payment_id text not null references payment,
  status text not null check (status in ('open', 'won', 'lost')),
  amount_minor bigint not null check (amount_minor >= 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (connection_id, id)
);
create index payment_dispute_by_payment on payment_dispute (payment_id);
