/** Builds everything and wires the floors together: the gateway gets its executor, the doors get what they show. `close` undoes it. */
import type { FastifyInstance } from "fastify";
import type { LogEvent } from "kysely";
import { createTokenVerifier, type VerifyAccessToken } from "#access/oauth/access-tokens.ts";
import { createRequestLog, type RequestLog } from "#access/requests/request-log.ts";
import { type CredentialDesk, createCredentials, type FindGrant } from "#access/credentials.ts";
import { createSigningKeys, type SigningKeys } from "#access/oauth/signing-keys.ts";
import { type OpenDatabase, openDatabase } from "#database/connect.ts";
import { createDoOnce } from "#database/idempotency.ts";
import { migrate } from "#database/migrate.ts";
import { shopLimits } from "#database/statement-pool.ts";
import { type Clock, systemClock } from "#foundation/clock.ts";
import type { Log } from "#foundation/log.ts";
import { createMemoryLimiter, type RateLimiter } from "#http/rate-limiter.ts";
import { createServer } from "#http/server.ts";
import type { GraphServices } from "#graph/context.ts";
import { createWatch } from "#graph/live/watch.ts";
import { createReads } from "#graph/reads.ts";
import { type Mesh, openMesh } from "#mesh/open-mesh.ts";
import type { Exchange } from "#observability/gathering.ts";
import type { Dispatcher } from "#webhooks/dispatch/dispatcher.ts";
import { createResolvedNames } from "#webhooks/endpoints/resolved-names.ts";
import type { ResolveName } from "#webhooks/resolve-name.ts";
import { type Background, createBackground, type Role } from "./background.ts";
import { tellingAfter, wakingAfter } from "./deliveries.ts";
import { mountDoors } from "./doors.ts";
import { readKeyring } from "./encryption-keys.ts";
import { createSubjectRender } from "./event-documents.ts";
import { createAppMetrics } from "./app-metrics.ts";
import { freePort } from "./free-port.ts";
import { mountPages } from "./mount-pages.ts";
import type { Payments } from "./payments.ts";
import { type OpenReplica, openReplica } from "./replica.ts";
import { createReporting, type Reporting } from "./reporting.ts";
import { publicUrlOf, type Settings } from "./settings.ts";

export interface AppOptions {
  readonly settings: Settings;
  readonly log: Log;
  readonly clock?: Clock;
  /** The folder of another `.meshrc.yaml` than the project's. */
  readonly meshFolder?: string;
  /** An open database to use instead of the settings'; it is not closed with the app. */
  readonly database?: OpenDatabase;
  readonly onStatement?: (event: LogEvent) => void;
  /** What this process does; everything unless told. */
  readonly role?: Role;
  /** Where a name leads to; DNS unless told. */
  readonly resolveName?: ResolveName;
  /** What counts requests instead of the settings'; it is closed with the app. */
  readonly limiter?: RateLimiter | undefined;
  /** Where this is one of several processes, which are measured as one. */
  readonly exchange?: Exchange | undefined;
}

export interface App {
  readonly server: FastifyInstance;
  readonly database: OpenDatabase;
  readonly clock: Clock;
  readonly publicUrl: string;
  readonly services: GraphServices;
  readonly payments: Payments;
  readonly deliveries: Dispatcher;
  readonly credentials: CredentialDesk;
  readonly requests: RequestLog;
  listen(): Promise<string>;
  close(): Promise<void>;
}

