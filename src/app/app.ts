/**
 * Creates the service that runs in one process: first the shared services, then the HTTP plugins in the order
 * of their registration, then the background work.
 */
import { findFreePort } from "#foundation/free-port.ts";
import type { FastifyInstance } from "fastify";
import type { LogEvent } from "kysely";
import type { ClosableCredentialVerifier } from "#access/credentials.ts";
import { createApiRequestLog, type ApiRequestLog } from "#access/request-log.ts";
import type { ExportWorker } from "#commerce/exports/export-worker.ts";
import { createCachedTrustedDocumentFinder, type TrustedDocumentFinder } from "#access/trusted-documents.ts";
import type { OpenedDatabase } from "#database/connect.ts";
import { createIdempotentRequestRunner } from "#database/idempotency.ts";
import { type Clock, systemClock } from "#foundation/clock.ts";
import { createInProcessEventEmitter } from "#foundation/events.ts";
import type { Log } from "#foundation/log.ts";
import { buildRestOperationsAndOpenApiDocument } from "#gateway/api-description.ts";
import { listenCommandEventsPlugin } from "#gateway/listen/plugin.ts";
import { restGatewayPlugin } from "#gateway/plugin.ts";
import { paymentProviderWebhookPlugin } from "#gateway/provider-events-plugin.ts";
import type { GraphqlServices } from "#graph/context.ts";
import { createSubscriptionDatabasePollers } from "#graph/live/watch.ts";
import {
  createCartOrderAndProductReadCoalescers,
  createKnownCartsAndOrders,
} from "#graph/shared-aggregate-reads.ts";
import { createKeptGraphqlResults } from "#graph/kept-result-memory.ts";
import { createInternalTokenOrStaffAuthenticator } from "#graphql/authenticate.ts";
import { graphqlPlugin } from "#graphql/plugin.ts";
import { exportDownloadPlugin } from "#graphql/reports/exports-plugin.ts";
import { csvReportsPlugin } from "#graphql/reports/plugin.ts";
import type { RateLimiter } from "#http/rate-limiter.ts";
import { createFastifyServer } from "#http/server.ts";
import { mcpPlugin } from "#mcp/plugin.ts";
import { type OpenedMesh, openGraphqlMesh } from "#mesh/open-mesh.ts";
import { oauthPlugin } from "#oauth/plugin.ts";
import { createSsrfSafeFetch, type SsrfSafeFetch } from "#webhooks/safe-fetch.ts";
import type { ChildToParentMetricsConnection } from "#observability/gather-metrics.ts";
import { createServiceMetrics } from "#observability/service-metrics.ts";
import { createQueueMetricsReader } from "#observability/queue-metrics.ts";
import { createPrometheusExposition, healthPlugin, metricsPlugin } from "#observability/plugin.ts";
import { checkoutPlugin } from "#pages/checkout/plugin.ts";
import { consolePlugin } from "#pages/console/plugin.ts";
import { demoPicturesPlugin } from "#pages/demo-pictures.ts";
import { docsPlugin } from "#pages/docs/plugin.ts";
import { graphiqlPlugin } from "#pages/graphiql/plugin.ts";
import { assetsPlugin } from "#pages/shared/assets.ts";
import { listEventCatalogue } from "#webhooks/event-catalogue.ts";
import { landingPagePlugin } from "#pages/landing/plugin.ts";
import { createEndpointHostNameChecker } from "#webhooks/endpoint-url.ts";
import type { WebhookDispatcher } from "#webhooks/dispatch/dispatcher.ts";
import type { HostNameResolver } from "#webhooks/safe-addresses.ts";
import {
  createServiceBackgroundWorkers,
  type ExternalRequestReplacements,
  type PaymentBackgroundWork,
  type ProcessRole,
} from "./background.ts";
import { createInterProcessNoticeChannel } from "#database/notices.ts";
import { createSigningKeysAndCredentialVerifier } from "./credentials.ts";
import { createEncryptionKeyringFromSettings } from "./encryption-keys.ts";
import { createConfiguredRateLimiter, openConfiguredDatabase } from "./open-resources.ts";
import { createReportRunnerAndSearchCounter, openDatabaseReplica } from "./replica.ts";
import { createPaymentEventRoute } from "./provider-events.ts";
import { createConfiguredAnswerMemory, createConfiguredResponseCache } from "./response-validity.ts";
import { createGraphqlServices, createEventSubjectRenderer } from "./services.ts";
import { getPublicUrl, type ServiceSettings } from "./settings.ts";

