/** Who did what, for who runs a merchant. */
import { selectAuditEntries, type AuditRow } from "#access/audit.ts";
import { builder, defineEnum } from "#graph/builder.ts";
import { ownerOf, staff } from "#graph/context.ts";
import { connectionOf, pageCost, listTypes } from "#graph/connections.ts";

const AuditActorEnum = defineEnum("AuditActor", {
  description: "Who did something.",
  values: {
    api_key: "An installation, with an API key.",
    oauth_client: "An installation, with an OAuth token.",
    buyer: "A buyer.",
    staff: "Who runs the merchant, with an account or an internal token.",
    operator: "The platform, with an internal token.",
    command: "The platform, at the command line.",
    system: "The service itself.",
  },
});

const AuditEntry = builder.objectRef<AuditRow>("AuditEntry").implement({
  description: "Something that was done. It is never changed or deleted.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The entry's id, `aud_…`." }),
    at: t.expose("at", { type: "DateTime", description: "When it was done." }),
    merchantId: t.exposeID("merchantId", {
      nullable: true,
      description: "Whose it is; null: the platform's.",
    }),
    actor: t.expose("actor", { type: AuditActorEnum, description: "Who did it." }),
    actorId: t.exposeID("actorId", {
      nullable: true,
      description: "The key, grant, internal token or account; null: none had to be shown.",
    }),
    action: t.exposeString("action", {
      description: "What was done: the name of the mutation, or of the REST operation.",
    }),
    targetType: t.exposeString("targetType", {
      nullable: true,
      description: "What it was done to: `cart`, `api_key` and so on.",
    }),
    targetId: t.exposeID("targetId", {
      nullable: true,
      description: "The id of that; null: many things, or none.",
    }),
    requestId: t.exposeID("requestId", {
      nullable: true,
      description: "The request, as its answer and the log name it; null: none.",
    }),
    details: t.expose("details", {
      type: "JSON",
      description:
        "The names of the fields that were given, ids of other things, and the reason. Never a secret, and nothing of a buyer's.",
    }),
  }),
});

builder.queryField("auditEntries", (t) =>
  t.connection(
    {
      type: AuditEntry,
      description:
        "What was done to the merchants that the token sees, newest first; with a token of the platform also what was done to the platform.",
      authScopes: { callers: staff },
      complexity: pageCost,
      args: {
        actor: t.arg({ type: AuditActorEnum, description: "Only what such a one did." }),
        actorId: t.arg.id({ description: "Only what this key, grant, internal token or account did." }),
        action: t.arg.string({ description: "Only this mutation or REST operation." }),
        targetId: t.arg.id({ description: "Only what was done to this." }),
        from: t.arg({ type: "DateTime", description: "Only what was done then or later." }),
        to: t.arg({ type: "DateTime", description: "Only what was done before." }),
      },
      resolve: (_root, { actor, actorId, action, targetId, from, to, ...page }, context) =>
        connectionOf(page, {
          db: context.db,
          query: selectAuditEntries(context.db, {
            merchantId: ownerOf(context),
            actor,
            actorId,
            action,
            targetId,
            from,
            until: to,
          }),
          column: "audit_entry.id",
          isNewestFirst: true,
        }),
    },
    ...listTypes("AuditEntry", "what was done"),
  ),
);
