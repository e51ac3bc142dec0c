/**
 * The GraphQL types and queries of the logged REST requests of apps, for staff who look for errors. The
 * queries return an installation's recent requests, filtered requests of a merchant's apps, and one request
 * by its id.
 */
import {
  type LoggedApiRequestRow,
  findLoggedApiRequest,
  loggedFailuresMax,
  loggedSuccessesMax,
  requestRetentionDays,
  buildApiRequestSqlQuery,
} from "#access/request-log.ts";
import { getErrorDocUrl } from "#foundation/failure.ts";
import { getObjectKindOfId } from "#foundation/ids.ts";
import { builder } from "#graph/builder.ts";
import {
  loadGraphqlConnection,
  computeConnectionCost,
  createGraphqlConnectionTypeOptions,
} from "#graph/connections.ts";
import { getCallerMerchantId, merchantReaders, staffCallers } from "#graph/context.ts";
import { ApiKeyRef, InstallationRef } from "#graph/refs.ts";

const ApiRequest = builder.objectRef<LoggedApiRequestRow>("ApiRequest").implement({
  description: "A REST request that an app sent. Its parameters and body are not stored.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The request's id, `req_…`." }),
    requestId: t.exposeID("id", {
      description:
        "The request's id, the same as `id`. Responses have the id in the `X-Request-Id` header, and " +
        "errors have it in `requestId`.",
    }),
    operation: t.exposeString("operation", {
      description: "The `operationId` of the called operation in the OpenAPI document.",
    }),
    method: t.exposeString("method", { description: "The HTTP method of the request." }),
    status: t.exposeInt("status", {
      description: "The HTTP status that the request was answered with, 100 to 599.",
    }),
    errorCode: t.exposeString("errorCode", {
      nullable: true,
      description: "The error code of the response; null if the request succeeded.",
    }),
    docUrl: t.field({
      type: "URL",
      nullable: true,
      description: "The URL of the documentation of the error code; null if the request succeeded.",
      resolve: ({ errorCode }, _args, { publicUrl }) =>
        errorCode === null ? null : getErrorDocUrl(errorCode, publicUrl),
    }),
    durationMs: t.exposeInt("durationMs", {
      description: "How long the server took to answer, in whole milliseconds.",
    }),
    at: t.expose("at", { type: "DateTime", description: "When the server answered the request." }),
    credentialId: t.exposeID("credentialId", {
      description:
        "The id of the credential that sent the request: an API key, `key_…`, or an OAuth grant, `grt_…`.",
    }),
    apiKey: t.field({
      type: ApiKeyRef,
      nullable: true,
      description:
        "The API key that sent the request; null if the request was sent with an OAuth access token.",
      authScopes: { callers: staffCallers },
      resolve: ({ credentialId }, _args, { loaders }) =>
        getObjectKindOfId(credentialId) === "apiKey" ? loaders.apiKeys.load(credentialId) : null,
    }),
    installation: t.field({
      type: InstallationRef,
      description: "The installation whose credential sent the request.",
      resolve: ({ installationId }, _args, { loaders }) => loaders.installations.load(installationId),
    }),
  }),
});

const [connection, edge] = createGraphqlConnectionTypeOptions("ApiRequest", "requests");
const ApiRequestEdge = builder.edgeObject({ type: ApiRequest, ...edge });
const ApiRequestConnection = builder.connectionObject({ type: ApiRequest, ...connection }, ApiRequestEdge);

/**
 * The sentence about how long and how many logged requests are kept, for the descriptions of both lists of
 * logged requests.
 */
const retention =
  `of at least the last ${requestRetentionDays} days, newest first. A request appears a few seconds after its ` +
  `response. The list is a sample: for every two seconds, each server process stores at most ` +
  `${loggedFailuresMax} failed and ${loggedSuccessesMax} successful requests of an installation. ` +
  "Requests without a known credential are not listed.";

builder.objectField(InstallationRef, "recentRequests", (t) =>
  t.connection(
    {
      type: ApiRequest,
      description: `The REST requests that the installation's credentials sent ${retention}`,
      authScopes: { callers: merchantReaders },
      complexity: computeConnectionCost,
      args: {
        onlyFailed: t.arg.boolean({
          description:
            "Whether to list only requests that were answered with a status of 400 or more; false by " +
            "default.",
        }),
      },
      resolve: ({ id: installationId }, { onlyFailed, ...page }, { db }) =>
        loadGraphqlConnection(page, {
          db,
          query: buildApiRequestSqlQuery(db, {
            installationId,
            statusFrom: onlyFailed === true ? 400 : null,
          }),
          column: "api_request.id",
          cursor: "request",
          isDescending: true,
        }),
    },
    ApiRequestConnection,
    ApiRequestEdge,
  ),
);

builder.queryFields((t) => ({
  apiRequest: t.field({
    type: ApiRequest,
    nullable: true,
    description:
      "The logged REST request with the given id; null if the request is not stored or belongs to another " +
      `merchant. Requests are stored for ${requestRetentionDays} days, and then until the end of the day in UTC.`,
    authScopes: { callers: merchantReaders },
    args: { id: t.arg.id({ required: true, description: "The request's id, `req_…`." }) },
    resolve: async (_root, { id }, context) => {
      const [request, owner] = [await findLoggedApiRequest(context.db, id), getCallerMerchantId(context)];
      return request === null || (owner !== null && owner !== request.merchantId) ? null : request;
    },
  }),
  apiRequests: t.connection(
    {
      type: ApiRequest,
      description:
        "The REST requests that apps sent for the merchants that the caller may read, " + retention,
      authScopes: { callers: merchantReaders },
      complexity: computeConnectionCost,
      args: {
        installationId: t.arg.id({
          description: "Returns only requests of the installation with this id, `ins_…`.",
        }),
        credentialId: t.arg.id({
          description:
            "Returns only requests that were sent with this API key, `key_…`, or OAuth grant, `grt_…`.",
        }),
        operation: t.arg.string({
          description: "Returns only requests of the REST operation with this `operationId`.",
        }),
        statusFrom: t.arg.int({
          description:
            "Returns only requests that were answered with at least this HTTP status, for example 400.",
        }),
        statusTo: t.arg.int({
          description:
            "Returns only requests that were answered with at most this HTTP status, for example 499.",
        }),
      },
      resolve: (_root, { installationId, credentialId, operation, statusFrom, statusTo, ...page }, context) =>
        loadGraphqlConnection(page, {
          db: context.db,
          query: buildApiRequestSqlQuery(context.db, {
            merchantId: getCallerMerchantId(context),
            installationId,
            credentialId,
            operation,
            statusFrom,
            statusTo,
          }),
          column: "api_request.id",
          cursor: "request",
          isDescending: true,
        }),
    },
    ApiRequestConnection,
    ApiRequestEdge,
  ),
}));
