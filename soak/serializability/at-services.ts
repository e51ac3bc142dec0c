/**
 * Runs `serializability` at processes of the service. On PostgreSQL, the clients use two processes, which
 * reach the database through PgBouncer if it is installed.
 */
import { hasPooler, startPooler } from "#test/support/pooler.ts";
import type { Report } from "../report.ts";
import { startService } from "../service.ts";
import { runSerializability } from "./serializability.ts";

export interface SerializabilityOptions {
  /** The URL of PostgreSQL; undefined for the embedded database. */
  readonly databaseUrl: string | undefined;
  readonly isOver: () => boolean;
  /** The maximum number of operations; Infinity for no maximum. */
  readonly roundsMax: number;
  readonly onStep: (text: string) => void;
}

export async function runSerializabilityAtServices({
  databaseUrl,
  isOver,
  roundsMax,
  onStep,
}: SerializabilityOptions): Promise<Report> {
  await using stack = new AsyncDisposableStack();
  const pooler = databaseUrl === undefined || !hasPooler ? undefined : await startPooler(databaseUrl);
  if (pooler !== undefined) stack.use(pooler);
  const place =
    pooler === undefined
      ? { databaseUrl }
      : { databaseUrl: pooler.url, environment: { DATABASE_DIRECT_URL: databaseUrl ?? "" } };
  const service = stack.use(await startService(place));
  const { ask, access, engine, folder } = service;
  const others = databaseUrl === undefined ? [] : [stack.use(await startService({ ...place, folder }))];
  const services = [service, ...others];
  const report = await runSerializability({
    engine,
    ports: services.map(({ port }) => port),
    ask,
    access,
    clients: 16,
    partSize: 20_000,
    isOver: ({ operations }) => operations >= roundsMax || isOver(),
    onStep,
  });
  return { ...report, violations: [...report.violations, ...services.flatMap(({ faults }) => faults)] };
}
