/**
 * The GraphQL types and query of the audit log. Staff of a merchant read the entries of that merchant;
 * platform operators read all entries.
 */
import { buildAuditEntrySqlQuery, type AuditEntryRow } from "#access/audit.ts";
import { getObjectKindOfId, type IdKind } from "#foundation/ids.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import { type GraphqlContext, getCallerMerchantId, staffCallers } from "#graph/context.ts";
import {
  loadGraphqlConnection,
  computeConnectionCost,
  createGraphqlConnectionTypeOptions,
} from "#graph/connections.ts";
import { ApiKeyRef, InternalTokenRef, OAuthGrantRef, StaffAccountRef } from "#graph/refs.ts";

const AuditActorEnum = defineGraphqlEnum("AuditActor", {
  description: "The kind of caller that made a change.",
  values: {
    api_key: "An app made the change, with an API key of its installation.",
    oauth_client: "An app made the change, with an OAuth access token of its installation.",
    buyer: "A buyer made the change.",
    staff:
      "The merchant's staff made the change: a staff member with an account, or a program with an internal " +
      "token of the role admin or analyst.",
    operator: "The platform made the change, with an internal token of the role operator.",
    command: "An operator of the platform made the change at the command line.",
    system: "The service itself made the change, without a request.",
  },
});

const AuditEntry = builder.objectRef<AuditEntryRow>("AuditEntry").implement({
  description:
    "An entry of the audit log: a change that a caller made. Entries are never changed or deleted.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The audit entry's id, `aud_…`." }),
    at: t.expose("at", { type: "DateTime", description: "When the change was made." }),
    merchantId: t.exposeID("merchantId", {
      nullable: true,
      description:
        "The id of the merchant whose data was changed, `mer_…`; null if the change concerns the platform.",
    }),
    actor: t.expose("actor", {
      type: AuditActorEnum,
      description: "The kind of caller that made the change.",
    }),
    actorId: t.exposeID("actorId", {
      nullable: true,
      description:
        "The id of the API key, OAuth grant, internal token or staff account that made the change; null " +
        "for the command line and for the service itself.",
    }),
    action: t.exposeString("action", {
      description: "The name of the GraphQL mutation or REST operation that made the change.",
    }),
    targetType: t.exposeString("targetType", {
      nullable: true,
      description:
        "The type of the changed object, for example `cart` or `api_key`; null if the change concerns " +
        "several objects or none.",
    }),
    targetId: t.exposeID("targetId", {
      nullable: true,
      description: "The id of the changed object; null if the change concerns several objects or none.",
    }),
    requestId: t.exposeID("requestId", {
      nullable: true,
      description:
        "The id of the request, as in the `X-Request-Id` header and in the logs; null if the change was " +
        "made without a request.",
    }),
    details: t.expose("details", {
      type: "JSON",
      description:
        "A JSON object with the names of the input fields that the caller gave, the ids of related objects " +
        "and the reason for the change. The object contains no secrets and no personal data of buyers.",
    }),
  }),
});

type ActorRow = { readonly merchantId: string | null };

interface ActorLoader<Row extends ActorRow> {
  readonly load: (id: string) => Promise<Row | null>;
}

/**
 * Loads the actor of an audit entry, for example a staff account. Returns null unless the prefix of the
 * actor's id belongs to the given kind of actor. Also returns null for an actor outside the caller's
 * merchant; callers of the platform may see every actor.
 */
async function loadActor<Row extends ActorRow>(
  { actorId }: AuditEntryRow,
  kind: IdKind,
  { context, loader }: { readonly context: GraphqlContext; readonly loader: ActorLoader<Row> },
): Promise<Row | null> {
  if (actorId === null || getObjectKindOfId(actorId) !== kind) return null;
  const [owner, actor] = [getCallerMerchantId(context), await loader.load(actorId)];
  return owner === null || owner === actor?.merchantId ? actor : null;
}

builder.objectFields(AuditEntry, (t) => ({
  apiKey: t.field({
    type: ApiKeyRef,
    nullable: true,
    description: "The API key that made the change; null if another kind of caller made the change.",
    resolve: (entry, _args, context) =>
      loadActor(entry, "apiKey", { context, loader: context.loaders.apiKeys }),
  }),
  oauthGrant: t.field({
    type: OAuthGrantRef,
    nullable: true,
    description:
      "The OAuth grant with which the change was made; null if another kind of caller made the change, or " +
      "if the grant ended more than 90 days ago.",
    resolve: (entry, _args, context) =>
      loadActor(entry, "oauthGrant", { context, loader: context.loaders.retainedGrants }),
  }),
  staff: t.field({
    type: StaffAccountRef,
    nullable: true,
    description: "The staff member who made the change; null if another kind of caller made the change.",
    resolve: (entry, _args, context) =>
      loadActor(entry, "staff", { context, loader: context.loaders.staffAccounts }),
  }),
  internalToken: t.field({
    type: InternalTokenRef,
    nullable: true,
    description:
      "The internal token with which the change was made; null if another kind of caller made the change, " +
      "or if the token belongs to the platform and the reader of the entry does not.",
    resolve: (entry, _args, context) =>
      loadActor(entry, "internalToken", { context, loader: context.loaders.internalTokens }),
  }),
}));

builder.queryField("auditEntries", (t) =>
  t.connection(
    {
      type: AuditEntry,
      description:
        "The audit entries of the merchants that the caller may read, newest first. A token of the " +
        "platform also gets the entries of the platform.",
      authScopes: { callers: staffCallers },
      complexity: computeConnectionCost,
      args: {
        actor: t.arg({
          type: AuditActorEnum,
          description: "Returns only entries of changes that this kind of caller made.",
        }),
        actorId: t.arg.id({
          description:
            "Returns only entries of changes that were made with the API key, OAuth grant, internal token " +
            "or staff account with this id.",
        }),
        action: t.arg.string({
          description:
            "Returns only entries of changes made by the GraphQL mutation or REST operation with this " +
            "name.",
        }),
        targetId: t.arg.id({ description: "Returns only entries of changes of the object with this id." }),
        from: t.arg({
          type: "DateTime",
          description: "Returns only entries of changes made at this time or later.",
        }),
        to: t.arg({
          type: "DateTime",
          description: "Returns only entries of changes made before this time.",
        }),
      },
      resolve: (_root, { actor, actorId, action, targetId, from, to, ...page }, context) =>
        loadGraphqlConnection(page, {
          db: context.db,
          query: buildAuditEntrySqlQuery(context.db, {
            merchantId: getCallerMerchantId(context),
            actor,
            actorId,
            action,
            targetId,
            from,
            until: to,
          }),
          column: "audit_entry.id",
          cursor: "audit",
          isDescending: true,
        }),
    },
    ...createGraphqlConnectionTypeOptions("AuditEntry", "audit entries"),
  ),
);
