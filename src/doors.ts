/** The doors: REST with its document, the authorization server, the console, and the graph. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { GraphQLSchema } from "graphql";
import type { Credentials } from "#access/credentials.ts";
import { recordTokenUse } from "#access/keys/internal-tokens.ts";
import type { SigningKeys } from "#access/oauth/signing-keys.ts";
import type { RequestLog } from "#access/requests/request-log.ts";
import type { TokenViewer } from "#access/viewer.ts";
import { fail } from "#foundation/failure.ts";
import { parseAcceptLanguage } from "#foundation/locales.ts";
import type { GatewayServices } from "#gateway/call.ts";
import { addressKey } from "#gateway/client-address.ts";
import { compileDocument } from "#gateway/compile-document.ts";
import { addressed } from "#gateway/openapi-addresses.ts";
import type { Operation } from "#gateway/contract.ts";
import { type Authentication, authenticate } from "#gateway/credentials.ts";
import type { Mesh } from "#gateway/mesh.ts";
import { limitFailure } from "#gateway/limit.ts";
import { mountOperations } from "#gateway/operations.ts";
import type { RateLimiter } from "#gateway/rate-limiter.ts";
import { refuseOtherMethods } from "#gateway/server.ts";
import { createContext, type GraphServices, type Source } from "#graph/context.ts";
import { findConsoleCaller } from "#web/console/console-caller.ts";
import { mountCsvReports } from "#web/reports/csv-door.ts";
import { type GraphqlDoor, mountGraphql } from "#web/graphql/graphql-door.ts";
import { describeApi } from "./api-description.ts";
import { mountAuthorizationServer } from "./authorization-server.ts";
import { mountMerchantConsole } from "./merchant-console.ts";
import { mountCheckoutRoom } from "./checkout-room.ts";
import { createDetour, type RunPublic } from "./detour.ts";
import { mountDocsRoom } from "./docs-room.ts";
import { createPreparation } from "./preparation.ts";
import type { Settings } from "./settings.ts";

export interface Doors extends Pick<GraphqlDoor, "services" | "log" | "doOnce" | "onCost"> {
  readonly mesh: Mesh;
  /** The graph as REST spells it. */
  readonly respelled: GraphQLSchema;
  readonly limiter: RateLimiter;
  readonly credentials: Credentials;
  readonly signingKeys: SigningKeys;
  readonly requests: RequestLog;
  readonly settings: Settings;
}

/** REST with its document, and the graph. */
export function mountDoors(
  server: FastifyInstance,
  { mesh, respelled, services, limiter, credentials, signingKeys, requests, settings, ...door }: Doors,
): void {
  const { db, clock, publicUrl, resolvedNames } = services;
  const { doOnce } = door;
  const { corsOrigins } = settings;
  const prepare = createPreparation(resolvedNames);
  const { operations, document } = describeApi(respelled, mesh.documents);
  const compile = compilerOf(respelled, services, createDetour(services, door));
  mountOperations(server, { db, clock, publicUrl, limiter, credentials, doOnce, noteRequest: requests.note, prepare, compile }, operations);
  mountAuthorizationServer(server, { services, signingKeys, limiter, log: door.log });
  mountMerchantConsole(server, { services, limiter, log: door.log });
  mountCheckoutRoom(server, { services, respelled, limiter, doOnce, log: door.log });
  mountDocument(server, JSON.stringify(addressed(document, publicUrl), null, 2));
  mountDocsRoom(server, { document, publicUrl, settings });
  const authenticateInternal = internalAuthentication(services, { limiter, credentials, isUse: true });
  mountGraphql(server, {
    ...door,
    corsOrigins,
    schema: mesh.schema,
    plugins: mesh.plugins,
    services,
    prepare,
    authenticate: authenticateInternal,
    recheck: internalAuthentication(services, { limiter, credentials, isUse: false }),
    clientOf,
  });
  mountCsvReports(server, { schema: mesh.schema, services, authenticate: authenticateInternal, clientOf });
  refuseOtherMethods(server, "/reports/:file", ["GET"]);
  refuseOtherMethods(server, "/graphql", corsOrigins.length > 0 ? ["GET", "POST", "OPTIONS"] : ["GET", "POST"]);
}

const clientOf = ({ ip }: FastifyRequest): string => addressKey(ip);

/** Each document is compiled once, on the schema that spells enums as REST does. */
function compilerOf(respelled: GraphQLSchema, services: GraphServices, runPublic: RunPublic): GatewayServices["compile"] {
  return ({ id, document, languageField, security }: Operation) => {
    const run = compileDocument(respelled, document, `schema/operations: ${id}`);
    return ({ viewer, requestId, request, variables }, transaction) => {
      // Only what says that it varies by Accept-Language may.
      const languages = languageField === null ? [] : parseAcceptLanguage(request.headers["accept-language"]);
      const runOn = (source?: Source): ReturnType<typeof run> =>
        run(createContext(services, { viewer, requestId, languages, operationId: id, client: clientOf(request), source }, transaction), variables);
      return security.kind === "anonymous" ? runPublic(runOn) : runOn();
    };
  };
}

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
