-- Which browser a checkout's page belongs to, from the first thing that was done there: SHA-256 of the secret part of its cookie.
alter table hosted_checkout_session add column page_digest bytea;
