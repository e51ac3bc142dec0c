/** What PostgreSQL says of an error: its SQLSTATE, and the constraint that was broken. */

const givenUp = new Set(["40001", "40P01"]);

/** PostgreSQL gave up on us because of others (serialization failure, deadlock, a table changed); also where the graph has made a failure of it, which keeps what it came from. */
export function isGivenUp(error: unknown): boolean {
  if (givenUp.has(sqlState(error) ?? "") || isPlanStale(error)) return true;
  return error instanceof Error && error.cause !== undefined && isGivenUp(error.cause);
}

/** A prepared statement reads a table that has another column since, as from a process that a migration went past: under another name it is prepared anew. */
export function isPlanStale(error: unknown): boolean {
  // The code says many things; the routine of PostgreSQL that says it is this one's, in every language.
  return sqlState(error) === "0A000" && (error as { readonly routine?: unknown }).routine === "RevalidateCachedQuery";
}

const outOfRoom = new Set(["53100", "53200", "58030"]);

/** PostgreSQL has no disk or memory left for it, or its disk fails: no fault of the statement, and somebody will see to it. */
export function isOutOfRoom(error: unknown): boolean {
  if (outOfRoom.has(sqlState(error) ?? "")) return true;
  return error instanceof Error && error.cause !== undefined && isOutOfRoom(error.cause);
}

/** The five characters of SQLSTATE, where the error is the database's. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" && error.code.length === 5 ? error.code : undefined;
}

export const uniqueViolation = "23505";

/** The constraint or unique index that the database says was broken. */
export function brokenConstraint(error: unknown): string | undefined {
  return error instanceof Error && "constraint" in error && typeof error.constraint === "string" ? error.constraint : undefined;
}
