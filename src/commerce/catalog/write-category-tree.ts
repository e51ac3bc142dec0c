/** Questions to the category tree: whether a place in it may be taken, where a level ends, and what is filed below. */
import { sql } from "kysely";
import type { Transaction } from "#database/transaction.ts";
import { catalogBounds } from "./write-bounds.ts";
import { refuseAt } from "#foundation/faults.ts";
import { type Tenant, toId } from "./write-tenant.ts";

/** The parent is there, is not below the category, and leaves room for all that hangs on it. */
export async function requirePlace(
  transaction: Transaction,
  tenant: Tenant,
  { categoryId, parentId }: { readonly categoryId: string | null; readonly parentId: string },
): Promise<void> {
  const { rows } = await sql<{ depth: number; isBelow: boolean; height: number }>`
    with recursive up as (
      select id, parent_id from category where id = ${toId(parentId)} and merchant_id = ${tenant.merchantId}
      union all select c.id, c.parent_id from up join category c on c.id = up.parent_id),
    down as (
      select id, 1 as level from category where id = ${categoryId}::text
      union all select c.id, down.level + 1 from down join category c on c.parent_id = down.id)
    select (select count(*)::int from up) as depth, exists (select from up where id = ${categoryId}::text) as is_below,
      (select coalesce(max(level), 1) from down) as height`.execute(transaction);
  const { depth, isBelow, height } = rows[0] ?? { depth: 0, isBelow: false, height: 1 };
  if (depth === 0) throw refuseAt("resource_not_found", "/parentId", { code: "resource_not_found", message: "There is no such category." });
  if (isBelow) throw refuseAt("invalid_field", "/parentId", { code: "circle", message: "A category cannot hang below itself." });
  if (depth + height > catalogBounds.categoryDepthMax) {
    const message = `The tree may have ${catalogBounds.categoryDepthMax} levels at most.`;
    throw refuseAt("invalid_field", "/parentId", { code: "too_deep", message });
  }
}

export async function endOf(transaction: Transaction, tenant: Tenant, parentId: string | null): Promise<number> {
  const { rows } = await sql<{ position: number }>`
    select coalesce(max(position) + 1, 0) as position from category where merchant_id = ${tenant.merchantId} and parent_id is not distinct from ${parentId}`.execute(
    transaction,
  );
  return rows[0]?.position ?? 0;
}

/** The index holds a product's categories with all their ancestors, so a change is felt all the way down. */
export async function publishedBelow(transaction: Transaction, categoryId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with recursive down as (
      select id from category where id = ${categoryId}
      union all select c.id from down join category c on c.parent_id = down.id)
    select p.id from product p
    where p.status = 'published' and p.id in (select product_id from product_category where category_id in (select id from down))
    order by p.id for no key update`.execute(transaction);
  return rows.map(({ id }) => id);
}
