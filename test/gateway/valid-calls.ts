/** The valid request of every operation of the contract table, and the credentials that it needs. */
import type { PermissionScope } from "#access/viewer.ts";
import { type CallParts, type ContractRow, contractTable } from "./contract-table.ts";

export interface ValidCall {
  /** `anonymous`: no credentials. `token`: an access token with any scope. null: any key or token. */
  readonly needs: PermissionScope | "anonymous" | "token" | null;
  readonly make: ContractRow["call"];
}

const needsOf = ({ scope, isAnonymous, credential }: ContractRow): ValidCall["needs"] => {
  if (scope !== undefined) return scope === "none" ? null : scope;
  return isAnonymous === true ? "anonymous" : (credential ?? null);
};

export const validCalls: Readonly<Record<string, ValidCall>> = Object.fromEntries(
  Object.entries(contractTable).map(([id, row]) => [id, { needs: needsOf(row), make: row.call }]),
);

/** Fills an operation's path and query with these parts. */
export function requestOf(
  operation: { readonly method: string; readonly path: string },
  { path = {}, query, body }: CallParts,
): { method: string; url: string; body?: unknown } {
  const { method } = operation;
  const url =
    operation.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => path[name] ?? "") +
    (query === undefined ? "" : `?${query}`);
  return body === undefined ? { method, url } : { method, url, body };
}
