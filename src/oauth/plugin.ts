/**
 * The authorization server (OAuth 2.1). oidc-provider answers its endpoints directly on Node's request and
 * response; sign-in, consent and metadata are ordinary routes. Changes made by consent are recorded in the
 * audit log in the same transaction.
 */
import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { appendAuditEntries } from "#access/audit.ts";
import type { OauthSigningKeyProvider } from "#access/oauth/signing-keys.ts";
import type { Log } from "#foundation/log.ts";
import { toClientAddressKey, createStaffLoginRateLimiter } from "#http/caller.ts";
import { type RateLimitCounterKey, type RateLimiter, countRequestAgainstQuota } from "#http/rate-limiter.ts";
import type { GraphqlServices } from "#graph/context.ts";
import {
  getAccessTokenAudience,
  clientAuthMethods,
  oauthPaths,
  protectedResourceMetadataPath,
  type OauthProtectedResourceName,
  protectedResources,
  authorizationServerMetadataPath,
  tokenSigningAlgorithms,
} from "#access/authorization.ts";
import { integratorScopes } from "#access/viewer.ts";
import { createOauthErrorPageHandler, createOauthJsonErrorHandler } from "./error-handlers.ts";
import { registerOauthInteractionRoutes } from "./interactions.ts";
import { registerCheckedJsonBodyParser, toRequestWithReadableBody } from "./json-bodies.ts";
import type { OauthServices } from "./oauth-services.ts";
import { createCurrentOidcProviderGetter, type RefusedOauthRequest } from "./provider.ts";

export interface OauthPluginOptions {
  readonly services: GraphqlServices;
  readonly signingKeys: OauthSigningKeyProvider;
  readonly limiter: RateLimiter;
  readonly log: Log;
  readonly fetchDocument: OauthServices["fetchDocument"];
}

export const oauthPlugin: FastifyPluginAsync<OauthPluginOptions> = async (
  server,
  { services, signingKeys, limiter, log, fetchDocument },
) => {
  const { db, clock, publicUrl, keyring } = services;
  registerOauthRoutes(server, {
    db,
    clock,
    publicUrl,
    keyring,
    signingKeys,
    log,
    fetchDocument,
    loginLimit: createStaffLoginRateLimiter(limiter),
    // Unauthenticated requests to the authorization server count against the same quota of an IP address as
    // anonymous reads of the API.
    limitAddress: async (request, reply) =>
      countRequestAgainstQuota(limiter, reply, { bucket: "anon-read", key: toClientAddressKey(request.ip) }),
    limitRegistrations: async (request, reply) =>
      countRequestAgainstQuota(limiter, reply, registrationCounterOf(request)),
    mayFetchMetadata: async (request) => {
      const { bucket, key } = registrationCounterOf(request);
      return (await limiter.consume(bucket, key))?.isExceeded !== true;
    },
    limitGrant: async (grantId) => {
      const state = await limiter.consume("write", `refresh:${grantId}`);
      return state?.isExceeded === true ? state.resetSeconds : undefined;
    },
    onGranted: async (
      transaction,
      { grantId, installationId, replaced, staff, clientId, scopes: granted, now, requestId },
    ) => {
      const by = {
        actor: "staff",
        actorId: staff.staffId,
        merchantId: staff.merchantId,
        now,
        requestId,
      } as const;
      await appendAuditEntries(transaction, {
        ...by,
        action: "oauthGrantCreate",
        targetId: grantId,
        details: { clientId, installationId, scopes: granted },
      });
      const details = { clientId, installationId, reason: "replaced" };
      for (const { id } of replaced)
        await appendAuditEntries(transaction, { ...by, action: "oauthGrantRevoke", targetId: id, details });
    },
    onRevoked: async (transaction, { id, merchantId, clientId, installationId, reason, now, requestId }) => {
      const by =
        reason === "given_back"
          ? ({ actor: "oauth_client", actorId: id } as const)
          : ({ actor: "system", actorId: null } as const);
      const details = { clientId, installationId, reason: reason };
      await appendAuditEntries(transaction, {
        ...by,
        merchantId,
        now,
        requestId,
        action: "oauthGrantRevoke",
        targetId: id,
        details,
      });
    },
  });
};

