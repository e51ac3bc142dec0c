/** Builds everything and wires the floors together: the gateway gets its executor, the doors get what they show. `close` undoes it. */
import { createServer as createSocketServer, type AddressInfo } from "node:net";
import { compileQuery, isCompiledQuery } from "graphql-jit";
import type { FastifyInstance } from "fastify";
import type { GraphQLSchema } from "graphql";
import type { LogEvent } from "kysely";
import { recordTokenUse, verifyInternalToken } from "#access/internal-tokens.ts";
import { type OpenDatabase, openDatabase } from "#database/connect.ts";
import { createDoOnce } from "#database/idempotency.ts";
import { migrate } from "#database/migrate.ts";
import { type Clock, systemClock } from "#foundation/clock.ts";
import { createKeyring } from "#foundation/encryption.ts";
import { parseAcceptLanguage } from "#foundation/locales.ts";
import type { Log } from "#foundation/log.ts";
import type { GatewayServices } from "#gateway/call.ts";
import { type Operation, readContract } from "#gateway/contract.ts";
import { authenticate } from "#gateway/credentials.ts";
import { openMesh } from "#gateway/mesh.ts";
import { toOpenApi } from "#gateway/openapi.ts";
import { mountOperations } from "#gateway/operations.ts";
import { createMemoryLimiter, createRedisLimiter, type RateLimiter } from "#gateway/rate-limiter.ts";
import { createServer, refuseOtherMethods } from "#gateway/server.ts";
import { respelledSchema } from "#gateway/spelling.ts";
import { createContext, type GraphServices } from "#graph/context.ts";
import { mountGraphiql } from "#web/graphiql-page.ts";
import { mountGraphql } from "#web/graphql.ts";
import { mountHealth } from "#web/health.ts";
import { mountPictures } from "#web/pictures.ts";
import { loadEncryptionKeys } from "./encryption-keys.ts";
import { compileSubjects } from "./event-documents.ts";
import { createPayments, type Payments } from "./payments.ts";
import type { Settings } from "./settings.ts";
import { startSweeps } from "./sweeps.ts";

export interface AppOptions {
  readonly settings: Settings;
  readonly log: Log;
  readonly clock?: Clock;
  /** An open database to use instead of the settings'; it is not closed with the app. */
  readonly database?: OpenDatabase;
  readonly onStatement?: (event: LogEvent) => void;
}

export interface App {
  readonly server: FastifyInstance;
  readonly database: OpenDatabase;
  readonly clock: Clock;
  readonly publicUrl: string;
  readonly services: GraphServices;
  readonly payments: Payments;
  listen(): Promise<string>;
  close(): Promise<void>;
}

/** The embedded database has one connection, which goes round: so many may wait for it, and a slow provider delays nobody else. */
const embeddedTurns = 8;

