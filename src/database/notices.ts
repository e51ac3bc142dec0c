/**
 * Word between the processes on one PostgreSQL (LISTEN, NOTIFY). It is only ever a reason to look at once: whoever misses it looks from time to time
 * anyway, so a connection that breaks is opened again and nothing else is done about it.
 */
import { type Kysely, sql } from "kysely";
import { Client, type ClientConfig } from "pg";
import type { Tables } from "./tables.ts";

const reconnectMs = 1_000;

/** Gives how it ends. `onNotice` is told the payload, and an empty one whenever something may have been missed. */
export function listen(connection: ClientConfig, channel: string, onNotice: (payload: string) => void): () => Promise<void> {
  let client: Client | undefined;
  let again: NodeJS.Timeout | undefined;
  let isOver = false;
  const connect = async (): Promise<void> => {
    const opening = new Client(connection);
    client = opening;
    opening.on("notification", ({ payload }) => onNotice(payload ?? ""));
    opening.on("error", () => undefined);
    opening.once("end", () => {
      if (!isOver) again = setTimeout(() => void tryToConnect(), reconnectMs);
    });
    await opening.connect();
    await opening.query(`listen ${opening.escapeIdentifier(channel)}`);
    onNotice("");
  };
  const tryToConnect = (): Promise<void> => connect().catch(() => client?.end().catch(() => undefined));
  void tryToConnect();
  return async () => {
    isOver = true;
    clearTimeout(again);
    await client?.end().catch(() => undefined);
  };
}

/** So many notices in one moment are one: each takes a lock that all commits of the server share. */
const togetherMs = 5;

/** Tells the listeners, at once or a moment later, and never fails: they look from time to time. */
export function createTeller(db: Kysely<Tables>, channel: string): (payload: string) => void {
  const waiting = new Set<string>();
  const tell = (payload: string): void => {
    waiting.delete(payload);
    void sql`select pg_notify(${channel}, ${payload})`.execute(db).catch(() => undefined);
  };
  return (payload) => {
    if (waiting.has(payload)) return;
    waiting.add(payload);
    setTimeout(() => tell(payload), togetherMs);
  };
}
