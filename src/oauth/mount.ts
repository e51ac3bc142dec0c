/** Opens the authorization server's door: its own endpoints answer through oidc-provider on the bare connection, everything around it as everywhere. */
import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { oauthPaths } from "#access/oauth/oauth-terms.ts";
import { answerOnPage, answerToApp } from "./faults.ts";
import { interactionPath, mountInteractions } from "./interactions.ts";
import { metadataPaths, mountMetadata } from "./metadata.ts";
import type { OauthServices } from "./oauth-services.ts";
import { createProviders, type Refused } from "./provider.ts";

/** The methods that each address takes; all others are to be refused. */
export type OauthRoutes = readonly (readonly [path: string, methods: readonly string[]])[];

const resumePath = `${oauthPaths.authorization}/:uid`;
/** Browsers ask before they post from another site. */
const posted = [oauthPaths.token, oauthPaths.revocation, oauthPaths.pushedAuthorizationRequest] as const;

export function mountOauth(server: FastifyInstance, services: OauthServices): OauthRoutes {
  const requests = new WeakMap<IncomingMessage, FastifyRequest>();
  const currentProvider = createProviders(services, {
    onRefused: (refused) => noteRefusal(requests.get(refused.request), refused, services),
  });
  const { pathname } = new URL(services.publicUrl);
  const basePath = pathname.replace(/\/$/, "");
  const pass = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const provider = await currentProvider();
    reply.hijack();
    requests.set(request.raw, request);
    // What Fastify would have sent along.
    for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) reply.raw.setHeader(name, value);
    reply.raw.setHeader("cache-control", "no-store");
    // Where the service stands below a path, its own addresses do too.
    Object.assign(request.raw, { originalUrl: basePath + (request.raw.url ?? "") });
    await provider.callback()(request.raw, reply.raw);
  };
  void server.register((bare, _options, done) => {
    // The body is oidc-provider's to read.
    bare.removeAllContentTypeParsers();
    bare.addContentTypeParser("*", (_request, _payload, parsed) => parsed(null));
    const onPage = { onRequest: services.limitAddress, errorHandler: answerOnPage(services) };
    for (const url of [oauthPaths.authorization, resumePath]) bare.get(url, onPage, pass);
    for (const url of posted) {
      const toApp = url === oauthPaths.pushedAuthorizationRequest ? { onRequest: limitPosts(services) } : {};
      bare.route({ method: ["POST", "OPTIONS"], url, ...toApp, errorHandler: answerToApp(services), handler: pass });
    }
    done();
  });
  mountInteractions(server, services, currentProvider);
  mountMetadata(server, services);
  return [
    ...[oauthPaths.authorization, resumePath, ...metadataPaths].map((path) => [path, ["GET"]] as const),
    ...posted.map((path) => [path, ["POST", "OPTIONS"]] as const),
    [interactionPath, ["GET", "POST"]],
  ];
}

/** What is kept for whoever asks. The others keep nothing for an app that has shown neither a code nor a token. */
const limitPosts =
  ({ limitAddress }: OauthServices): OauthServices["limitAddress"] =>
  async (request, reply) => {
    if (request.method === "POST") await limitAddress(request, reply);
  };

/** For the log line of the request; a fault of ours has one of its own. */
function noteRefusal(request: FastifyRequest | undefined, { code, fault }: Refused, { log }: OauthServices): void {
  if (request === undefined) return;
  request.failureCode = code;
  if (fault !== null) log.error({ requestId: request.id, code: "internal_error", err: fault }, "A request failed on our side.");
}
