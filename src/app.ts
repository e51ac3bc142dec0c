/** Builds everything and wires the floors together: the gateway gets its executor, the doors get what they show. `close` undoes it. */
import type { FastifyInstance } from "fastify";
import type { GraphQLSchema } from "graphql";
import type { LogEvent } from "kysely";
import { createTokenVerifier, type VerifyAccessToken } from "#access/oauth/access-tokens.ts";
import { type CredentialDesk, type Credentials, createCredentials, type FindGrant } from "#access/credentials.ts";
import { recordTokenUse } from "#access/keys/internal-tokens.ts";
import type { InternalViewer } from "#access/viewer.ts";
import { createSigningKeys, type SigningKeys } from "#access/oauth/signing-keys.ts";
import { type OpenDatabase, openDatabase } from "#database/connect.ts";
import { createDoOnce } from "#database/idempotency.ts";
import { migrate } from "#database/migrate.ts";
import { type Clock, systemClock } from "#foundation/clock.ts";
import { fail } from "#foundation/failure.ts";
import { parseAcceptLanguage } from "#foundation/locales.ts";
import type { Log } from "#foundation/log.ts";
import type { GatewayServices } from "#gateway/call.ts";
import { compileDocument } from "#gateway/compile-document.ts";
import type { Operation } from "#gateway/contract.ts";
import { type Authentication, authenticate } from "#gateway/credentials.ts";
import { type Mesh, openMesh } from "#gateway/mesh.ts";
import { mountOperations } from "#gateway/operations.ts";
import { createMemoryLimiter, type RateLimiter } from "#gateway/rate-limiter.ts";
import { createServer, refuseOtherMethods } from "#gateway/server.ts";
import { respelledSchema } from "#gateway/spelling.ts";
import { createContext, type GraphServices } from "#graph/context.ts";
import { createReads } from "#graph/reads.ts";
import { mountGraphiql } from "#web/graphiql-page.ts";
import { type GraphqlDoor, mountGraphql } from "#web/graphql.ts";
import { mountHealth } from "#web/health.ts";
import { mountPictures } from "#web/pictures.ts";
import type { Dispatcher } from "#webhooks/dispatch/dispatcher.ts";
import { createResolvedNames } from "#webhooks/endpoints/resolved-names.ts";
import type { ResolveName } from "#webhooks/resolve-name.ts";
import { describeApi } from "./api-description.ts";
import { mountAuthorizationServer } from "./authorization-server.ts";
import { createBackground, type Role } from "./background.ts";
import { wakingAfter } from "./deliveries.ts";
import { readKeyring } from "./encryption-keys.ts";
import { compileSubjects } from "./event-documents.ts";
import { freePort } from "./free-port.ts";
import type { Payments } from "./payments.ts";
import { createPreparation } from "./preparation.ts";
import { publicUrlOf, type Settings } from "./settings.ts";

export interface AppOptions {
  readonly settings: Settings;
  readonly log: Log;
  readonly clock?: Clock;
  /** An open database to use instead of the settings'; it is not closed with the app. */
  readonly database?: OpenDatabase;
  readonly onStatement?: (event: LogEvent) => void;
  /** What this process does; everything unless told. */
  readonly role?: Role;
  /** Where a name leads to; DNS unless told. */
  readonly resolveName?: ResolveName;
  /** What counts requests instead of the settings'; it is closed with the app. */
  readonly limiter?: RateLimiter | undefined;
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
  listen(): Promise<string>;
  close(): Promise<void>;
}