export interface ServiceAppOptions {
  readonly settings: ServiceSettings;
  readonly log: Log;
  readonly clock?: Clock;
  /** The folder of `.meshrc.yaml`; the project's folder if left out. */
  readonly meshFolder?: string;
  /** An open GraphQL Mesh, which several services of one process share; `close` of the service closes it. */
  readonly mesh?: OpenedMesh;
  /** Replaces the requests to webhook receivers and payment providers. Only the simulation uses this option. */
  readonly external?: ExternalRequestReplacements;
  /**
   * An open database. The caller must close it, because `close` of the service does not. If left out, the
   * service opens and closes the database that the settings name.
   */
  readonly database?: OpenedDatabase;
  readonly onStatement?: (event: LogEvent) => void;
  /** The role of this process: `all` (the default), `gateway` or `worker`. */
  readonly role?: ProcessRole;
  /** Resolves the host names of webhook endpoints to IP addresses; with DNS by default. */
  readonly resolveName?: HostNameResolver;
  /** Fetches the OAuth client metadata documents of AI agents; by default only from public IP addresses. */
  readonly fetchDocument?: SsrfSafeFetch["fetch"];
  /**
   * The rate limiter that the service uses; `close` of the service also closes the rate limiter. If left out,
   * the service creates the rate limiter that the settings describe.
   */
  readonly limiter?: RateLimiter | undefined;
  /**
   * The connection to the parent process for adding up the metrics of all processes of the service; undefined
   * if the service has only one process.
   */
  readonly exchange?: ChildToParentMetricsConnection | undefined;
}

export interface ServiceApp {
  readonly server: FastifyInstance;
  readonly database: OpenedDatabase;
  readonly clock: Clock;
  readonly publicUrl: string;
  readonly services: GraphqlServices;
  readonly payments: PaymentBackgroundWork;
  readonly deliveries: WebhookDispatcher;
  readonly exports: ExportWorker;
  readonly credentials: ClosableCredentialVerifier;
  readonly trustedDocuments: TrustedDocumentFinder;
  readonly requests: ApiRequestLog;
  /** Starts the background work. `listen` calls this function; tests without a socket call it themselves. */
  start(): void;
  listen(): Promise<string>;
  /**
   * Makes `/readyz` answer 503, so that load balancers send no new requests to this process. The service
   * still answers all requests that it receives.
   */
  readonly drain: () => void;
  close(): Promise<void>;
}

export async function createServiceApp(options: ServiceAppOptions): Promise<ServiceApp> {
  const parts = await createParts(options);
  let isDraining = false;
  const server = await createHttpServer(parts, options, () => isDraining);
  const { settings } = options;
  const {
    database,
    services,
    background,
    credentials,
    trustedDocuments,
    requests,
    notices,
    limiter,
    mesh,
    reporting,
    replica,
    port,
  } = parts;
  const start = (): void => {
    notices.start();
    background.start();
    requests.start();
    reporting.start();
    replica?.lag.start();
  };
  return {
    server,
    database,
    clock: services.clock,
    publicUrl: services.publicUrl,
    services,
    payments: background.payments,
    deliveries: background.deliveries,
    exports: background.exports,
    credentials,
    trustedDocuments,
    requests,
    start,
    listen: async () => {
      start();
      await server.listen({ host: settings.host, port });
      return services.publicUrl;
    },
    drain: () => {
      isDraining = true;
    },
    close: async () => {
      await server.close();
      await requests.stop();
      await notices.stop();
      await background.stop();
      credentials.close();
      trustedDocuments.close();
      await limiter.close();
      mesh.close();
      await reporting.stop();
      await replica?.close();
      if (options.database === undefined) await database.close();
    },
  };
}

type Parts = Awaited<ReturnType<typeof createParts>>;

/**
 * Creates the services that both the HTTP plugins and the background work use. A service is created after the
 * services that it needs.
 */