const registrationCounterOf = ({ ip }: FastifyRequest): RateLimitCounterKey => ({
  bucket: "agent-register",
  key: toClientAddressKey(ip),
});

const resumePath = `${oauthPaths.authorization}/:uid`;
/**
 * Paths of the authorization server that accept POST. They also accept OPTIONS, because browsers send a
 * preflight request before a POST from another origin.
 */
const postPaths = [
  oauthPaths.token,
  oauthPaths.revocation,
  oauthPaths.pushedAuthorizationRequest,
  oauthPaths.registration,
] as const;

function registerOauthRoutes(server: FastifyInstance, services: OauthServices): void {
  const requests = new WeakMap<IncomingMessage, FastifyRequest>();
  const currentProvider = createCurrentOidcProviderGetter(services, {
    onRefused: (refused) => recordRefusal(requests.get(refused.request), refused, services),
    mayFetchMetadata: async (raw) => {
      const request = requests.get(raw);
      return request !== undefined && (await services.mayFetchMetadata(request));
    },
  });
  const { pathname } = new URL(services.publicUrl);
  const basePath = pathname.replace(/\/$/, "");
  const passToProvider = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const provider = await currentProvider();
    const raw = toRequestWithReadableBody(request);
    reply.hijack();
    requests.set(raw, request);
    // Fastify sends no headers after `hijack`, so the headers that hooks have set are copied to Node's
    // response.
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) reply.raw.setHeader(name, value);
    reply.raw.setHeader("cache-control", "no-store");
    // oidc-provider needs the complete path of the request. Its first part is the path of PUBLIC_URL, if it
    // has one.
    Object.assign(raw, { originalUrl: basePath + (raw.url ?? "") });
    await provider.callback()(raw, reply.raw);
  };
  void server.register((bare, _options, done) => {
    // The body parsers of Fastify are removed, because oidc-provider reads the body of a request itself. Only
    // JSON bodies are checked before that.
    bare.removeAllContentTypeParsers();
    registerCheckedJsonBodyParser(bare);
    bare.addContentTypeParser("*", (_request, _payload, parsed) => parsed(null));
    const onPage = { onRequest: services.limitAddress, errorHandler: createOauthErrorPageHandler(services) };
    for (const url of [oauthPaths.authorization, resumePath]) bare.get(url, onPage, passToProvider);
    for (const url of postPaths) {
      const limit = postLimits(services)[url];
      bare.route({
        method: ["POST", "OPTIONS"],
        url,
        ...(limit === undefined ? {} : { onRequest: limitPosts(limit) }),
        errorHandler: createOauthJsonErrorHandler(services),
        // oidc-provider answers OPTIONS only if it is the preflight request of a browser.
        handler: (request, reply) =>
          request.method === "OPTIONS" && !isPreflight(request)
            ? reply.code(204).header("allow", "POST, OPTIONS").send()
            : passToProvider(request, reply),
      });
    }
    done();
  });
  registerOauthInteractionRoutes(server, services, currentProvider);
  registerMetadataRoutes(server, services);
}

type RequestLimit = OauthServices["limitAddress"];

/**
 * Returns the limits per IP address for those endpoints that store a row for any caller without credentials:
 * pushed authorization requests and registrations. All other endpoints store a row only for a client with a
 * code or token, so they need no such limit.
 */
const postLimits = (services: OauthServices): Readonly<Record<string, RequestLimit | undefined>> => ({
  [oauthPaths.pushedAuthorizationRequest]: services.limitAddress,
  [oauthPaths.registration]: services.limitRegistrations,
});

const isPreflight = ({ headers }: FastifyRequest): boolean =>
  headers.origin !== undefined && headers["access-control-request-method"] !== undefined;

const limitPosts =
  (limit: RequestLimit): RequestLimit =>
  async (request, reply) => {
    if (request.method === "POST") await limit(request, reply);
  };

