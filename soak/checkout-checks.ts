/**
 * Checks the checkouts in the database and in the records of the payment provider, when no request is running
 * any more. Each checkout session must have ended at most once, payments must match orders, and stock,
 * promotion uses and carts must match the sessions.
 */
import { type RawBuilder, sql } from "kysely";
import type { Database } from "#database/connect.ts";

/**
 * Returns the broken rules of the given sessions and of the rows that belong to them. The payments are
 * compared with the records of the test provider, unless another provider has taken them.
 */
export async function findCheckoutFaults(
  db: Database,
  sessionIds: readonly string[],
  provider: "test" | "stripe" = "test",
): Promise<string[]> {
  const checkedSessions = sql`(select unnest(${sessionIds}::text[]))`;
  const found: string[] = [];
  for (const { rule, rows } of [
    ...sessionChecks(checkedSessions),
    ...(provider === "test" ? paymentChecks(checkedSessions) : []),
    ...stockAndUseChecks(checkedSessions),
  ]) {
    const { rows: brokenRows } = await rows.execute(db);
    found.push(...brokenRows.map(({ id, what }) => `${rule}: ${id}${what === null ? "" : ` (${what})`}.`));
  }
  return found;
}

interface Check {
  readonly rule: string;
  /** Selects the rows that break the rule. */
  readonly rows: RawBuilder<{ readonly id: string; readonly what: string | null }>;
}

const check = (rule: string, rows: Check["rows"]): Check => ({ rule, rows });

/** Checks that exactly the completed sessions have an order, and that their carts have a matching status. */
function sessionChecks(checkedSessions: RawBuilder<unknown>): Check[] {
  return [
    check(
      "The status of a session does not match its orders",
      sql`select s.id, s.status || ', ' || count(o.id) || ' orders' as what
        from hosted_checkout_session s left join sales_order o on o.session_id = s.id
        where s.id in ${checkedSessions} group by s.id
        having (s.status = 'completed') <> (count(o.id) = 1) or count(o.id) > 1`,
    ),
    check(
      "The status of a session does not match its cart",
      sql`select s.id, s.status || ', cart ' || c.status as what
        from hosted_checkout_session s join cart c on c.id = s.cart_id
        where s.id in ${checkedSessions}
          and s.id = (select max(n.id) from hosted_checkout_session n where n.cart_id = s.cart_id)
          and c.status <> case s.status when 'completed' then 'completed' when 'open' then 'locked'
            when 'processing' then 'locked' else 'active' end`,
    ),
    check(
      "A session has not one event per version",
      sql`select s.id, s.version || ' versions, ' || count(distinct e.subject_version) || ' with events' as what
        from hosted_checkout_session s left join event e on e.subject_id = s.id
        where s.id in ${checkedSessions} group by s.id having count(distinct e.subject_version) <> s.version`,
    ),
    check(
      "A session has ended more than once",
      sql`select s.id, string_agg(e.type, ' ') as what
        from hosted_checkout_session s join event e on e.subject_id = s.id
        and e.type in ('checkout_session.completed', 'checkout_session.canceled', 'checkout_session.expired')
        where s.id in ${checkedSessions} group by s.id having count(*) > 1`,
    ),
    check(
      "A session is still being processed",
      sql`select id, status as what from hosted_checkout_session
        where id in ${checkedSessions} and status = 'processing'`,
    ),
  ];
}

