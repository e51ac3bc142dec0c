-- Stop every process first: the previous release expects at most one enabled account with an e-mail address, and would
-- sign a person in to any one of several accounts.

-- Several merchants can have an enabled staff account with the same e-mail address, so that the answer to
-- creating an account does not tell whether another merchant has an account with this address.
drop index staff_account_by_email;
create unique index staff_account_by_merchant_email on staff_account (merchant_id, email_normalized)
  where disabled_at is null;
create index staff_account_by_email on staff_account (email_normalized);
