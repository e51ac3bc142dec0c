/**
 * Refuses filters of lists that name an object which does not exist, because an empty list would hide the
 * fault.
 */
import { sql } from "kysely";
import { failWithDetail } from "#foundation/failure.ts";
import { toSafeId } from "#foundation/ids.ts";
import type { GraphContext } from "./context.ts";

/** The tables of the objects that filters name, with the noun for error messages. */
const nouns = {
  category: "category",
  variant: "variant",
  market: "market",
  promotion: "promotion",
  sales_order: "order",
} as const;

interface NamedObject {
  readonly table: keyof typeof nouns;
  /** The id that the client sent; null and undefined are not checked. */
  readonly id: string | null | undefined;
  /** The merchant of the list; null for a list of all merchants. */
  readonly merchantId: string | null;
  /** True if the client may send the object's handle in place of the id. */
  readonly acceptsHandle?: boolean;
}

/**
 * Throws `resource_not_found` if the argument `field` names an object that does not exist or that belongs to
 * another merchant.
 */
export async function requireFilterObject(
  { db }: Pick<GraphContext, "db">,
  field: string,
  { table, id, merchantId, acceptsHandle = false }: NamedObject,
): Promise<void> {
  if (id === null || id === undefined) return;
  const named = toSafeId(id);
  const isNamed = acceptsHandle ? sql`(id = ${named} or handle = ${named})` : sql`id = ${named}`;
  const isOwned = merchantId === null ? sql`true` : sql`merchant_id = ${merchantId}`;
  const { rows } = await sql`select 1 as one from ${sql.table(table)} where ${isNamed} and ${isOwned}
    limit 1`.execute(db);
  if (rows.length > 0) return;
  throw failWithDetail("resource_not_found", {
    in: "body",
    field: `/${field}`,
    code: "unknown",
    message: `"${field}" must be the id ${acceptsHandle ? "or handle " : ""}of an existing ${nouns[table]}.`,
  });
}
