-- Row level security by merchant, a second wall behind the conditions of the statements. The setting `commerce.merchant`
-- names the merchant of a transaction. While it is set, PostgreSQL shows and accepts only rows of this merchant. While it
-- is not set or empty, nothing is restricted: background work, reads outside of transactions and callers of the platform
-- use rows of several merchants. Superusers, roles with BYPASSRLS and the owner of the tables are never restricted.
-- docs/scaling.md lists the tables without a policy.
do $$
declare
  name text;
  -- A subselect without a reference to the row is computed once per statement. PostgreSQL estimates that IS NOT NULL
  -- keeps 99.5 % of the rows, so that the policy changes no plan; a comparison with the merchant would count as if it
  -- kept few rows.
  visible constant text := '(case (select coalesce(current_setting(''commerce.merchant'', true), '''')) '
    'when '''' then true when %I then true end) is not null';
begin
  foreach name in array array[
    'api_key', 'api_request', 'audit_entry', 'cart', 'cart_line', 'category', 'category_slug', 'delivery_method', 'event',
    'export_job', 'fulfillment', 'hosted_checkout_session', 'installation', 'internal_token', 'market', 'market_country',
    'media', 'merchant_branding', 'oauth_grant', 'order_line', 'order_return', 'payment', 'payment_connection',
    'payment_operation', 'personal_data', 'policy', 'policy_snapshot', 'price', 'product', 'product_slug',
    'product_translation', 'promotion', 'promotion_code', 'promotion_use', 'refund', 'sales_order', 'search_query_day',
    'search_synonym', 'search_synonym_list', 'staff_account', 'stock_hold', 'stock_level', 'stock_movement', 'tax_class',
    'tax_rate', 'trusted_document', 'variant', 'warranty_claim', 'warranty_registration', 'webhook_delivery',
    'webhook_endpoint'
  ] loop
    execute format('alter table %I enable row level security', name);
    execute format('create policy one_merchant on %I using (' || format(visible, 'merchant_id') || ')', name);
  end loop;
  alter table merchant enable row level security;
  execute 'create policy one_merchant on merchant using (' || format(visible, 'id') || ')';
  -- The tables of the search are read with the text search of PostgreSQL. Its functions are not leakproof, so they could
  -- not use an index behind a policy. Only changes of these tables are restricted.
  foreach name in array array['search_document', 'search_offer', 'search_summary'] loop
    execute format('alter table %I enable row level security', name);
    execute format('create policy all_merchants on %I for select using (true)', name);
    execute format('create policy one_merchant_insert on %I for insert with check (' || format(visible, 'merchant_id') || ')', name);
    execute format('create policy one_merchant_update on %I for update using (' || format(visible, 'merchant_id') || ')', name);
    execute format('create policy one_merchant_delete on %I for delete using (' || format(visible, 'merchant_id') || ')', name);
  end loop;
end $$;
