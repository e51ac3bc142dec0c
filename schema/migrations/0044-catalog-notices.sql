-- Notices (NOTIFY) about changes of catalogs. Processes keep answers about products in memory, and drop an answer
-- when a notice says that its data has changed (src/commerce/catalog/catalog-notices.ts lists the notices). A notice
-- is part of the transaction that makes the change, so no code and no person can change a product without it.
-- Statement triggers send one notice for all rows of a statement, and PostgreSQL sends equal notices of a transaction
-- only once.

-- `products:MERCHANT:ID,ID`: these products have changed. A statement that changes more than 100 products of a
-- merchant sends `catalog:MERCHANT` instead, because the text of a notice is limited to 8000 bytes.
create function send_product_notices(ids text[]) returns void language plpgsql as $$
begin
  perform pg_notify('commerce_gateway', case when cardinality(changed.ids) <= 100
    then 'products:' || changed.merchant_id || ':' || array_to_string(changed.ids, ',')
    else 'catalog:' || changed.merchant_id end)
  from (select merchant_id, array_agg(id order by id) as ids from product where id = any(send_product_notices.ids)
    group by merchant_id) as changed;
end $$;

-- For tables with a column product_id. Rows of a deleted product need no notice: its own deletion sends one.
create function product_part_changed() returns trigger language plpgsql as $$
declare
  changed text[];
begin
  case tg_op
    when 'INSERT' then select array_agg(distinct product_id) into changed from new_rows;
    when 'DELETE' then select array_agg(distinct product_id) into changed from old_rows;
    else
      select array_agg(product_id) into changed
      from (select product_id from old_rows union select product_id from new_rows) as both_rows;
  end case;
  if changed is not null then perform send_product_notices(changed); end if;
  return null;
end $$;

-- Rows of a deleted variant need no notice: the deletion of the variant sends one.
create function price_changed() returns trigger language plpgsql as $$
declare
  changed text[];
begin
  case tg_op
    when 'INSERT' then
      select array_agg(distinct v.product_id) into changed from new_rows n join variant v on v.id = n.variant_id;
    when 'DELETE' then
      select array_agg(distinct v.product_id) into changed from old_rows o join variant v on v.id = o.variant_id;
    else
      select array_agg(distinct v.product_id) into changed from variant v
      where v.id in (select variant_id from old_rows union select variant_id from new_rows);
  end case;
  if changed is not null then perform send_product_notices(changed); end if;
  return null;
end $$;

-- Answers contain the availability of a variant, not its number of units. As long as more units are free than the
-- low-stock threshold, the variant is `in_stock` whatever its holds are, and a sale sends no notice.
create function stock_level_changed() returns trigger language plpgsql as $$
declare
  changed text[];
begin
  case tg_op
    when 'INSERT' then
      select array_agg(distinct v.product_id) into changed from new_rows n join variant v on v.id = n.variant_id;
    when 'DELETE' then
      select array_agg(distinct v.product_id) into changed from old_rows o join variant v on v.id = o.variant_id;
    else
      select array_agg(distinct v.product_id) into changed
      from new_rows n join old_rows o on o.variant_id = n.variant_id join variant v on v.id = n.variant_id
      where (n.on_hand, n.reserved, n.backorder_limit, n.low_stock_threshold)
          is distinct from (o.on_hand, o.reserved, o.backorder_limit, o.low_stock_threshold)
        and (n.on_hand - n.reserved <= n.low_stock_threshold or o.on_hand - o.reserved <= o.low_stock_threshold);
  end case;
  if changed is not null then perform send_product_notices(changed); end if;
  return null;
end $$;

-- A hold ends at a time that answers know. It matters only for variants with few free units, as above. Every change
-- of a hold locks the stock level first, so the stock level that this function reads is current.
create function stock_hold_changed() returns trigger language plpgsql as $$
declare
  variants text[];
  changed text[];
begin
  case tg_op
    when 'INSERT' then select array_agg(distinct variant_id) into variants from new_rows;
    when 'DELETE' then select array_agg(distinct variant_id) into variants from old_rows;
    else
      select array_agg(variant_id) into variants
      from (select variant_id from old_rows union select variant_id from new_rows) as both_rows;
  end case;
  if variants is null then return null; end if;
  select array_agg(distinct v.product_id) into changed from variant v join stock_level s on s.variant_id = v.id
  where v.id = any(variants) and s.on_hand - s.reserved <= s.low_stock_threshold;
  if changed is not null then perform send_product_notices(changed); end if;
  return null;
end $$;

