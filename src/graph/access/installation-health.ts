/**
 * The health of an installation: whether it is ready for its work, and the requests that its credentials sent
 * lately.
 */
import {
  type ReadinessCheck,
  type InstallationReadiness,
  assessReadiness,
} from "#access/readiness/readiness.ts";
import { isIntegrator } from "#access/viewer.ts";
import { builder, defineEnum } from "#graph/builder.ts";
import { integrators, readers, staff } from "#graph/context.ts";
import { ApiKeyRef, InstallationRef } from "#graph/refs.ts";
import {
  type ApiRequestRow,
  loggedFailuresMax,
  requestRetentionDays,
  selectApiRequests,
  loggedSuccessesMax,
} from "#access/request-log.ts";
import { docUrlOf } from "#foundation/failure.ts";
import { kindOf } from "#foundation/ids.ts";
import { connectionOf, pageCost, listTypes } from "#graph/connections.ts";

const ReadinessStatusEnum = defineEnum("ReadinessStatus", {
  description: "How ready an installation is.",
  values: {
    ready: "Everything is well.",
    degraded: "It works; something should be looked at.",
    action_required: "It cannot do all of its work before somebody acts.",
    blocked: "The merchant or the installation is suspended, or the app is uninstalled.",
  },
});

const CheckCodeEnum = defineEnum("ReadinessCheckCode", {
  description: "What is checked.",
  values: {
    api_key_active: "There is an API key in force. Blocking.",
    api_key_expiry: "The API key does not end within 14 days. Advisory.",
    scopes_granted: "The credential may do what the installation is there for. Blocking.",
    merchant_active: "Neither the merchant nor the installation is suspended. Blocking.",
    webhook_endpoint_present: "There is a webhook endpoint that is enabled. Advisory.",
    webhook_delivery_healthy: "Webhooks arrive. Advisory.",
    webhook_secret_rotation: "No secret that signs webhooks is more than 365 days old. Advisory.",
    payment_provider_connected: "The merchant can be paid. Blocking.",
    tax_configured: "Every country that is sold to has a tax rate. Advisory.",
    market_configured: "The merchant has a market. Blocking.",
    policy_return_configured: "Every market has a return policy. Advisory.",
    clock_skew: "The clocks of server and database are at most 2 s apart; over 30 s it fails. Advisory.",
  },
});

const CheckStatusEnum = defineEnum("ReadinessCheckStatus", {
  description: "How a check came out.",
  values: {
    pass: "It is well.",
    warn: "It should be looked at.",
    fail: "It is not well; of an advisory check this counts as a warning.",
    skipped: "There is nothing to check.",
  },
});

const SeverityEnum = defineEnum("ReadinessSeverity", {
  description: "What a failed check means.",
  values: { blocking: "The installation cannot do its work.", advisory: "It can, for now." },
});

const ReadinessCheckType = builder.objectRef<ReadinessCheck>("ReadinessCheck").implement({
  description: "One thing that an installation needs.",
  fields: (t) => ({
    code: t.expose("code", { type: CheckCodeEnum, description: "What is checked." }),
    status: t.expose("status", { type: CheckStatusEnum, description: "How it came out." }),
    severity: t.expose("severity", { type: SeverityEnum, description: "What a failure means." }),
    message: t.exposeString("message", { description: "The same for people, in English; it may change." }),
    remedy: t.exposeString("remedy", {
      nullable: true,
      description: "What to do about it, in English; null where nothing is to be done.",
    }),
    since: t.expose("since", {
      type: "DateTime",
      nullable: true,
      description: "Since when it has not been well, where that is known.",
    }),
  }),
});

