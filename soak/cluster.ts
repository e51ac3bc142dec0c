/**
 * Starts the deployment that the runbook describes on one machine: two gateways and two workers on one
 * PostgreSQL, and nginx in front of the gateways. If installed, PgBouncer pools the database connections, and
 * Redis counts the requests of both gateways.
 */
import { type OpenedDatabase, openDatabase } from "#database/connect.ts";
import { hasRedis, startBalancer, startRedis } from "#test/support/balancer.ts";
import { hasPooler, startPooler } from "#test/support/pooler.ts";
import { createHttpSender, type Service, startService } from "./service.ts";
import type { DemoCredentials, SendRequest } from "./shop.ts";

export interface ClusterOptions {
  readonly databaseUrl: string;
  /** The folder with demo.json; if left out, a process that ends afterwards seeds the demo. */
  readonly folder?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

export interface Cluster extends AsyncDisposable {
  /** The port of nginx. */
  readonly port: number;
  /** Sends a request through nginx. */
  readonly ask: SendRequest;
  readonly access: DemoCredentials;
  readonly folder: string;
  readonly gateways: readonly [Service, Service];
  readonly workers: readonly [Service, Service];
  /** The database, connected directly and not through PgBouncer. */
  readonly database: OpenedDatabase;
  /** Returns the unexpected events of all processes, for example that one ended by itself. */
  faults(): readonly string[];
}

export async function startCluster({
  databaseUrl,
  folder,
  environment = {},
}: ClusterOptions): Promise<Cluster> {
  await using stack = new AsyncDisposableStack();
  const pooler = hasPooler ? stack.use(await startPooler(databaseUrl)) : undefined;
  const redis = hasRedis ? stack.use(await startRedis()) : undefined;
  const seeder = folder === undefined ? stack.use(await startService({ databaseUrl })) : undefined;
  await seeder?.kill();
  const home = folder ?? seeder?.folder ?? "";
  const shared = {
    TRUST_PROXY: "1",
    DATABASE_POOL: "4",
    WEBHOOK_ALLOW_LOOPBACK: "1",
    DEMO: "0",
    ...(redis === undefined ? {} : { REDIS_URL: `redis://127.0.0.1:${redis.port}` }),
    // PgBouncer supports LISTEN in no version. The service itself finds out that PgBouncer supports prepared
    // statements only from version 1.21 on.
    ...(pooler === undefined ? {} : { DATABASE_DIRECT_URL: databaseUrl }),
    ...environment,
  };
  const start = async (command: "gateway" | "worker"): Promise<Service> =>
    stack.use(
      await startService({
        command,
        databaseUrl: pooler?.url ?? databaseUrl,
        folder: home,
        environment: shared,
      }),
    );
  const [first, second, worker, other] = await Promise.all([
    start("gateway"),
    start("gateway"),
    start("worker"),
    start("worker"),
  ]);
  const balancer = stack.use(await startBalancer([first.port, second.port]));
  const database = await openDatabase({ url: databaseUrl });
  stack.defer(() => database.close());
  const all = stack.move();
  return {
    port: balancer.port,
    ask: createHttpSender(balancer.port),
    access: first.access,
    folder: home,
    gateways: [first, second],
    workers: [worker, other],
    database,
    faults: () => [first, second, worker, other].flatMap(({ faults }) => faults),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}
