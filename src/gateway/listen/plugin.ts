/**
 * Answers `POST /listen` with the events of an app installation. The command `commerce listen` sends this
 * request and forwards the events to a receiver on a developer's machine. A request waits until there are
 * events, so that the developer's machine needs no public address. Callers send an API key with the scope
 * `webhooks:write`, which also allows callers to register an endpoint for the same events. Administrators
 * send an internal token or have a console session.
 */
import { setTimeout as wait } from "node:timers/promises";
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { CredentialVerifier } from "#access/credentials.ts";
import {
  findInstallationForListenCommand,
  type InstallationUsedByListenCommand,
} from "#access/installations.ts";
import { recordApiKeyUse } from "#access/keys/verify-keys.ts";
import {
  getCredentialIdOfViewer,
  type ApiKeyOrOauthViewer,
  type InternalTokenOrStaffViewer,
} from "#access/viewer.ts";
import { createFailure, createFailureWithDetail } from "#foundation/failure.ts";
import { authenticateApiKeyOrAccessToken } from "#gateway/steps/authorize.ts";
import type { GraphqlServices } from "#graph/context.ts";
import { authenticateRequest, getHttpHeaderValues } from "#http/caller.ts";
import { countRequestAgainstQuota, type RateLimiter } from "#http/rate-limiter.ts";
import { requireScope } from "#mesh/operation-security.ts";
import { requireValidEndpointFields } from "#webhooks/endpoints/endpoint-input.ts";
import {
  createInitialEventListenerCursor,
  deriveEventListenerSigningSecret,
  findEventsForListener,
  listenCursor,
  type EventListenerPage,
  type SignedWebhookRequestForListener,
  signEventForListener,
} from "#webhooks/listened-events.ts";

export interface EventListenerPluginOptions {
  readonly services: Pick<GraphqlServices, "db" | "clock" | "keyring" | "publicUrl">;
  readonly limiter: RateLimiter;
  readonly credentials: CredentialVerifier;
  readonly authentication: {
    /** Verifies an internal token, or the console session of a staff member, and returns the caller. */
    readonly authenticate: (request: FastifyRequest) => Promise<InternalTokenOrStaffViewer>;
  };
}

const path = "/listen";
const pollMs = 400;
const waitSecondsMax = 20;
/**
 * Maximum additional waiting time of a request, in milliseconds, while new events have no position in the
 * event feed yet. A process that does background work gives the position within a second.
 */
const positionMsMax = 5_000;
/**
 * The largest number of requests that wait for events at the same time. Each waiting request reads the
 * database every 400 ms.
 */
const waitingMax = 50;

const listenBody = z.strictObject({
  eventTypes: z.array(z.string().max(100)).min(1).max(100).default(["*"]),
  /**
   * The cursor that the previous answer contained. Without it, the answer begins with events that were
   * created at `since` or later.
   */
  cursor: listenCursor.nullish(),
  since: z.iso.datetime({ offset: true }).nullish(),
  /**
   * The id of the app installation whose events are requested. Required only if the caller is a staff member
   * of a merchant with several installations.
   */
  installationId: z.string().max(64).nullish(),
  waitSeconds: z.int().min(0).max(waitSecondsMax).default(waitSecondsMax),
});
type ListenBody = z.infer<typeof listenBody>;

export const listenCommandEventsPlugin: FastifyPluginAsync<EventListenerPluginOptions> = async (
  server,
  options,
) => {
  const { db, clock, keyring } = options.services;
  const stopping = new AbortController();
  let waiting = 0;
  server.addHook("preClose", (done) => {
    stopping.abort();
    done();
  });
  server.post(path, async (request, reply) => {
    const viewer = await identifyListener(request, reply, options);
    const input = parseListenBody(request.body);
    const installation = await findInstallationForListenCommand(db, {
      ...toOwner(viewer),
      installationId: viewer.kind === "internal" ? (input.installationId ?? null) : viewer.installationId,
    });
    const secret = deriveEventListenerSigningSecret(keyring, {
      installationId: installation.id,
      credentialId: getCredentialIdOfViewer(viewer),
    });
    if (waiting >= waitingMax)
      throw createFailure("service_unavailable", {
        message: `This process has ${waitingMax} listeners, which is the limit.`,
        retryAfterSeconds: 5,
      });
    waiting += 1;
    try {
      const signal = AbortSignal.any([stopping.signal, createCloseSignal(reply)]);
      const found = await waitForEvents(options, { input, installation, signal });
      const now = clock.now();
      const requests: readonly SignedWebhookRequestForListener[] = found.events.map((event) =>
        signEventForListener(event, { secret, installationId: installation.id, now }),
      );
      void reply.header("cache-control", "no-store");
      return { data: { installation, secret, requests, cursor: found.cursor } };
    } finally {
      waiting -= 1;
    }
  });
};

