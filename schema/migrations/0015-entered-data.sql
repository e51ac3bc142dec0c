-- The browser that entered the value on a checkout page, as in hosted_checkout_session.page_digest; null if it
-- was not entered on a checkout page. Only this browser sees the whole value there.
alter table personal_data add column page_digest bytea;
