/**
 * What must hold of checkouts when nothing is under way any more, read from our tables and from the
 * provider's own books: each session has one end, money and orders go together, and stock, uses and carts say
 * the same as the sessions do.
 */
import { type RawBuilder, sql } from "kysely";
import type { Database } from "#database/connect.ts";

/** Of these sessions, and of what hangs on them; what others did to the same database is not looked at. */
export async function findCheckoutFaults(db: Database, sessionIds: readonly string[]): Promise<string[]> {
  const ours = sql`(select unnest(${sessionIds}::text[]))`;
  const found: string[] = [];
  for (const { says, rows } of [...sessionChecks(ours), ...paymentChecks(ours), ...stockAndUseChecks(ours)]) {
    const { rows: broken } = await rows.execute(db);
    found.push(...broken.map(({ id, what }) => `${says}: ${id}${what === null ? "" : ` (${what})`}.`));
  }
  return found;
}

interface Check {
  readonly says: string;
  /** What breaks it. */
  readonly rows: RawBuilder<{ readonly id: string; readonly what: string | null }>;
}

const check = (says: string, rows: Check["rows"]): Check => ({ says, rows });

/** A session has an order exactly when it is completed; its cart stands as it does. */
function sessionChecks(ours: RawBuilder<unknown>): Check[] {
  return [
    check(
      "A session is not as its orders are",
      sql`select s.id, s.status || ', ' || count(o.id) || ' orders' as what from hosted_checkout_session s left join sales_order o on o.session_id = s.id
        where s.id in ${ours} group by s.id having (s.status = 'completed') <> (count(o.id) = 1) or count(o.id) > 1`,
    ),
    check(
      "A session is not as its cart is",
      sql`select s.id, s.status || ', cart ' || c.status as what from hosted_checkout_session s join cart c on c.id = s.cart_id
        where s.id in ${ours} and s.id = (select max(n.id) from hosted_checkout_session n where n.cart_id = s.cart_id)
          and c.status <> case s.status when 'completed' then 'completed' when 'open' then 'locked' when 'processing' then 'locked' else 'active' end`,
    ),
    check(
      "A session has not been told of as often as it changed",
      sql`select s.id, s.version || ' versions, ' || count(distinct e.subject_version) || ' told of' as what
        from hosted_checkout_session s left join event e on e.subject_id = s.id
        where s.id in ${ours} group by s.id having count(distinct e.subject_version) <> s.version`,
    ),
    check(
      "A session has ended more than once",
      sql`select s.id, string_agg(e.type, ' ') as what from hosted_checkout_session s join event e on e.subject_id = s.id
        and e.type in ('checkout_session.completed', 'checkout_session.canceled', 'checkout_session.expired')
        where s.id in ${ours} group by s.id having count(*) > 1`,
    ),
    check(
      "Still under way",
      sql`select id, status as what from hosted_checkout_session where id in ${ours} and status = 'processing'`,
    ),
  ];
}

/** What the provider holds belongs to an order, and what an order was paid with the provider holds. */
function paymentChecks(ours: RawBuilder<unknown>): Check[] {
  const held = sql`case when b.status in ('authorized', 'pending') then b.amount_minor - b.voided_minor - b.refunded_minor else 0 end`;
  return [
    check(
      "The provider holds money of no order",
      sql`select p.id, b.status || ' ' || ${held} as what
      from payment p join test_provider_payment b on b.reference = p.id where p.session_id in ${ours} and p.order_id is null and ${held} <> 0`,
    ),
    check(
      "An order was not paid as it says",
      sql`select o.id, coalesce(b.status || ' ' || ${held}, 'unpaid') as what
      from sales_order o left join payment p on p.order_id = o.id left join test_provider_payment b on b.reference = p.id
      where o.session_id in ${ours} and o.total_minor > 0
        and (b.reference is null or ${held} <> o.total_minor - o.reduced_minor or p.amount_minor <> b.amount_minor)`,
    ),
    check(
      "A payment is not as in the provider's books",
      sql`select p.id, p.status || ', there ' || coalesce(b.status, 'unknown') as what
      from payment p left join test_provider_payment b on b.reference = p.id
      where p.session_id in ${ours} and (p.status = 'pending'
        or (p.status in ('authorized', 'captured', 'partially_refunded', 'refunded')
          and (case b.status when 'pending' then b.amount_minor else b.captured_minor end, b.voided_minor, b.refunded_minor) is distinct from (p.captured_minor, p.voided_minor, p.refunded_minor))
        or (p.status = 'failed' and b.status <> 'declined')
        or (p.status = 'canceled' and b.status <> 'voided'))`,
    ),
    check(
      "The provider knows a payment that we do not",
      sql`select b.reference as id, b.status as what
      from test_provider_payment b where not exists (select 1 from payment p where p.id = b.reference)`,
    ),
    check(
      "The provider was asked twice to authorise a payment",
      sql`select e.reference as id, count(*)::text as what
      from test_provider_entry e join payment p on p.id = e.reference
      where p.session_id in ${ours} and e.kind = 'authorize' group by e.reference having count(*) > 1`,
    ),
    check(
      "A session was paid twice",
      sql`select p.session_id as id, count(*)::text as what
      from payment p join test_provider_payment b on b.reference = p.id where p.session_id in ${ours} and ${held} > 0 group by p.session_id having count(*) > 1`,
    ),
    check(
      "Something is still asked of the provider",
      sql`select o.id, o.kind as what
      from payment_operation o join payment p on p.id = o.payment_id where p.session_id in ${ours} and o.status = 'pending'`,
    ),
  ];
}

/** Stock and uses are kept by what is not over, and by nothing else. */
function stockAndUseChecks(ours: RawBuilder<unknown>): Check[] {
  const variants = sql`(select l.variant_id from hosted_checkout_session s join cart_line l on l.cart_id = s.cart_id where s.id in ${ours})`;
  return [
    check(
      "A session that is over holds stock",
      sql`select s.id, s.status as what from stock_hold h join hosted_checkout_session s on s.id = h.session_id
      where s.id in ${ours} and s.status <> 'open'`,
    ),
    check(
      "What is reserved is not what is held and waited for",
      sql`select v.variant_id as id, v.reserved || ', held ' || v.held || ', waited for ' || v.waiting as what
      from (select l.variant_id, l.reserved, (select coalesce(sum(h.quantity), 0) from stock_hold h where h.variant_id = l.variant_id) as held,
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
      "An order has not taken from the stock what it sold",
      sql`select o.id, l.variant_id || ' ' || l.allocated as what
      from sales_order o join (select order_id, variant_id, sum(allocated) as allocated from order_line group by order_id, variant_id) l on l.order_id = o.id
      where o.session_id in ${ours} and l.allocated <> -coalesce(
        (select sum(m.delta) from stock_movement m where m.note = o.number and m.variant_id = l.variant_id and m.merchant_id = o.merchant_id), 0)`,
    ),
    check(
      "A use is kept by a session without an order, or by none",
      sql`select s.id, s.status as what
      from hosted_checkout_session s join promotion_use u on u.session_id = s.id and u.given_back_at is null
      where s.id in ${ours} and (s.status <> 'completed' or u.order_id is distinct from s.order_id)`,
    ),
    check(
      "A promotion is not used as often as it says",
      sql`select p.id, p.used || ', kept ' || count(u.id) as what
      from promotion p left join promotion_use u on u.promotion_id = p.id and u.given_back_at is null and u.restored_at is null
      where p.id in (select promotion_id from promotion_use where session_id in ${ours})
      group by p.id having p.used <> count(u.id) or p.used > p.usage_limit`,
    ),
  ];
}
