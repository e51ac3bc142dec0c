-- Publishable tokens (role browser) and buyer sessions, with which the browser of a buyer calls /graphql
-- without a backend of the frontend between them.

alter table internal_token drop constraint internal_token_role_check;
alter table internal_token add constraint internal_token_role_check
  check (role in ('storefront', 'browser', 'admin', 'analyst', 'operator'));

-- The origins whose pages may send a publishable token, for example https://shop.example. Every other token
-- has none.
alter table internal_token add column allowed_origins text[];
create index internal_token_by_origin on internal_token using gin (allowed_origins)
  where allowed_origins is not null;

-- The buyer session that created the cart, and the order that was placed with the cart. Null if another
-- caller created the cart. A buyer session without a buyer reference finds only rows with its own id.
alter table cart add column buyer_session_id text;
create index cart_by_buyer_session on cart (buyer_session_id, id) where buyer_session_id is not null;
alter table sales_order add column buyer_session_id text;
create index sales_order_by_buyer_session on sales_order (buyer_session_id, id)
  where buyer_session_id is not null;