export async function createApp(options: AppOptions): Promise<App> {
  const { settings, log, clock = systemClock, role = "all" } = options;
  const port = settings.port === 0 ? await freePort(settings.host) : settings.port;
  const publicUrl = publicUrlOf({ ...settings, port });
  // Mesh and the database take their time without needing each other.
  const [mesh, database] = await Promise.all([openMesh(options.meshFolder), options.database ?? openConfigured(options)]);
  const metrics = createAppMetrics(
    { settings, database, clock, role, exchange: options.exchange },
    { subscriptions: () => watch.watchers(), isCurrent: () => background.isCurrent(), isLimiterAway: () => limiter.isAway() },
  );
  const limiter = metrics.ofLimiter(await createLimiter(options, clock));
  const keyring = readKeyring(settings);
  const doOnce = metrics.ofOnce(createDoOnce({ db: database.db, keyring, now: () => clock.now() }));
  const watch = createWatch(database.db, log);
  const replica = await openReplica({ settings, clock, onStatement: options.onStatement });
  const reporting = createReporting({ settings, database, replica, clock, log });
  const services: GraphServices = {
    db: database.db,
    clock,
    publicUrl,
    keyring,
    reads: createReads(database.db, clock),
    replica,
    watch,
    ...reporting.services,
    rateLimitScale: settings.rateLimitScale,
    doOnce,
    noteCost: metrics.onCost,
    render: wakingAfter(
      tellingAfter((transaction, subject) => render(services, transaction, subject), watch),
      () => background.wakeDeliveries(),
    ),
    wakePayments: () => background.wakePayments(),
    wakeDeliveries: () => background.wakeDeliveries(),
    resolvedNames: createResolvedNames(options.resolveName),
    isLoopbackAllowed: settings.webhookAllowLoopback,
  };
  const render = createSubjectRender(mesh);
  const { credentials, signingKeys } = createDesk(services, log, () => background.isCurrent());
  const { onAttempt } = metrics;
  const background = createBackground(services, { database, settings, log, role, onCredentials: credentials.hear, onAttempt });
  const requests = createRequestLog({ db: database.db, clock, log });
  const server = await createServer({ publicUrl, log, proxies: settings.trustProxy, observer: metrics.http });

  if (role !== "worker") mountDoors(server, { mesh, services, limiter, credentials, signingKeys, log, requests, settings });
  mountPages(server, { db: database.db, publicUrl, metrics: metrics.page }, role);

  const { payments, deliveries } = background;
  const parts = { server, database, clock, publicUrl, services, payments, deliveries, credentials, requests };
  const life = lifeOf({ ...parts, background, limiter, mesh, reporting, replica, listenAt: { host: settings.host, port } }, options);
  return { ...parts, ...life };
}

type Living = Pick<App, "server" | "database" | "publicUrl" | "credentials" | "requests"> & {
  readonly background: Background;
  readonly limiter: RateLimiter;
  readonly mesh: Mesh;
  readonly reporting: Reporting;
  readonly replica: OpenReplica | undefined;
  readonly listenAt: { readonly host: string; readonly port: number };
};

function lifeOf(
  { server, database, publicUrl, credentials, requests, background, limiter, mesh, reporting, replica, listenAt }: Living,
  options: Pick<AppOptions, "database">,
): Pick<App, "listen" | "close"> {
  return {
    listen: async () => {
      background.start();
      requests.start();
      reporting.start();
      await server.listen(listenAt);
      return publicUrl;
    },
    close: async () => {
      await server.close();
      await requests.stop();
      await background.stop();
      credentials.close();
      await limiter.close();
      mesh.close();
      await reporting.stop();
      await replica?.close();
      if (options.database === undefined) await database.close();
    },
  };
}

/** What verifies callers; it keeps what it knows of them for as long as it hears of every change. */
function createDesk(
  { db, clock, publicUrl, keyring }: GraphServices,
  log: Log,
  isCurrent: () => boolean,
): { readonly credentials: CredentialDesk; readonly signingKeys: SigningKeys } {
  const signingKeys = createSigningKeys({ db, keyring, clock, log });
  const createVerifier = (findGrant: FindGrant): VerifyAccessToken => createTokenVerifier({ db, clock, publicUrl, signingKeys, findGrant });
  return { credentials: createCredentials({ db, clock, isCurrent, createVerifier }), signingKeys };
}

async function createLimiter({ settings, log, limiter }: AppOptions, clock: Clock): Promise<RateLimiter> {
  if (limiter !== undefined) return limiter;
  const { redisUrl, rateLimitScale } = settings;
  if (redisUrl === undefined) return createMemoryLimiter(rateLimitScale, () => clock.now().getTime());
  const { createRedisLimiter } = await import("#http/redis-limiter.ts");
  return createRedisLimiter(redisUrl, rateLimitScale, log);
}

async function openConfigured({ settings, onStatement }: AppOptions): Promise<OpenDatabase> {
  const database = await openDatabase({
    url: settings.databaseUrl,
    directUrl: settings.databaseDirectUrl,
    poolSize: settings.databasePool,
    prepared: settings.databasePrepared,
    limits: shopLimits,
    folder: settings.databaseUrl === undefined ? settings.dataDir : undefined,
    onStatement,
  });
  try {
    await migrate(database);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}
