/**
 * Adds rows for the lists and reports that `seed --orders` leaves nearly empty: events, deliveries, stock
 * movements, prices, redemptions, warranties, requests, audit entries, exports, codes and searches. The rows
 * belong to the generated orders of the merchant with the most orders. The statements run in PostgreSQL only,
 * because a million rows of each kind would take an hour otherwise.
 */
import type { Client } from "pg";
import { copiedTables, copyOrders } from "./copy-orders.ts";

/** How many days events are spread over: they are deleted after 30 days. */
const eventDays = 29;

/** SQL for an id: its prefix, its time in base 32, and the random part of the id of the order `o`. */
const idAt = (prefix: string, at: string): string =>
  `'${prefix}_' || (select string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz',
    ((floor(extract(epoch from ${at}) * 1000)::bigint >> (5 * (9 - digit))) & 31)::int + 1, 1), ''
    order by digit) from generate_series(0, 9) as digit) || right(o.id, 16)`;

/** SQL that is true for one of so many orders, always for the same. */
const oneOf = (count: number): string => `abs(hashtext(o.id)::bigint) % ${count} = 0`;

/** The orders of a merchant ($1) with the time of their event. */
const orderEvents = `(select o.*, now() - (now() - o.placed_at) * ${eventDays} / 366 as at
  from sales_order o where o.merchant_id = $1) as o`;

const firstLine = `join order_line l on l.order_id = o.id
  and l.position = (select min(position) from order_line where order_id = o.id)`;

/**
 * The statements by the table that each fills. $1 is the merchant's id. There are about as many former prices
 * as orders, but at least one of each price, and one search query for each 5 000 orders, in each country on
 * each day of a year.
 */
const createStatements = (orders: number): Readonly<Record<string, string>> => ({
  event: `insert into event (id, merchant_id, type, schema_version, subject_type, subject_id, subject_version,
      snapshot, thin, occurred_at, fanned_out_at)
    select ${idAt("evt", "o.at")}, o.merchant_id,
      case when ${oneOf(500)} then 'order.canceled' else 'order.placed' end, 1, 'order', o.id, 1,
      repeat(o.id, 40), '{}', o.at, o.at
    from ${orderEvents}`,
  webhook_endpoint: `insert into webhook_endpoint (id, merchant_id, installation_id, url, url_normalized, status,
      disabled_reason, disabled_at, event_types, created_at, updated_at)
    select left(w.id, -1) || n, w.merchant_id, w.installation_id, w.url || n, w.url_normalized || n, 'disabled',
      'manual', now(), w.event_types, w.created_at, w.updated_at
    from webhook_endpoint w, generate_series(1, 9) as n
    where w.id = (select min(id) from webhook_endpoint where merchant_id = $1) on conflict do nothing`,
  webhook_delivery: `insert into webhook_delivery (id, merchant_id, installation_id, event_id, endpoint_id,
      status, attempt_count, created_at, finished_at)
    select ${idAt("whd", "o.at")}, o.merchant_id, e.installation_id, ${idAt("evt", "o.at")},
      e.ids[1 + abs(hashtext(o.number)::bigint) % cardinality(e.ids)],
      case when ${oneOf(1000)} then 'exhausted' else 'succeeded' end, 1, o.at, o.at
    from ${orderEvents}, (select array_agg(id) as ids, min(installation_id) as installation_id
      from webhook_endpoint where merchant_id = $1) as e`,
  webhook_attempt: `insert into webhook_attempt (id, delivery_id, number, started_at, duration_ms, http_status,
      error_code)
    select ${idAt("wha", "o.at")}, ${idAt("whd", "o.at")}, 1, o.at, abs(hashtext(o.id)::bigint) % 900,
      case when ${oneOf(1000)} then 500 else 204 end, case when ${oneOf(1000)} then 'http_status' end
    from ${orderEvents}`,
  stock_movement: `insert into stock_movement (merchant_id, variant_id, delta, on_hand_after, reason,
      created_at)
    select o.merchant_id, l.variant_id, -l.ordered, 100,
      case when ${oneOf(1000)} then 'lost' else 'sold' end, o.placed_at
    from sales_order o ${firstLine} join variant v on v.id = l.variant_id
    where o.merchant_id = $1 order by o.placed_at`,
  promotion_use: `insert into promotion_use (merchant_id, promotion_id, session_id, buyer_reference, order_id,
      redeemed_at)
    select o.merchant_id, p.ids[1 + abs(hashtext(o.number)::bigint) % cardinality(p.ids)], o.session_id,
      o.buyer_reference, o.id, o.placed_at
    from sales_order o, (select array_agg(id order by id) as ids from promotion where merchant_id = $1) as p
    where o.merchant_id = $1 and ${oneOf(4)} order by o.placed_at on conflict do nothing`,
  warranty_registration: `insert into warranty_registration (id, order_id, order_line_id, merchant_id, status,
      starts_at, ends_at, repairs_left, replacements_left, created_at, updated_at)
    select ${idAt("wty", "o.placed_at")}, o.id, l.id, o.merchant_id,
      case when ${oneOf(3000)} then 'void' else 'active' end, o.placed_at,
      o.placed_at + interval '2 years', 1, 1, o.placed_at, o.placed_at
    from sales_order o ${firstLine} where o.merchant_id = $1 and ${oneOf(3)} on conflict do nothing`,
  price: `with bound as (
      select variant_id, market_id, merchant_id, amount_minor,
        min(valid_from) over (partition by variant_id, market_id) as first_from,
        row_number() over (partition by variant_id, market_id order by valid_from) as place,
        ceil(${orders}::numeric / count(*) over ())::integer as former
      from price where merchant_id = $1)
    insert into price (variant_id, market_id, merchant_id, amount_minor, valid_from, valid_until)
    select b.variant_id, b.market_id, b.merchant_id, b.amount_minor, b.first_from - n * interval '6 hours',
      b.first_from - (n - 1) * interval '6 hours'
    from bound b, generate_series(1, b.former) as n where b.place = 1 on conflict do nothing`,
  api_request: `insert into api_request (id, merchant_id, installation_id, credential_id, operation, method,
      status, error_code, duration_ms, at)
    select ${idAt("req", "o.at")}, o.merchant_id, k.installation_id, k.id,
      case when ${oneOf(900)} then 'getPublicCart' else 'getStorefrontOrder' end, 'GET',
      case when ${oneOf(5000)} then 503 when ${oneOf(50)} then 404 when ${oneOf(70)} then 304 else 200 end,
      case when ${oneOf(50)} then 'resource_not_found' end, 5, o.at
    from ${orderEvents}, (select k.* from api_key k join installation i on i.id = k.installation_id
      where i.merchant_id = $1 order by k.id limit 1) as k where ${oneOf(2)} or ${oneOf(35)}`,
  audit_entry: `insert into audit_entry (id, merchant_id, at, actor, actor_id, action, target_type, target_id)
    select ${idAt("aud", "o.placed_at")}, o.merchant_id, o.placed_at,
      case when ${oneOf(700)} then 'command' else 'staff' end, case when ${oneOf(700)} then null else 'tok_1' end,
      case when ${oneOf(900)} then 'orderHold' else 'orderConfirm' end, 'order', o.id
    from sales_order o where o.merchant_id = $1 and ${oneOf(2)}`,
  export_job: `insert into export_job (id, merchant_id, kind, format, status, period_end, total_rows,
      exported_rows, due_at, created_at, finished_at, expires_at)
    select ${idAt("exp", "o.at")}, o.merchant_id, 'orders', 'ndjson', 'completed', o.at, 0, 0, o.at, o.at, o.at,
      now() + interval '7 days'
    from ${orderEvents} where ${oneOf(10)}`,
  promotion_code: `insert into promotion_code (id, merchant_id, promotion_id, code, code_normalized, created_at)
    select ${idAt("pcd", "o.placed_at")}, o.merchant_id, p.id, o.number, lower(o.number), o.placed_at
    from sales_order o, (select min(id) as id from promotion where merchant_id = $1 and trigger = 'code') as p
    where o.merchant_id = $1 and ${oneOf(10)} on conflict do nothing`,
  search_query_day: `insert into search_query_day (day, merchant_id, country, query, searches, empty)
    select current_date - day, $1, country, 'query ' || (n * n % 4000), 1 + n % 50, n % 2
    from generate_series(0, 364) as day, unnest('{DE,AT,CH,GB,US}'::text[]) as country,
      generate_series(1, ${Math.ceil(orders / 5_000)}) as n on conflict do nothing`,
});

