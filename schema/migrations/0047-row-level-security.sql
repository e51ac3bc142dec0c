-- Row level security by merchant, a second wall behind the conditions of the statements. The setting `commerce.merchant`
-- names the merchant of a transaction. While it is set, PostgreSQL accepts only changes of this merchant's rows. While it
-- is not set or empty, nothing is restricted: background work, reads outside of transactions and callers of the platform
-- use rows of several merchants. Superusers, roles with BYPASSRLS and the owner of the tables are never restricted.
-- docs/scaling.md lists the tables without a policy.

-- Locks the tables that long reads use, such as reports and exports, before the others. So the migration waits for such
-- reads while requests can still use the tables with credentials and audit entries.
lock table sales_order, order_line, payment, refund, fulfillment, order_return, event, webhook_delivery, export_job, cart,
  cart_line, hosted_checkout_session, product, variant, price, stock_level, search_document in access exclusive mode;

do $$
declare
  name text;
  own_row text;
  -- PostgreSQL estimates that IS NOT NULL keeps 99.5 % of the rows, so that the policy changes no plan. It would
  -- estimate that a comparison with the merchant keeps few rows.
  is_of_merchant constant text := '(case coalesce(current_setting(''commerce.merchant'', true), '''') '
    'when '''' then true when merchant_id then true end) is not null';
begin
  -- The rows of other merchants are hidden from each statement.
  foreach name in array array[
    'api_key', 'api_request', 'audit_entry', 'export_job', 'installation', 'oauth_grant', 'payment_connection',
    'payment_operation', 'promotion_use', 'search_query_day', 'search_synonym', 'search_synonym_list', 'staff_account',
    'stock_movement', 'trusted_document'
  ] loop
    execute format('alter table %I enable row level security', name);
    execute format('create policy one_merchant on %I using (%s)', name, is_of_merchant);
  end loop;
  -- The rows of other merchants are hidden from INSERT, UPDATE, DELETE and SELECT FOR UPDATE, and not from other reads.
  -- Frequent requests read these tables, and a policy on reads would cost a quarter of PostgreSQL's CPU time for a cart. Two
  -- indexes cannot be used behind such a policy, because their functions are not leakproof: those on the text search and
  -- on lower(sku).
  foreach name in array array[
    'cart', 'cart_line', 'category', 'category_slug', 'delivery_method', 'event', 'fulfillment', 'hosted_checkout_session',
    'internal_token', 'market', 'market_country', 'media', 'merchant', 'merchant_branding', 'order_line', 'order_return',
    'payment', 'personal_data', 'policy', 'policy_snapshot', 'price', 'product', 'product_slug', 'product_translation', 'promotion',
    'promotion_code', 'refund', 'sales_order', 'search_document', 'search_offer', 'search_summary', 'stock_hold',
    'stock_level', 'tax_class', 'tax_rate', 'variant', 'warranty_claim', 'warranty_registration', 'webhook_delivery',
    'webhook_endpoint'
  ] loop
    own_row := case name when 'merchant' then replace(is_of_merchant, 'merchant_id', 'id') else is_of_merchant end;
    execute format('alter table %I enable row level security', name);
    execute format('create policy all_merchants on %I for select using (true)', name);
    execute format('create policy one_merchant_insert on %I for insert with check (%s)', name, own_row);
    execute format('create policy one_merchant_update on %I for update using (%s)', name, own_row);
    execute format('create policy one_merchant_delete on %I for delete using (%s)', name, own_row);
  end loop;
end $$;
