/** The doors: REST with its document, the authorization server, the console, and the graph. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Credentials } from "#access/credentials.ts";
import { recordTokenUse } from "#access/keys/internal-tokens.ts";
import type { SigningKeys } from "#access/oauth/signing-keys.ts";
import type { RequestLog } from "#access/requests/request-log.ts";
import type { TokenViewer } from "#access/viewer.ts";
import { fail } from "#foundation/failure.ts";
import { parseAcceptLanguage } from "#foundation/locales.ts";
import type { Call, GatewayServices } from "#gateway/call.ts";
import { addressKey, authenticate, type Authentication } from "#http/caller.ts";
import { addressed } from "#gateway/openapi-addresses.ts";
import { limitFailure, type RateLimiter } from "#http/rate-limiter.ts";
import { mountOperations } from "#gateway/operations.ts";
import { refuseOtherMethods } from "#http/server.ts";
import { createContext, type GraphContext, type GraphServices, type Source } from "#graph/context.ts";
import type { Mesh } from "#mesh/open-mesh.ts";
import type { Run } from "#mesh/run.ts";
import { findConsoleCaller } from "#http/staff-session.ts";
import { mountCsvReports } from "#graphql/reports/plugin.ts";
import { type GraphqlDoor, mountGraphql } from "#graphql/plugin.ts";
import { describeApi } from "#gateway/api-description.ts";
import { mountAuthorizationServer } from "#oauth/plugin.ts";
import { mountMerchantConsole } from "#pages/console/plugin.ts";
import { mountCheckoutRoom } from "#pages/checkout/plugin.ts";
import { createDetour, type RunPublic } from "#gateway/replica-fallback.ts";
import { mountDocsRoom } from "#pages/docs/plugin.ts";
import type { Settings } from "./settings.ts";

export interface Doors extends Pick<GraphqlDoor, "services" | "log"> {
  readonly mesh: Mesh;
  readonly limiter: RateLimiter;
  readonly credentials: Credentials;
  readonly signingKeys: SigningKeys;
  readonly requests: RequestLog;
  readonly settings: Settings;
}

/** REST with its document, and the graph. */
export function mountDoors(server: FastifyInstance, { mesh, services, limiter, credentials, signingKeys, requests, settings, ...door }: Doors): void {
  const { db, clock, publicUrl } = services;
  const { run } = mesh;
  const { corsOrigins } = settings;
  const { operations, document } = describeApi(mesh);
  const execute = executorOf(run, services, createDetour(services, door));
  mountOperations(server, { db, clock, publicUrl, limiter, credentials, noteRequest: requests.note, execute }, operations);
  mountAuthorizationServer(server, { services, signingKeys, limiter, log: door.log });
  mountMerchantConsole(server, { services, limiter, log: door.log });
  mountCheckoutRoom(server, { services, run, limiter, log: door.log });
  mountDocument(server, JSON.stringify(addressed(document, publicUrl), null, 2));
  mountDocsRoom(server, { document, publicUrl, settings });
  const authenticateInternal = internalAuthentication(services, { limiter, credentials, isUse: true });
  mountGraphql(server, {
    ...door,
    corsOrigins,
    mesh,
    services,
    authenticate: authenticateInternal,
    recheck: internalAuthentication(services, { limiter, credentials, isUse: false }),
    clientOf,
  });
  mountCsvReports(server, { run, services, authenticate: authenticateInternal, clientOf });
  refuseOtherMethods(server, "/reports/:file", ["GET"]);
  refuseOtherMethods(server, "/graphql", corsOrigins.length > 0 ? ["GET", "POST", "OPTIONS"] : ["GET", "POST"]);
}

const clientOf = ({ ip }: FastifyRequest): string => addressKey(ip);

/** Runs the document of a REST operation for its caller. */
function executorOf(run: Run, services: GraphServices, runPublic: RunPublic): GatewayServices["execute"] {
  return (call, once) => {
    const { operation, viewer, requestId, request, variables } = call;
    const { id, document, languageField, security } = operation;
    // Only an operation that says so in `Vary` may answer by Accept-Language.
    const languages = languageField === null ? [] : parseAcceptLanguage(request.headers["accept-language"]);
    const asker = {
      viewer,
      requestId,
      languages,
      operationId: id,
      client: clientOf(request),
      once,
      onOnce: once === null ? undefined : recorderOf(call),
    };
    const runOn = (source?: Source): ReturnType<Run> => run(document, createContext(services, { ...asker, source }), { variables });
    return security.kind === "anonymous" ? runPublic(runOn) : runOn();
  };
}

const recorderOf =
  (call: Call): GraphContext["onOnce"] =>
  (answer) => {
    call.recorded = answer;
  };

function internalAuthentication(
  { db, clock, publicUrl }: GraphServices,
  { limiter, credentials, isUse }: Pick<Doors, "limiter" | "credentials"> & { readonly isUse: boolean },
): GraphqlDoor["authenticate"] {
  const door: Authentication<null, TokenViewer> = {
    limiter,
    publicUrl,
    schemes: ["bearer"],
    verify: ({ scheme, token }) => {
      if (scheme !== "bearer") throw fail("credentials_malformed", { message: "The Authorization header must be `Bearer` and the internal token." });
      return credentials.internalToken(token);
    },
  };
  // Counted with the wrong tokens.
  const onUnknown = async (request: FastifyRequest): Promise<void> => {
    const state = await limiter.consume("auth-fail", clientOf(request));
    if (state?.isExceeded === true) throw limitFailure("too_many_failed_attempts", state);
  };
  return async (request) => {
    const person = await findConsoleCaller(request, { db, clock, publicUrl, isUse, onUnknown });
    if (person !== undefined) return person;
    const viewer = await authenticate(request, null, door);
    if (isUse) void recordTokenUse(db, viewer.tokenId, clock.now()).catch(() => undefined);
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