/**
 * Verifies the caller's credential, counts the request against the caller's rate limit, and checks that the
 * caller may receive the events of webhook endpoints.
 */
async function identifyListener(
  request: FastifyRequest,
  reply: FastifyReply,
  { limiter, credentials, authentication, services: { db, clock, publicUrl } }: EventListenerPluginOptions,
): Promise<ApiKeyOrOauthViewer | InternalTokenOrStaffViewer> {
  const isApp = /^(?:bearer +cpk_|dpop )/i.test(getHttpHeaderValues(request, "authorization")[0] ?? "");
  if (!isApp) {
    const viewer = await authentication.authenticate(request);
    if (viewer.role !== "admin" && viewer.role !== "operator") throw createFailure("role_not_allowed");
    await countRequestAgainstQuota(limiter, reply, {
      bucket: "graphql",
      key: getCredentialIdOfViewer(viewer),
    });
    return viewer;
  }
  const viewer = await authenticateRequest(request, undefined, {
    publicUrl,
    schemes: ["bearer", "dpop"],
    limiter,
    verify: (authorization) =>
      authenticateApiKeyOrAccessToken(request, authorization, {
        credentials,
        resource: "api",
        admit: ({ suspended }) => {
          if (suspended !== null) throw createFailure(suspended);
        },
      }),
  });
  await countRequestAgainstQuota(limiter, reply, { bucket: "default", key: getCredentialIdOfViewer(viewer) });
  requireScope(viewer, "webhooks:write", publicUrl);
  if (viewer.kind === "api_key")
    void recordApiKeyUse(db, viewer.apiKeyId, clock.now()).catch(() => undefined);
  return viewer;
}

const toOwner = ({
  merchantId,
}: ApiKeyOrOauthViewer | InternalTokenOrStaffViewer): { merchantId: string | null } => ({
  merchantId,
});

function parseListenBody(body: unknown): ListenBody {
  const parsed = listenBody.safeParse(body);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = `/${issue?.path.join("/") ?? ""}`;
    throw createFailureWithDetail("invalid_field", {
      in: "body",
      field,
      code: issue?.code ?? "invalid",
      message: `"${field}" is not valid: ${issue?.message ?? ""}`,
    });
  }
  const { eventTypes } = parsed.data;
  requireValidEndpointFields({ eventTypes }, { isLoopbackAllowed: false, resolvedFaults: [] });
  return parsed.data;
}

/** Returns a signal that is aborted if the caller closes the connection before the answer is sent. */
function createCloseSignal({ raw }: FastifyReply): AbortSignal {
  const closed = new AbortController();
  raw.once("close", () => closed.abort());
  return closed.signal;
}

interface Waiting {
  readonly input: ListenBody;
  readonly installation: InstallationUsedByListenCommand;
  readonly signal: AbortSignal;
}

/**
 * Waits for the next events and returns them. Returns no events if none occurs before the caller's waiting
 * time (`waitSeconds`) ends or the process stops.
 */
async function waitForEvents(
  { services: { db } }: Pick<EventListenerPluginOptions, "services">,
  { input, installation, signal }: Waiting,
): Promise<EventListenerPage> {
  const { eventTypes, since, waitSeconds } = input;
  const { id: installationId, merchantId } = installation;
  let cursor =
    input.cursor ??
    (await createInitialEventListenerCursor(db, { merchantId, since: since ? new Date(since) : null }));
  const endsAt = performance.now() + waitSeconds * 1000;
  for (;;) {
    const page = await findEventsForListener(db, { installationId, eventTypes }, cursor);
    const extraMs = page.hasWaitingEvents ? positionMsMax : 0;
    if (page.events.length > 0 || signal.aborted || performance.now() >= endsAt + extraMs) return page;
    ({ cursor } = page);
    await wait(pollMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
}
