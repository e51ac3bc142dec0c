/** A pool whose statements are prepared once per connection, under a name made from their text. */
import { createHash } from "node:crypto";
import type { PostgresPool, PostgresPoolClient } from "kysely";
import type pg from "pg";

/** Beyond this many texts the next ones run unnamed: a prepared statement costs the server memory for as long as the connection lives. */
const namesMax = 1000;

export function preparedPool(pool: pg.Pool): PostgresPool {
  const names = new Map<string, string>();
  const wrappers = new WeakMap<pg.PoolClient, PostgresPoolClient>();

  const nameOf = (text: string): string | undefined => {
    let name = names.get(text);
    if (name === undefined && names.size < namesMax) {
      name = `q${createHash("sha1").update(text).digest("hex").slice(0, 20)}`;
      names.set(text, name);
    }
    return name;
  };

  const wrap = (client: pg.PoolClient): PostgresPoolClient =>
    ({
      get processID() {
        return "processID" in client ? client.processID : undefined;
      },
      release: (destroy?: boolean) => client.release(destroy),
      query: (text: string, values?: unknown[]) => {
        const name = typeof text === "string" && values !== undefined && values.length > 0 ? nameOf(text) : undefined;
        return name === undefined ? client.query(text, values) : client.query({ name, text, values: values ?? [] });
      },
    }) as unknown as PostgresPoolClient;

  return {
    options: pool.options,
    end: () => pool.end(),
    async connect() {
      const client = await pool.connect();
      let wrapper = wrappers.get(client);
      if (wrapper === undefined) {
        wrapper = wrap(client);
        wrappers.set(client, wrapper);
      }
      return wrapper;
    },
  };
}