async function createParts(options: ServiceAppOptions) {
  const { settings, log, clock = systemClock, role = "all" } = options;
  const port = settings.port === 0 ? await findFreePort(settings.host) : settings.port;
  const publicUrl = getPublicUrl({ ...settings, port });
  const events = createInProcessEventEmitter();
  // GraphQL Mesh and the database are opened at the same time (not one after the other), so that the service
  // starts faster.
  const [mesh, database] = await Promise.all([
    options.mesh ?? openGraphqlMesh(options.meshFolder),
    options.database ?? openConfiguredDatabase(options),
  ]);
  const { db } = database;
  const metrics = createServiceMetrics({ role, engine: database.engine }, events);
  const limiter = metrics.measureLimiter(await createConfiguredRateLimiter(options, clock));
  const keyring = createEncryptionKeyringFromSettings(settings);
  const doOnce = metrics.measureDoOnce(createIdempotentRequestRunner({ db, keyring, clock }));
  const watch = createSubscriptionDatabasePollers(db, events, log);
  const memory = createConfiguredAnswerMemory(settings);
  const known = memory === undefined ? undefined : createKnownCartsAndOrders(memory);
  const replica = await openDatabaseReplica({ ...options, primary: db, clock, known });
  const reporting = createReportRunnerAndSearchCounter({ settings, database, replica, clock, log });
  const shared = {
    db,
    clock,
    publicUrl,
    keyring,
    replica,
    watch,
    doOnce,
    events,
    checkDocument: mesh.checkDocument,
    ...reporting.services,
    reads: createCartOrderAndProductReadCoalescers(db, clock, known),
    keptResults: memory === undefined ? undefined : createKeptGraphqlResults(memory),
    rateLimitScale: settings.rateLimitScale,
    cartRetentionDays: settings.cartRetentionDays,
    resolvedNames: createEndpointHostNameChecker(options.resolveName),
    isLoopbackAllowed: settings.webhookAllowLoopback,
    stripeApiBase: settings.stripeApiBase,
  };
  const services = createGraphqlServices(shared, createEventSubjectRenderer(mesh));
  const notices = createInterProcessNoticeChannel(database, events, log);
  const access = createSigningKeysAndCredentialVerifier({ ...shared, log, isCurrent: notices.isCurrent });
  const trustedDocuments = createCachedTrustedDocumentFinder({ ...shared, isCurrent: notices.isCurrent });
  const responseCache = createConfiguredResponseCache(memory, shared, notices);
  const background = createServiceBackgroundWorkers(services, { ...options, database, notices, role });
  metrics.addStateReadings({
    pool: () => database.pool(),
    subscriptions: watch.watchers,
    isReceivingNotices: notices.isReceiving,
    isLimiterAway: () => limiter.isAway(),
    replicaLagSeconds: () => replica?.lag.lagSeconds() ?? 0,
    isReplicaBehind: () => replica?.lag.isBehind() === true,
    responseCache: () => memory?.usage() ?? { bytes: 0, entries: 0 },
  });
  return {
    port,
    mesh,
    database,
    metrics,
    limiter,
    replica,
    reporting,
    services,
    notices,
    ...access,
    trustedDocuments,
    requests: createApiRequestLog({ db, clock, log }),
    responseCache,
    background,
  };
}

/**
 * Creates the HTTP server and registers its plugins in a fixed order. A process with the role `worker` serves
 * only health checks and metrics.
 */
async function createHttpServer(
  parts: Parts,
  { settings, log, role = "all", exchange, fetchDocument }: ServiceAppOptions,
  isDraining: () => boolean,
): Promise<FastifyInstance> {
  const { mesh, metrics, limiter, services, signingKeys, credentials, trustedDocuments } = parts;
  const { publicUrl, db, clock } = services;
  const { run } = mesh;
  const server = await createFastifyServer({
    publicUrl,
    log,
    proxies: settings.trustProxy,
    observer: metrics.http,
  });
  await server.register(healthPlugin, { db, isDraining });
  await server.register(metricsPlugin, {
    ...createPrometheusExposition({
      registry: metrics.registry,
      readQueue: createQueueMetricsReader({ db, clock }),
      exchange,
    }),
    token: settings.metricsToken,
    isBehindProxy: settings.trustProxy > 0,
  });
  if (role === "worker") return server;
  const api = buildRestOperationsAndOpenApiDocument(mesh);
  const authentication = createInternalTokenOrStaffAuthenticator({ services, limiter, credentials });
  await server.register(restGatewayPlugin, { ...parts, api, run, log });
  await server.register(graphqlPlugin, {
    mesh,
    services,
    log,
    limiter,
    isPageAllowed: async (origin) =>
      settings.corsOrigins.includes(origin) || (await credentials.isBrowserOrigin(origin)),
    authentication,
    trustedDocuments,
  });
  await server.register(listenCommandEventsPlugin, { services, limiter, credentials, authentication });
  await server.register(csvReportsPlugin, { run, services, authentication, limiter });
  await server.register(exportDownloadPlugin, { services, authentication, limiter });
  await server.register(mcpPlugin, {
    api,
    services: { ...services, limiter, credentials },
    listEventExamples: () => listEventCatalogue(publicUrl),
  });
  const safeFetch = createSsrfSafeFetch();
  server.addHook("onClose", safeFetch.close);
  await server.register(oauthPlugin, {
    services,
    signingKeys,
    limiter,
    log,
    fetchDocument: fetchDocument ?? safeFetch.fetch,
  });
  await server.register(consolePlugin, { services, limiter, log });
  await server.register(checkoutPlugin, { services, run, limiter, log });
  await server.register(paymentProviderWebhookPlugin, { ...createPaymentEventRoute(services), limiter });
  await server.register(docsPlugin, {
    document: api.document,
    publicUrl,
    settings,
    listEventExamples: () => listEventCatalogue(publicUrl),
  });
  await server.register(graphiqlPlugin, { publicUrl, settings });
  await server.register(landingPagePlugin, { publicUrl, settings });
  await server.register(assetsPlugin);
  await server.register(demoPicturesPlugin);
  return server;
}