const InstallationReadinessType = builder.objectRef<InstallationReadiness>("InstallationReadiness").implement({
  description:
    "Whether an installation can do its work with the credential of the call; for internal tokens, with all of its credentials together.",
  fields: (t) => ({
    status: t.expose("status", {
      type: ReadinessStatusEnum,
      description:
        "The sum of the checks: a blocking one that fails asks for action, any other one that is not well makes it degraded.",
    }),
    evaluatedAt: t.expose("evaluatedAt", { type: "DateTime", description: "The server's time." }),
    installationId: t.exposeID("installationId", { description: "The installation, `ins_…`." }),
    requiredScopes: t.stringList({
      description: "What the merchant let the installation do, and what its credential was made for; sorted.",
      resolve: ({ requiredScopes }) => [...requiredScopes],
    }),
    grantedScopes: t.stringList({
      description: "What the credential may do, sorted.",
      resolve: ({ grantedScopes }) => [...grantedScopes],
    }),
    missingScopes: t.stringList({
      description: "What is required and not granted, sorted.",
      resolve: ({ missingScopes }) => [...missingScopes],
    }),
    checks: t.field({
      type: [ReadinessCheckType],
      description: "All checks, always in the same order.",
      complexity: { multiplier: 12 },
      resolve: ({ checks }) => [...checks],
    }),
    nextActionAt: t.expose("nextActionAt", {
      type: "DateTime",
      nullable: true,
      description:
        "By when somebody has to act next: an API key ends, or a secret becomes a year old; null where neither will happen.",
    }),
  }),
});

builder.objectField(InstallationRef, "readiness", (t) =>
  t.field({
    type: InstallationReadinessType,
    description: "Whether it can do its work, check by check.",
    authScopes: { callers: [...integrators, ...readers] },
    resolve: async ({ id }, _args, { viewer, loaders, clock }) => {
      const [installation, endpoints] = await Promise.all([
        loaders.readinessFacts.load(id),
        loaders.endpointsOfInstallations.load(id),
      ]);
      return assessReadiness({
        now: clock.now(),
        installation,
        credential: isIntegrator(viewer) ? viewer : null,
        endpoints,
      });
    },
  }),
);

/** What apps sent over REST and what became of it, for who runs a merchant and looks for what went wrong. */
const ApiRequest = builder.objectRef<ApiRequestRow>("ApiRequest").implement({
  description: "A request that an app sent over REST. Neither its parameters nor its body are kept.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The request's id, `req_…`." }),
    requestId: t.exposeID("id", {
      description: "The same id, as the answer has it in `X-Request-Id` and errors in `requestId`.",
    }),
    operation: t.exposeString("operation", {
      description: "The operation, as the API's document names it in `operationId`.",
    }),
    method: t.exposeString("method", { description: "The HTTP method." }),
    status: t.exposeInt("status", { description: "The HTTP status of the answer, 100 to 599." }),
    errorCode: t.exposeString("errorCode", {
      nullable: true,
      description: "The code of the error that was answered; null: none was.",
    }),
    docUrl: t.field({
      type: "URL",
      nullable: true,
      description: "What the code means and what to do about it; null: there is no code.",
      resolve: ({ errorCode }, _args, { publicUrl }) =>
        errorCode === null ? null : docUrlOf(errorCode, publicUrl),
    }),
    durationMs: t.exposeInt("durationMs", {
      description: "How long the answer took, in whole milliseconds.",
    }),
    at: t.expose("at", { type: "DateTime", description: "When it was answered." }),
    credentialId: t.exposeID("credentialId", {
      description: "What it was sent with: the API key's id, `key_…`, or the grant's, `grt_…`.",
    }),
    apiKey: t.field({
      type: ApiKeyRef,
      nullable: true,
      description: "The API key that it was sent with; null: it came with an access token.",
      authScopes: { callers: staff },
      resolve: ({ credentialId }, _args, { loaders }) =>
        kindOf(credentialId) === "apiKey" ? loaders.apiKeys.load(credentialId) : null,
    }),
  }),
});

builder.objectField(InstallationRef, "recentRequests", (t) =>
  t.connection(
    {
      type: ApiRequest,
      description: `What its credentials sent over REST in the last ${requestRetentionDays} days, newest first, a few seconds after the answer. It is a sample: of every two seconds and process ${loggedFailuresMax} failures and ${loggedSuccessesMax} successes at most, which is all of an app that is not very busy. Requests without a credential are not here, nor those whose credential was not recognized.`,
      authScopes: { callers: readers },
      complexity: pageCost,
      args: {
        onlyFailed: t.arg.boolean({
          description: "Whether only those are meant whose status is 400 or more; all unless told.",
        }),
      },
      resolve: ({ id: installationId }, { onlyFailed, ...page }, { db }) =>
        connectionOf(page, {
          db,
          query: selectApiRequests(db, { installationId, isFailedOnly: onlyFailed === true }),
          column: "api_request.id",
          isNewestFirst: true,
        }),
    },
    ...listTypes("ApiRequest", "requests"),
  ),
);
