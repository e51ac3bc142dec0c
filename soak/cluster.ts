/**
 * What the runbook describes, on one machine: two gateways and two workers on one PostgreSQL, which they
 * reach through PgBouncer where that is installed, nginx in front of the gateways, and Redis counting
 * requests for both.
 */
import { type OpenDatabase, openDatabase } from "#database/connect.ts";
import { hasRedis, startBalancer, startRedis } from "#test/support/balancer.ts";
import { hasPooler, startPooler } from "#test/support/pooler.ts";
import { sendOverHttp, type Service, startService } from "./service.ts";
import type { DemoCredentials, Ask } from "./shop.ts";

export interface ClusterOptions {
  readonly databaseUrl: string;
  /** With demo.json; without it the demo is seeded first, by a process that ends. */
  readonly folder?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

export interface Cluster extends AsyncDisposable {
  /** Where nginx listens. */
  readonly port: number;
  /** Through nginx. */
  readonly ask: Ask;
  readonly access: DemoCredentials;
  readonly folder: string;
  readonly gateways: readonly [Service, Service];
  readonly workers: readonly [Service, Service];
  /** PostgreSQL itself, not through the pooler. */
  readonly database: OpenDatabase;
  /** What any of them did that nobody asked for. */
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
    // PgBouncer knows prepared statements from 1.21 on, and in no version what a session listens to.
    ...(pooler === undefined ? {} : { DATABASE_DIRECT_URL: databaseUrl, DATABASE_PREPARED: "0" }),
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
    ask: sendOverHttp(balancer.port),
    access: first.access,
    folder: home,
    gateways: [first, second],
    workers: [worker, other],
    database,
    faults: () => [first, second, worker, other].flatMap(({ faults }) => faults),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}