/**
 * Records the error code of a request that oidc-provider refused, for the request's log line. An error of
 * this server also gets a log line of its own.
 */
function recordRefusal(
  request: FastifyRequest | undefined,
  { code, fault }: RefusedOauthRequest,
  { log }: OauthServices,
): void {
  if (request === undefined) return;
  request.failureCode = code;
  if (fault !== null)
    log.error(
      { requestId: request.id, code: "internal_error", err: fault },
      "A request failed with a server error.",
    );
}

/**
 * Returns the metadata of the authorization server (RFC 8414). The metadata lists only what the server
 * supports.
 */
function serverMetadata(publicUrl: string): Readonly<Record<string, unknown>> {
  return {
    issuer: publicUrl,
    authorization_endpoint: publicUrl + oauthPaths.authorization,
    token_endpoint: publicUrl + oauthPaths.token,
    pushed_authorization_request_endpoint: publicUrl + oauthPaths.pushedAuthorizationRequest,
    revocation_endpoint: publicUrl + oauthPaths.revocation,
    registration_endpoint: publicUrl + oauthPaths.registration,
    client_id_metadata_document_supported: true,
    jwks_uri: publicUrl + oauthPaths.jwks,
    scopes_supported: integratorScopes,
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: clientAuthMethods,
    token_endpoint_auth_signing_alg_values_supported: tokenSigningAlgorithms,
    revocation_endpoint_auth_methods_supported: clientAuthMethods,
    revocation_endpoint_auth_signing_alg_values_supported: tokenSigningAlgorithms,
    dpop_signing_alg_values_supported: tokenSigningAlgorithms,
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${publicUrl}/docs`,
  };
}

/**
 * Returns the metadata of a protected resource (RFC 9728). Tokens for the REST API must be bound to a key;
 * the MCP server also accepts bearer tokens.
 */
const resourceMetadata = (
  publicUrl: string,
  resource: OauthProtectedResourceName,
): Readonly<Record<string, unknown>> => ({
  resource: getAccessTokenAudience(publicUrl, resource),
  authorization_servers: [publicUrl],
  scopes_supported: integratorScopes,
  bearer_methods_supported: ["header"],
  dpop_signing_alg_values_supported: tokenSigningAlgorithms,
  dpop_bound_access_tokens_required: resource === "api",
  resource_documentation: resource === "api" ? `${publicUrl}/docs` : `${publicUrl}/docs/guides/agents`,
});

/** The paths of the metadata documents, each with the protected resource that the document describes. */
const resourceMetadataPaths: readonly (readonly [string, OauthProtectedResourceName])[] = [
  [protectedResourceMetadataPath, "api"],
  ...protectedResources.map((name) => [`${protectedResourceMetadataPath}/${name}`, name] as const),
];

const documentSeconds = 300;
/**
 * Seconds for which clients may cache the public signing keys. The time is shorter than the time between the
 * publication of a new key and the first token signed with it.
 */
const keysSeconds = 30;

function registerMetadataRoutes(server: FastifyInstance, { publicUrl, signingKeys }: OauthServices): void {
  const documents: readonly (readonly [string, unknown])[] = [
    [authorizationServerMetadataPath, serverMetadata(publicUrl)],
    ...resourceMetadataPaths.map(
      ([path, resource]) => [path, resourceMetadata(publicUrl, resource)] as const,
    ),
  ];
  for (const [path, document] of documents) {
    const body = JSON.stringify(document);
    server.get(path, (_request, reply) =>
      reply.headers(headersFor(documentSeconds)).type("application/json").send(body),
    );
  }
  server.get(oauthPaths.jwks, async (_request, reply) =>
    reply
      .headers(headersFor(keysSeconds))
      .type("application/jwk-set+json")
      .send(JSON.stringify(await signingKeys.publicJwks())),
  );
}

const headersFor = (seconds: number): Record<string, string> => ({
  "access-control-allow-origin": "*",
  "cache-control": `public, max-age=${seconds}`,
});