export async function createApp(options: AppOptions): Promise<App> {
  const { settings, log, clock = systemClock } = options;
  const port = settings.port === 0 ? await freePort(settings.host) : settings.port;
  const publicUrl = settings.publicUrl ?? `http://${settings.host.includes(":") ? `[${settings.host}]` : settings.host}:${port}`;
  // Mesh and the database take their time without needing each other.
  const [mesh, database] = await Promise.all([openMesh(), options.database ?? openConfigured(options)]);
  const limiter = createLimiter(options, clock);
  const schema = respelledSchema(mesh.schema);
  const keyring = createKeyring(settings.encryptionKeys ?? loadEncryptionKeys(settings.dataDir));
  const doOnce = createDoOnce({ db: database.db, keyring, now: () => clock.now() });
  const services: GraphServices = {
    db: database.db,
    clock,
    publicUrl,
    keyring,
    rateLimitScale: settings.rateLimitScale,
    render: (transaction, subject) => render(services, transaction, subject),
    wakePayments: () => payments.wake(),
  };
  const render = compileSubjects(schema);
  const payments = createPayments(services, { log, connections: database.engine === "pglite" ? embeddedTurns : settings.databasePool });
  const server = await createServer({ publicUrl, log, proxies: settings.trustProxy });

  const { operations, components } = readContract(schema, mesh.documents);
  mountOperations(server, { db: database.db, clock, publicUrl, limiter, doOnce, compile: compilerOf(schema, services) }, operations);
  mountDocument(server, JSON.stringify(toOpenApi(operations, components), null, 2));
  mountGraphql(server, {
    schema: mesh.schema,
    plugins: mesh.plugins,
    services,
    log,
    corsOrigins: settings.corsOrigins,
    doOnce,
    authenticate: internalAuthentication(services, limiter),
  });
  mountPages(server, database);
  refuseOtherMethods(server, "/graphql", settings.corsOrigins.length > 0 ? ["GET", "POST", "OPTIONS"] : ["GET", "POST"]);

  let stopSweeps: (() => Promise<void>) | undefined;
  return {
    server,
    database,
    clock,
    publicUrl,
    services,
    payments,
    listen: async () => {
      stopSweeps = startSweeps(services, log);
      payments.start();
      await server.listen({ host: settings.host, port });
      return publicUrl;
    },
    close: async () => {
      await stopSweeps?.();
      await server.close();
      await payments.stop();
      await limiter.close();
      mesh.close();
      if (options.database === undefined) await database.close();
    },
  };
}

function createLimiter({ settings, log }: AppOptions, clock: Clock): RateLimiter {
  const { redisUrl, rateLimitScale } = settings;
  return redisUrl === undefined
    ? createMemoryLimiter(rateLimitScale, () => clock.now().getTime())
    : createRedisLimiter(redisUrl, rateLimitScale, log);
}

function mountPages(server: FastifyInstance, { db }: OpenDatabase): void {
  mountGraphiql(server);
  mountHealth(server, db);
  mountPictures(server);
  for (const path of ["/healthz", "/readyz", "/media/demo/:file"]) refuseOtherMethods(server, path, ["GET"]);
}

async function openConfigured({ settings, onStatement }: AppOptions): Promise<OpenDatabase> {
  const database = await openDatabase({
    url: settings.databaseUrl,
    directUrl: settings.databaseDirectUrl,
    poolSize: settings.databasePool,
    prepared: settings.databasePrepared,
    limits: { aloneMs: 2_500, inTransactionMs: 10_000 },
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

/** Each document is compiled once, on the schema that spells enums as REST does. */
function compilerOf(schema: GraphQLSchema, services: GraphServices): GatewayServices["compile"] {
  return ({ id, document, languageField }: Operation) => {
    const compiled = compileQuery(schema, document, id);
    if (!isCompiledQuery(compiled)) throw new Error(`schema/operations: ${id} does not compile: ${compiled.errors?.[0]?.message}`);
    return ({ viewer, requestId, request, variables }, transaction) => {
      // Only what says that it varies by Accept-Language may.
      const languages = languageField === null ? [] : parseAcceptLanguage(request.headers["accept-language"]);
      return compiled.query(undefined, createContext(services, { viewer, requestId, languages, operationId: id }, transaction), variables);
    };
  };
}

function internalAuthentication({ db, clock, publicUrl }: GraphServices, limiter: RateLimiter): Parameters<typeof mountGraphql>[1]["authenticate"] {
  return async (request) => {
    const viewer = await authenticate(request, { limiter, publicUrl, verify: (token) => verifyInternalToken(db, token, clock.now()) });
    void recordTokenUse(db, viewer.tokenId, clock.now()).catch(() => undefined);
    return viewer;
  };
}

function mountDocument(server: FastifyInstance, document: string): void {
  server.get("/openapi.json", (_request, reply) =>
    reply
      .header("access-control-allow-origin", "*")
      .header("cache-control", "public, max-age=60")
      .type("application/json; charset=utf-8")
      .send(document),
  );
  refuseOtherMethods(server, "/openapi.json", ["GET"]);
}

/** Addresses in answers are absolute, so the port must be known before anything is built. */
function freePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createSocketServer();
    probe.once("error", reject);
    probe.listen(0, host, () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
