/**
 * The GraphQL types of an installation's readiness: whether the app can work with the merchant, with the
 * result of each check.
 */
import {
  type InstallationReadinessCheck,
  type AppInstallationReadinessReport,
  assessInstallationReadiness,
} from "#access/readiness/readiness.ts";
import { isApiKeyOrOauthViewer } from "#access/viewer.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import { integratorCallers, merchantReaders } from "#graph/context.ts";
import { InstallationRef } from "#graph/refs.ts";

const ReadinessStatusEnum = defineGraphqlEnum("ReadinessStatus", {
  description: "The overall result of an installation's readiness checks.",
  values: {
    ready: "All readiness checks of the installation pass.",
    degraded: "The installation works, but at least one check warns or an advisory check fails.",
    action_required:
      "A blocking check fails: the installation cannot do all of its work until a person corrects the cause.",
    blocked: "The merchant or the installation is suspended, or the app is uninstalled.",
  },
});

const CheckCodeEnum = defineGraphqlEnum("ReadinessCheckCode", {
  description:
    "The name of a readiness check of an installation, and the requirement that the check examines.",
  values: {
    api_key_active:
      "The installation has an active API key. If not, the installation cannot do its work (blocking).",
    api_key_expiry:
      "The API key does not expire within 14 days. If not, the installation still works (advisory).",
    scopes_granted:
      "The installation and its credential have the same scopes. If not, the installation cannot do its " +
      "work (blocking).",
    merchant_active:
      "Neither the merchant nor the installation is suspended. If not, the installation cannot do its work (blocking).",
    webhook_endpoint_present:
      "The installation has an enabled webhook endpoint. If not, the installation still works (advisory).",
    webhook_delivery_healthy:
      "Deliveries to the webhook endpoints succeed. If not, the installation still works (advisory).",
    webhook_secret_rotation:
      "No webhook signing secret is more than 365 days old. If not, the installation still works (advisory).",
    payment_provider_connected:
      "The merchant has a payment provider. If not, the installation cannot do its work (blocking).",
    tax_configured:
      "Every country of the merchant's markets has a tax rate. If not, the installation still works (advisory).",
    market_configured: "The merchant has a market. If not, the installation cannot do its work (blocking).",
    policy_return_configured:
      "Every market has a return policy. If not, the installation still works (advisory).",
    clock_skew:
      "The clocks of the server and the database differ by at most 2 s. A larger difference is a warning, " +
      "and a difference of more than 30 s is a failure, but the installation still works (advisory).",
  },
});

const CheckStatusEnum = defineGraphqlEnum("ReadinessCheckStatus", {
  description: "Whether one readiness check of an installation passed, warns, failed or was skipped.",
  values: {
    pass: "The requirement of the check is met.",
    warn: "The requirement of the check is not fully met, but the installation works.",
    fail:
      "The requirement of the check is not met. For the overall result, a failed advisory check counts as " +
      "a warning.",
    skipped: "The check does not apply to this installation.",
  },
});

const SeverityEnum = defineGraphqlEnum("ReadinessSeverity", {
  description: "How serious a failed readiness check is.",
  values: {
    blocking: "If the check fails, the installation cannot do its work.",
    advisory: "If the check fails, the installation still works.",
  },
});

const ReadinessCheckType = builder.objectRef<InstallationReadinessCheck>("ReadinessCheck").implement({
  description: "One readiness check of an installation and its result.",
  fields: (t) => ({
    code: t.expose("code", { type: CheckCodeEnum, description: "The requirement that was checked." }),
    status: t.expose("status", { type: CheckStatusEnum, description: "The result of the check." }),
    severity: t.expose("severity", {
      type: SeverityEnum,
      description: "How serious a failure of this check is.",
    }),
    message: t.exposeString("message", {
      description: "The result of the check as an English sentence for people; the wording may change.",
    }),
    remedy: t.exposeString("remedy", {
      nullable: true,
      description:
        "What a person can do so that the check passes, as an English sentence; null if nothing needs to " +
        "be done.",
    }),
    since: t.expose("since", {
      type: "DateTime",
      nullable: true,
      description:
        "The time since which the check has not passed; null if the check passes or the time is not known.",
    }),
  }),
});

const InstallationReadinessType = builder
  .objectRef<AppInstallationReadinessReport>("InstallationReadiness")
  .implement({
    description:
      "Whether an installation can do its work with the credential of the request. If an internal caller " +
      "asks, all credentials of the installation count together.",
    fields: (t) => ({
      status: t.expose("status", {
        type: ReadinessStatusEnum,
        description:
          "The overall result of the checks: `blocked` if the merchant or the installation is not active; " +
          "otherwise `action_required` if a blocking check fails, `degraded` if another check fails or " +
          "warns, and `ready` if all checks pass.",
      }),
      evaluatedAt: t.expose("evaluatedAt", {
        type: "DateTime",
        description: "When the checks ran, by the server's clock.",
      }),
      installationId: t.exposeID("installationId", {
        description: "The id of the checked installation, `ins_…`.",
      }),
      requiredScopes: t.stringList({
        description: "The scopes of the installation and of its credential together, sorted.",
        resolve: ({ requiredScopes }) => [...requiredScopes],
      }),
      grantedScopes: t.stringList({
        description: "The required scopes that both the installation and the credential have, sorted.",
        resolve: ({ grantedScopes }) => [...grantedScopes],
      }),
      missingScopes: t.stringList({
        description: "The required scopes that are not granted, sorted.",
        resolve: ({ missingScopes }) => [...missingScopes],
      }),
      checks: t.field({
        type: [ReadinessCheckType],
        description: "All readiness checks, always in the same order.",
        complexity: { multiplier: 12 },
        resolve: ({ checks }) => [...checks],
      }),
      nextActionAt: t.expose("nextActionAt", {
        type: "DateTime",
        nullable: true,
        description:
          "The next time by which a person must act, because an API key expires or a webhook signing " +
          "secret becomes 365 days old; null if no such time is known.",
      }),
    }),
  });

builder.objectField(InstallationRef, "readiness", (t) =>
  t.field({
    type: InstallationReadinessType,
    description: "The readiness of the installation, with the result of every check.",
    authScopes: { callers: [...integratorCallers, ...merchantReaders] },
    resolve: async ({ id }, _args, { viewer, loaders, clock }) => {
      const [installation, endpoints] = await Promise.all([
        loaders.readinessFacts.load(id),
        loaders.endpointsOfInstallations.load(id),
      ]);
      return assessInstallationReadiness({
        now: clock.now(),
        installation,
        credential: isApiKeyOrOauthViewer(viewer) ? viewer : null,
        endpoints,
      });
    },
  }),
);
