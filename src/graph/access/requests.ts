/** What apps sent over REST and what became of it, for who runs a merchant and looks for what went wrong. */
import { type ApiRequestRow, requestList } from "#access/requests/request-list.ts";
import { failuresMax, keptDays, successesMax } from "#access/requests/request-log.ts";
import { docUrlOf } from "#foundation/failure.ts";
import { kindOf } from "#foundation/ids.ts";
import { builder, readers, staff } from "#graph/builder.ts";
import { connectionOf, listTypes, pageCost } from "#graph/connections.ts";
import { ApiKeyRef, InstallationRef } from "#graph/refs.ts";

const ApiRequest = builder.objectRef<ApiRequestRow>("ApiRequest").implement({
  description: "A request that an app sent over REST. Neither its parameters nor its body are kept.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The request's id, `req_…`." }),
    requestId: t.exposeID("id", { description: "The same id, as the answer has it in `X-Request-Id` and errors in `requestId`." }),
    operation: t.exposeString("operation", { description: "The operation, as the API's document names it in `operationId`." }),
    method: t.exposeString("method", { description: "The HTTP method." }),
    status: t.exposeInt("status", { description: "The HTTP status of the answer, 100 to 599." }),
    errorCode: t.exposeString("errorCode", { nullable: true, description: "The code of the error that was answered; null: none was." }),
    docUrl: t.field({
      type: "URL",
      nullable: true,
      description: "What the code means and what to do about it; null: there is no code.",
      resolve: ({ errorCode }, _args, { publicUrl }) => (errorCode === null ? null : docUrlOf(errorCode, publicUrl)),
    }),
    durationMs: t.exposeInt("durationMs", { description: "How long the answer took, in whole milliseconds." }),
    at: t.expose("at", { type: "DateTime", description: "When it was answered." }),
    credentialId: t.exposeID("credentialId", { description: "What it was sent with: the API key's id, `key_…`, or the grant's, `grt_…`." }),
    apiKey: t.field({
      type: ApiKeyRef,
      nullable: true,
      description: "The API key that it was sent with; null: it came with an access token.",
      authScopes: { callers: staff },
      resolve: ({ credentialId }, _args, { loaders }) => (kindOf(credentialId) === "apiKey" ? loaders.apiKeys.load(credentialId) : null),
    }),
  }),
});

builder.objectField(InstallationRef, "recentRequests", (t) =>
  t.connection(
    {
      type: ApiRequest,
      description: `What its credentials sent over REST in the last ${keptDays} days, newest first, a few seconds after the answer. It is a sample: of every two seconds and process ${failuresMax} failures and ${successesMax} successes at most, which is all of an app that is not very busy. Requests without a credential are not here, nor those whose credential was not recognized.`,
      authScopes: { callers: readers },
      complexity: pageCost,
      args: { onlyFailed: t.arg.boolean({ description: "Whether only those are meant whose status is 400 or more; all unless told." }) },
      resolve: ({ id: installationId }, { onlyFailed, ...page }, { db }) =>
        connectionOf(page, {
          db,
          query: requestList(db, { installationId, isFailedOnly: onlyFailed === true }),
          column: "api_request.id",
          isNewestFirst: true,
        }),
    },
    ...listTypes("ApiRequest", "requests"),
  ),
);