-- No answer contains the popularity of a product.
create function product_changed() returns trigger language plpgsql as $$
declare
  changed text[];
begin
  case tg_op
    when 'INSERT' then select array_agg(id) into changed from new_rows;
    when 'DELETE' then
      perform pg_notify('commerce_gateway', 'catalog:' || merchant_id)
      from (select distinct merchant_id from old_rows) as deleted;
    else
      select array_agg(n.id) into changed from new_rows n left join old_rows o on o.id = n.id
      where (to_jsonb(n) - 'popularity') is distinct from (to_jsonb(o) - 'popularity');
  end case;
  if changed is not null then perform send_product_notices(changed); end if;
  return null;
end $$;

-- For tables whose rows can concern all products of the merchant in their column merchant_id.
create function merchant_part_changed() returns trigger language plpgsql as $$
begin
  case tg_op
    when 'INSERT' then
      perform pg_notify('commerce_gateway', 'catalog:' || merchant_id)
      from (select distinct merchant_id from new_rows) as changed;
    when 'DELETE' then
      perform pg_notify('commerce_gateway', 'catalog:' || merchant_id)
      from (select distinct merchant_id from old_rows) as changed;
    else
      perform pg_notify('commerce_gateway', 'catalog:' || merchant_id)
      from (select merchant_id from old_rows union select merchant_id from new_rows) as changed;
  end case;
  return null;
end $$;

-- `products:MERCHANT:` without ids: only the version of the catalog has changed, which lists of products contain.
create function merchant_catalog_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('commerce_gateway', case when changed.is_more then 'catalog:' || changed.id
    else 'products:' || changed.id || ':' end)
  from (
    select n.id, n.catalog_version <> o.catalog_version as is_version,
      (to_jsonb(n) - array['catalog_version', 'version', 'updated_at'])
        is distinct from (to_jsonb(o) - array['catalog_version', 'version', 'updated_at']) as is_more
    from new_rows n left join old_rows o on o.id = n.id) as changed
  where changed.is_more or changed.is_version;
  return null;
end $$;

-- `searches`: results of searches can have changed, but no product.
create function search_index_changed() returns trigger language plpgsql as $$
begin
  case tg_op
    when 'INSERT' then if not exists (select from new_rows) then return null; end if;
    else if not exists (select from old_rows) then return null; end if;
  end case;
  perform pg_notify('commerce_gateway', 'searches');
  return null;
end $$;

-- `catalog:` without a merchant: every catalog can have changed.
create function catalog_table_truncated() returns trigger language plpgsql as $$
begin
  perform pg_notify('commerce_gateway', 'catalog:');
  return null;
end $$;

do $$
declare
  watched record;
begin
  for watched in select * from (values
    ('product', 'product_changed'),
    ('product_translation', 'product_part_changed'),
    ('product_slug', 'product_part_changed'),
    ('product_category', 'product_part_changed'),
    ('product_option', 'product_part_changed'),
    ('media', 'product_part_changed'),
    ('variant', 'product_part_changed'),
    ('price', 'price_changed'),
    ('stock_level', 'stock_level_changed'),
    ('stock_hold', 'stock_hold_changed'),
    ('category', 'merchant_part_changed'),
    ('category_slug', 'merchant_part_changed'),
    ('market', 'merchant_part_changed'),
    ('market_country', 'merchant_part_changed'),
    ('policy', 'merchant_part_changed'),
    ('search_document', 'search_index_changed'),
    ('search_offer', 'search_index_changed'),
    ('search_summary', 'search_index_changed'),
    ('search_term', 'search_index_changed'),
    ('search_synonym_list', 'search_index_changed'),
    ('search_synonym', 'search_index_changed')
  ) as watched (table_name, function_name) loop
    execute format('create trigger notice_of_insert after insert on %1$I referencing new table as new_rows
      for each statement execute function %2$I()', watched.table_name, watched.function_name);
    execute format('create trigger notice_of_update after update on %1$I referencing old table as old_rows
      new table as new_rows for each statement execute function %2$I()', watched.table_name, watched.function_name);
    execute format('create trigger notice_of_delete after delete on %1$I referencing old table as old_rows
      for each statement execute function %2$I()', watched.table_name, watched.function_name);
    execute format('create trigger notice_of_truncate after truncate on %1$I
      for each statement execute function catalog_table_truncated()', watched.table_name);
  end loop;
end $$;
create trigger notice_of_update after update on merchant referencing old table as old_rows new table as new_rows
  for each statement execute function merchant_catalog_changed();
