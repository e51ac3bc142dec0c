/** Whether the process lives, and whether it can serve. */
import type { FastifyInstance } from "fastify";
import { sql } from "kysely";
import type { Database } from "#database/connect.ts";

const checkMsMax = 2_000;

export function mountHealth(server: FastifyInstance, db: Database): void {
  server.get("/healthz", { logLevel: "silent" }, (_request, reply) => reply.header("cache-control", "no-store").send({ status: "ok" }));
  server.get("/readyz", async (_request, reply) => {
    const isReady = await answersInTime(db);
    return reply
      .code(isReady ? 200 : 503)
      .header("cache-control", "no-store")
      .send({ status: isReady ? "ok" : "unavailable", checks: { database: isReady ? "ok" : "unavailable" } });
  });
}

/** Migrations are applied before anything listens, so a table of theirs that answers says both. */
async function answersInTime(db: Database): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), checkMsMax);
  const asked = sql`select 1 from merchant limit 1`.execute(db).then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([asked, promise]);
  } finally {
    clearTimeout(timer);
  }
}
