-- The browser that first used the checkout page: SHA-256 of the secret in its cookie.
alter table hosted_checkout_session add column page_digest bytea;