export async function createApp(options: AppOptions): Promise<App> {
  const { settings, log, clock = systemClock, role = "all" } = options;
  const port = settings.port === 0 ? await freePort(settings.host) : settings.port;
  const publicUrl = publicUrlOf({ ...settings, port });
  // Mesh and the database take their time without needing each other.
  const [mesh, database] = await Promise.all([openMesh(), options.database ?? openConfigured(options)]);
  const limiter = await createLimiter(options, clock);
  const schema = respelledSchema(mesh.schema);
  const keyring = readKeyring(settings);
  const doOnce = createDoOnce({ db: database.db, keyring, now: () => clock.now() });
  const services: GraphServices = {
    db: database.db,
    clock,
    publicUrl,
    keyring,
    reads: createReads(database.db, clock),
    rateLimitScale: settings.rateLimitScale,
    render: wakingAfter(
      (transaction, subject) => render(services, transaction, subject),
      () => background.wakeDeliveries(),
    ),
    wakePayments: () => background.wakePayments(),
    wakeDeliveries: () => background.wakeDeliveries(),
    resolvedNames: createResolvedNames(options.resolveName),
    isLoopbackAllowed: settings.webhookAllowLoopback,
  };
  const render = compileSubjects(schema);
  const { credentials, signingKeys } = createDesk(services, log, () => background.isCurrent());
  const background = createBackground(services, { database, settings, log, role, onCredentials: credentials.hear });
  const server = await createServer({ publicUrl, log, proxies: settings.trustProxy });

  if (role !== "worker")
    mountDoors(server, { mesh, schema, services, limiter, credentials, signingKeys, doOnce, log, corsOrigins: settings.corsOrigins });
  mountPages(server, database, role);

  return {
    server,
    database,
    clock,
    publicUrl,
    services,
    payments: background.payments,
    deliveries: background.deliveries,
    credentials,
    listen: async () => {
      background.start();
      await server.listen({ host: settings.host, port });
      return publicUrl;
    },
    close: async () => {
      await server.close();
      await background.stop();
      credentials.close();
      await limiter.close();
      mesh.close();
      if (options.database === undefined) await database.close();
    },
  };
}

interface Doors extends Pick<GraphqlDoor, "services" | "log" | "corsOrigins" | "doOnce"> {
  readonly mesh: Mesh;
  /** As REST spells it. */
  readonly schema: GraphQLSchema;
  readonly limiter: RateLimiter;
  readonly credentials: Credentials;
  readonly signingKeys: SigningKeys;
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

/** REST with its document, and the graph. */
function mountDoors(server: FastifyInstance, { mesh, schema, services, limiter, credentials, signingKeys, ...door }: Doors): void {
  const { db, clock, publicUrl, resolvedNames } = services;
  const { doOnce, corsOrigins } = door;
  const prepare = createPreparation(resolvedNames);
  const { operations, document } = describeApi(schema, mesh.documents);
  const compile = compilerOf(schema, services);
  mountOperations(server, { db, clock, publicUrl, limiter, credentials, doOnce, prepare, compile }, operations);
  mountAuthorizationServer(server, { services, signingKeys, limiter, log: door.log });
  mountDocument(server, JSON.stringify(document, null, 2));
  const { schema: graph, plugins } = mesh;
  mountGraphql(server, {
    ...door,
    schema: graph,
    plugins,
    services,
    prepare,
    authenticate: internalAuthentication(services, { limiter, credentials }),
  });
  refuseOtherMethods(server, "/graphql", corsOrigins.length > 0 ? ["GET", "POST", "OPTIONS"] : ["GET", "POST"]);
}

async function createLimiter({ settings, log, limiter }: AppOptions, clock: Clock): Promise<RateLimiter> {
  if (limiter !== undefined) return limiter;
  const { redisUrl, rateLimitScale } = settings;
  if (redisUrl === undefined) return createMemoryLimiter(rateLimitScale, () => clock.now().getTime());
  const { createRedisLimiter } = await import("#gateway/redis-limiter.ts");
  return createRedisLimiter(redisUrl, rateLimitScale, log);
}

/** A worker shows its health alone. */
function mountPages(server: FastifyInstance, { db }: OpenDatabase, role: Role): void {
  mountHealth(server, db);
  for (const path of ["/healthz", "/readyz"]) refuseOtherMethods(server, path, ["GET"]);
  if (role === "worker") return;
  mountGraphiql(server);
  mountPictures(server);
  refuseOtherMethods(server, "/media/demo/:file", ["GET"]);
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
    const run = compileDocument(schema, document, `schema/operations: ${id}`);
    return ({ viewer, requestId, request, variables }, transaction) => {
      // Only what says that it varies by Accept-Language may.
      const languages = languageField === null ? [] : parseAcceptLanguage(request.headers["accept-language"]);
      return run(createContext(services, { viewer, requestId, languages, operationId: id }, transaction), variables);
    };
  };
}

function internalAuthentication(
  { db, clock, publicUrl }: GraphServices,
  { limiter, credentials }: Pick<Doors, "limiter" | "credentials">,
): GraphqlDoor["authenticate"] {
  const door: Authentication<null, InternalViewer> = {
    limiter,
    publicUrl,
    schemes: ["bearer"],
    verify: ({ scheme, token }) => {
      if (scheme !== "bearer") throw fail("credentials_malformed", { message: "The Authorization header must be `Bearer` and the internal token." });
      return credentials.internalToken(token);
    },
  };
  return async (request) => {
    const viewer = await authenticate(request, null, door);
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
