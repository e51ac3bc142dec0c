/** What an installation's credentials sent over REST, as far as it is kept. */
import { type SelectQueryBuilder, type Selectable, sql } from "kysely";
import type { ApiRequestTable, Tables } from "#database/tables.ts";
import type { Reader } from "#database/transaction.ts";

export type ApiRequestRow = Selectable<ApiRequestTable>;

export interface RequestFilter {
  readonly installationId: string;
  readonly isFailedOnly: boolean;
}

/** Still to be ordered, paged or counted. */
export function requestList(
  reader: Reader,
  { installationId, isFailedOnly }: RequestFilter,
): SelectQueryBuilder<Tables, "apiRequest", ApiRequestRow> {
  const list = reader.selectFrom("apiRequest").selectAll("apiRequest").where("installationId", "=", installationId);
  // As the index has it, which a parameter would not be seen to be.
  return isFailedOnly ? list.where(sql<boolean>`api_request.status >= 400`) : list;
}
