/**
 * Refuses list filters that name an object which does not exist. Without this check, the client would get an
 * empty list and not notice the mistake.
 */
import { sql } from "kysely";
import { createFailureWithDetail } from "#foundation/failure.ts";
import { blankIdWithForbiddenCharacters } from "#foundation/ids.ts";
import type { GraphqlContext } from "./context.ts";

/**
 * The kinds of objects by whose ids lists can be filtered, for example `market`, each with its word in error
 * messages.
 */
const nouns = {
  category: "category",
  variant: "variant",
  market: "market",
  promotion: "promotion",
  sales_order: "order",
} as const;

interface NamedObject {
  readonly table: keyof typeof nouns;
  /**
   * The object id from the client's filter. If the id is null or undefined, the request has no such filter,
   * and nothing is checked.
   */
  readonly id: string | null | undefined;
  /** Id of the merchant whose list is filtered; null for a list of all merchants. */
  readonly merchantId: string | null;
  /** True if the filter also accepts the object's handle instead of its id. */
  readonly acceptsHandle?: boolean;
}

/**
 * Throws `resource_not_found` if the object that a filter names does not exist or belongs to another
 * merchant. `field` is the name of the filter's argument, for the error message.
 */
export async function requireObjectNamedInFilterExists(
  context: Pick<GraphqlContext, "db">,
  field: string,
  object: NamedObject,
): Promise<void> {
  await findIdsOfObjectsNamedInFilter(context, field, object);
}

/**
 * Returns the ids of the objects that the client has named by id or handle in the argument `field`. A handle
 * can give several ids, because several merchants can use the same handle. Null if the client has not sent
 * the argument. Throws `resource_not_found` if no object is found.
 */
export async function findIdsOfObjectsNamedInFilter(
  { db }: Pick<GraphqlContext, "db">,
  field: string,
  { table, id, merchantId, acceptsHandle = false }: NamedObject,
): Promise<readonly string[] | null> {
  if (id === null || id === undefined) return null;
  const named = blankIdWithForbiddenCharacters(id);
  const isNamed = acceptsHandle ? sql`(id = ${named} or handle = ${named})` : sql`id = ${named}`;
  const isOwned = merchantId === null ? sql`true` : sql`merchant_id = ${merchantId}`;
  const { rows } = await sql<{
    id: string;
  }>`select id from ${sql.table(table)} where ${isNamed} and ${isOwned}`.execute(db);
  if (rows.length > 0) return rows.map((row) => row.id);
  throw createFailureWithDetail("resource_not_found", {
    in: "body",
    field: `/${field}`,
    code: "unknown",
    message: `"${field}" must be the id ${acceptsHandle ? "or handle " : ""}of an existing ${nouns[table]}.`,
  });
}
