-- The merchant's summaries of a policy in all locales, as they were when the order was placed: an eligibility answer
-- speaks the language of its caller. Empty for a policy without a text of the merchant, and for orders that an earlier
-- version of the service placed; the answer then describes the policy's rules. Filling the column for old orders would
-- lock the table, and the locale of their summary is not known.
alter table policy_snapshot add column summaries jsonb not null default '{}';
