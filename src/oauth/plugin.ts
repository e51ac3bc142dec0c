/** The authorization server with what it needs of the floors beside it: the limiters, and who writes down what a consent changed. */
import type { FastifyInstance } from "fastify";
import { appendAudit } from "#access/audit.ts";
import type { SigningKeys } from "#access/oauth/signing-keys.ts";
import type { Log } from "#foundation/log.ts";
import { addressKey, createLoginLimit } from "#http/caller.ts";
import { type RateLimiter, takeOne } from "#http/rate-limiter.ts";
import { refuseOtherMethods } from "#http/server.ts";
import type { GraphServices } from "#graph/context.ts";
import { mountOauth } from "./mount.ts";

export interface AuthorizationServerParts {
  readonly services: GraphServices;
  readonly signingKeys: SigningKeys;
  readonly limiter: RateLimiter;
  readonly log: Log;
}

export function mountAuthorizationServer(server: FastifyInstance, { services, signingKeys, limiter, log }: AuthorizationServerParts): void {
  const { db, clock, publicUrl, keyring } = services;
  const routes = mountOauth(server, {
    db,
    clock,
    publicUrl,
    keyring,
    signingKeys,
    log,
    loginLimit: createLoginLimit(limiter),
    // What anonymous callers read with elsewhere.
    limitAddress: async (request, reply) => takeOne(limiter, reply, { bucket: "anon-read", key: addressKey(request.ip) }),
    limitGrant: async (grantId) => {
      const state = await limiter.consume("write", `refresh:${grantId}`);
      return state?.isExceeded === true ? state.resetSeconds : undefined;
    },
    onGranted: async (transaction, { grantId, installationId, replaced, staff, clientId, scopes, now, requestId }) => {
      const by = { actor: "staff", actorId: staff.staffId, merchantId: staff.merchantId, now, requestId } as const;
      await appendAudit(transaction, { ...by, action: "oauthGrantCreate", targetId: grantId, details: { clientId, installationId, scopes } });
      const details = { clientId, installationId, reason: "replaced" };
      for (const { id } of replaced) await appendAudit(transaction, { ...by, action: "oauthGrantRevoke", targetId: id, details });
    },
    onRevoked: async (transaction, { id, merchantId, clientId, installationId, why, now, requestId }) => {
      const by = why === "given_back" ? ({ actor: "oauth_client", actorId: id } as const) : ({ actor: "system", actorId: null } as const);
      const details = { clientId, installationId, reason: why };
      await appendAudit(transaction, { ...by, merchantId, now, requestId, action: "oauthGrantRevoke", targetId: id, details });
    },
  });
  for (const [path, methods] of routes) refuseOtherMethods(server, path, methods);
}