/** Checks that the payments at the provider match the payments and orders of the service. */
function paymentChecks(checkedSessions: RawBuilder<unknown>): Check[] {
  const held = sql`case when b.status in ('authorized', 'pending')
    then b.amount_minor - b.voided_minor - b.refunded_minor else 0 end`;
  return [
    check(
      "The provider has money that belongs to no order",
      sql`select p.id, b.status || ' ' || ${held} as what
      from payment p join test_provider_payment b on b.reference = p.id
      where p.session_id in ${checkedSessions} and p.order_id is null and ${held} <> 0`,
    ),
    check(
      "The payment of an order does not match its total",
      sql`select o.id, coalesce(b.status || ' ' || ${held}, 'unpaid') as what
      from sales_order o left join payment p on p.order_id = o.id
      left join test_provider_payment b on b.reference = p.id
      where o.session_id in ${checkedSessions} and o.total_minor > 0
        and (b.reference is null or ${held} <> o.total_minor - o.reduced_minor or p.amount_minor <> b.amount_minor)`,
    ),
    check(
      "A payment does not match the provider's record",
      sql`select p.id, p.status || ', there ' || coalesce(b.status, 'unknown') as what
      from payment p left join test_provider_payment b on b.reference = p.id
      where p.session_id in ${checkedSessions} and (p.status = 'pending'
        or (p.status in ('authorized', 'captured', 'partially_refunded', 'refunded')
          and (case b.status when 'pending' then b.amount_minor else b.captured_minor end,
              b.voided_minor, b.refunded_minor)
            is distinct from (p.captured_minor, p.voided_minor, p.refunded_minor))
        or (p.status = 'failed' and b.status <> 'declined')
        or (p.status = 'canceled' and b.status not in ('voided', 'declined')))`,
    ),
    check(
      "The provider has a payment that the service does not know",
      sql`select b.reference as id, b.status as what
      from test_provider_payment b where not exists (select 1 from payment p where p.id = b.reference)`,
    ),
    check(
      "A payment was authorized more than once at the provider",
      sql`select e.reference as id, count(*)::text as what
      from test_provider_entry e join payment p on p.id = e.reference
      where p.session_id in ${checkedSessions} and e.kind = 'authorize' group by e.reference having count(*) > 1`,
    ),
    check(
      "A session was paid twice",
      sql`select p.session_id as id, count(*)::text as what
      from payment p join test_provider_payment b on b.reference = p.id
      where p.session_id in ${checkedSessions} and ${held} > 0 group by p.session_id having count(*) > 1`,
    ),
    check(
      "A payment operation is still pending",
      sql`select o.id, o.kind as what
      from payment_operation o join payment p on p.id = o.payment_id
      where p.session_id in ${checkedSessions} and o.status = 'pending'`,
    ),
  ];
}

/** Checks that stock and promotion uses are reserved only for unfinished sessions and for orders. */
function stockAndUseChecks(checkedSessions: RawBuilder<unknown>): Check[] {
  const variants = sql`(select l.variant_id
    from hosted_checkout_session s join cart_line l on l.cart_id = s.cart_id
    where s.id in ${checkedSessions})`;
  return [
    check(
      "A finished session holds stock",
      sql`select s.id, s.status as what from stock_hold h join hosted_checkout_session s on s.id = h.session_id
      where s.id in ${checkedSessions} and s.status <> 'open'`,
    ),
    check(
      "The reserved stock is not the sum of held and awaited units",
      sql`select v.variant_id as id, v.reserved || ', held ' || v.held || ', awaited ' || v.waiting as what
      from (select l.variant_id, l.reserved,
          (select coalesce(sum(h.quantity), 0) from stock_hold h where h.variant_id = l.variant_id) as held,
          (select coalesce(sum(o.ordered - o.canceled - o.allocated), 0) - (select coalesce(sum(f.unreserved), 0)
            from fulfillment_line f join order_line u on u.id = f.order_line_id where u.variant_id = l.variant_id)
            from order_line o where o.variant_id = l.variant_id) as waiting
        from stock_level l where l.variant_id in ${variants}) v
      where v.reserved <> v.held + v.waiting`,
    ),
    check(
      "The stock on hand is not the sum of its movements",
      sql`select l.variant_id as id, l.on_hand || ', moved ' || coalesce(sum(m.delta), 0) as what
      from stock_level l left join stock_movement m on m.variant_id = l.variant_id where l.variant_id in ${variants}
      group by l.variant_id having l.on_hand <> coalesce(sum(m.delta), 0)`,
    ),
    check(
      "The stock movements of an order do not match its sold units",
      sql`select o.id, l.variant_id || ' ' || l.allocated as what
      from sales_order o
      join (select order_id, variant_id, sum(allocated) as allocated
        from order_line group by order_id, variant_id) l on l.order_id = o.id
      where o.session_id in ${checkedSessions} and l.allocated <> -coalesce(
        (select sum(m.delta) from stock_movement m
          where m.note = o.number and m.variant_id = l.variant_id and m.merchant_id = o.merchant_id), 0)`,
    ),
    check(
      "A promotion use belongs to a session without an order",
      sql`select s.id, s.status as what
      from hosted_checkout_session s join promotion_use u on u.session_id = s.id and u.given_back_at is null
      where s.id in ${checkedSessions} and (s.status <> 'completed' or u.order_id is distinct from s.order_id)`,
    ),
    check(
      "The use counter of a promotion does not match its uses",
      sql`select p.id, p.used || ', kept ' || count(u.id) as what
      from promotion p left join promotion_use u
        on u.promotion_id = p.id and u.given_back_at is null and u.restored_at is null
      where p.id in (select promotion_id from promotion_use where session_id in ${checkedSessions})
      group by p.id having p.used <> count(u.id) or p.used > p.usage_limit`,
    ),
  ];
}