/**
 * Copies the generated orders until the merchant has at least `orders` orders, adds the rows of the lists and
 * returns the number of added rows by table.
 */
export async function addListRows(client: Client, orders: number): Promise<Readonly<Record<string, number>>> {
  const { rows: owners } = await client.query<{ id: string }>(
    "select merchant_id as id from sales_order group by 1 order by count(*) desc limit 1",
  );
  const [owner] = owners;
  if (owner === undefined)
    throw new Error("The database has no orders. Run `npm run seed -- --orders N` first.");
  const statements = createStatements(orders);
  const counts: Record<string, number> = {};
  // In one transaction, so that now() and therefore the ids of events are the same in all statements.
  await client.query("begin");
  // Triggers and foreign keys are disabled for speed. The rows are consistent without them.
  await client.query("set local session_replication_role = replica");
  const createCopiedIndexes = await dropIndexes(client, Object.keys(copiedTables));
  counts["copied orders"] = await copyOrders(client, { merchantId: owner.id, count: orders });
  // The statements below read the copied orders and their lines by these indexes.
  await createCopiedIndexes();
  await client.query("analyze sales_order, order_line");
  const createIndexes = await dropIndexes(
    client,
    Object.keys(statements).filter((table) => !(table in copiedTables)),
  );
  for (const [table, statement] of Object.entries(statements)) {
    const { rowCount } = await client.query(statement, [owner.id]);
    counts[table] = rowCount ?? 0;
  }
  await createIndexes();
  await client.query("commit");
  await client.query("vacuum analyze");
  return counts;
}

/**
 * Drops the indexes of the tables except those of constraints, because creating an index after the inserts is
 * much faster than updating the index for each row. Returns a function that creates the indexes again.
 */
async function dropIndexes(client: Client, tables: readonly string[]): Promise<() => Promise<void>> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition from pg_index i
     where i.indrelid = any($1::text[]::regclass[])
       and not exists (select from pg_constraint c where c.conindid = i.indexrelid)`,
    [tables],
  );
  for (const { name } of rows) await client.query(`drop index ${name}`);
  return async () => {
    // For a partitioned table, PostgreSQL writes ON ONLY, which would leave out the partitions.
    for (const { definition } of rows) await client.query(definition.replace(" ON ONLY ", " ON "));
  };
}
