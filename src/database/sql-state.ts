/** What PostgreSQL says of an error: its SQLSTATE, and the constraint that was broken. */

const givenUp = new Set(["40001", "40P01"]);

/** PostgreSQL gave up on us because of others (serialization failure, deadlock); also where the graph has made a failure of it, which keeps what it came from. */
export function isGivenUp(error: unknown): boolean {
  if (givenUp.has(sqlState(error) ?? "")) return true;
  return error instanceof Error && error.cause !== undefined && isGivenUp(error.cause);
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
