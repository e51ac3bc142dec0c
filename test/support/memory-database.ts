/**
 * A database without a server: a function in memory answers each statement. Tests of rules that read a few
 * rows need no PostgreSQL with it.
 */
import {
  type CompiledQuery,
  type DatabaseConnection,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from "kysely";
import type { Database } from "#database/connect.ts";

/** Creates a database whose statements are answered with the rows that `execute` returns. */
export function createMemoryDatabase(execute: (query: CompiledQuery) => readonly unknown[]): Database {
  const connection: DatabaseConnection = {
    executeQuery: <Row>(query: CompiledQuery): Promise<QueryResult<Row>> =>
      Promise.resolve({ rows: execute(query) as Row[] }),
    streamQuery: () => {
      throw new Error("No statement is read as a stream.");
    },
  };
  class MemoryDriver extends DummyDriver {
    override acquireConnection(): Promise<DatabaseConnection> {
      return Promise.resolve(connection);
    }
  }
  return new Kysely<never>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new MemoryDriver(),
      createIntrospector: (opened) => new PostgresIntrospector(opened),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  }) as unknown as Database;
}
