/**
 * What every mutation does around its rule: one transaction, the tenant it acts for, the search index and the outbox told once. Where a request
 * may have its effect once only (an idempotency key), the transaction is already there and holds the record too.
 */
import type { InputRef, ShapeFromTypeParam, TypeParam } from "@pothos/core";
import type { GraphQLField } from "graphql";
import type { AccessEvent } from "#access/access-events.ts";
import type { Access } from "#access/keys/api-keys.ts";
import type { Viewer } from "#access/viewer.ts";
import { indexProducts } from "#commerce/search/index-products.ts";
import type { Database } from "#database/connect.ts";
import { inTransaction, type Transaction } from "#database/transaction.ts";
import type { Failure } from "#foundation/failure.ts";
import { recordMutation } from "./record-mutation.ts";
import { tellAccess } from "./access/access-events.ts";
import { type Cause, withOutbox } from "#webhooks/outbox.ts";
import type { CommandContext } from "#commerce/command-context.ts";
import { builder } from "./builder.ts";
import { type Caller, callerOf, ownerOf, staff, tenantOf } from "./callers.ts";
import type { GraphContext, GraphServices } from "./context.ts";

type Types = (typeof builder)["$inferSchemaTypes"];

/** A rule that changes something of one merchant, all in the transaction it is given. */
export type TenantWork<Input, Changed> = (transaction: Transaction, tenant: CommandContext, input: Input) => Promise<Changed>;
/** The same of what belongs to the platform, or to a merchant that the input names. */
export type AccessWork<Input, Changed> = (transaction: Transaction, access: ToldAccess, input: Input) => Promise<Changed>;

export interface ToldAccess extends Access {
  /** Takes what became of installations and keys. */
  readonly tell: (happened: readonly AccessEvent[]) => void;
}

interface MutationParts<Input extends object, Changed, Type extends TypeParam<Types>> {
  readonly description: string;
  readonly input: InputRef<Input>;
  readonly type: Type;
  /** Reads what is answered, after the change. */
  readonly answer: (context: GraphContext, changed: Changed) => Promise<ShapeFromTypeParam<Types, Type, false>>;
  /** Where doing it twice would cost somebody money or goods. */
  readonly isKeyRequired?: boolean;
}

/** The argument that makes a mutation happen once; the plugin `mesh/plugins/idempotency.ts` holds requests to it. */
export const idempotencyKeyArgument = "idempotencyKey";

export const idempotencyKeyDescription =
  "Makes the change happen once, however often it is sent: 1 to 255 printable ASCII characters, kept for 7 days. The document then has this one root field.";

/** Open to who runs a merchant; with a token of the platform the argument `merchantId` says which one. */
export function tenantMutation<Input extends object, Changed, Type extends TypeParam<Types>>(
  name: string,
  parts: MutationParts<Input, Changed, Type> & { readonly change: TenantWork<Input, Changed> },
): void {
  const { description, input, type, change, answer, isKeyRequired = false } = parts;
  builder.mutationField(name, (t) =>
    t.field({
      type,
      description,
      authScopes: { callers: staff },
      args: {
        merchantId: t.arg.id({ description: "The merchant; needed with a token of the platform." }),
        [idempotencyKeyArgument]: t.arg.string({ required: isKeyRequired, description: idempotencyKeyDescription }),
        input: t.arg({ type: input, required: true, description: "What shall change." }),
      },
      resolve: (async (_root: unknown, args: { merchantId?: string | null; input: Input }, context: GraphContext) => {
        const merchantId = tenantOf(context, args.merchantId);
        return answer(context, await changeOf(context, merchantId, (transaction, tenant) => change(transaction, tenant, args.input)));
      }) as never,
    }),
  );
}

interface AccessParts<Input extends object, Changed, Type extends TypeParam<Types>, Ready> extends MutationParts<Input, Changed, Type> {
  readonly callers: readonly Caller[];
  /** Whom of these it is not for after all, in the words they are told. */
  readonly refuse?: (viewer: Viewer) => Failure | undefined;
  /** What takes long and needs no transaction; the change is given what comes of it instead of the input. */
  readonly prepare?: (input: Input) => Promise<Ready>;
  readonly change: AccessWork<Ready, Changed>;
}

/**
 * What a mutation does before its transaction begins, because it takes long or asks the network. Declared in the
 * field's extensions, and called with the field's `input` before the transaction is opened.
 */
export type MutationPreparation<Input = unknown> = (input: Input, services: GraphServices) => unknown;

/** The extensions of a field with a preparation. */
export const preparing = <Input>(prepare: MutationPreparation<Input> | undefined): { readonly prepare?: MutationPreparation<Input> } =>
  prepare === undefined ? {} : { prepare };

/** Undefined if the mutation prepares nothing. */
export const preparationOf = ({ extensions }: Pick<GraphQLField<unknown, unknown>, "extensions">): MutationPreparation | undefined =>
  (extensions as { readonly prepare?: MutationPreparation }).prepare;

/** Open to the callers named; a token of one merchant changes what is that merchant's. */
export function accessMutation<Input extends object, Changed, Type extends TypeParam<Types>, Ready = Input>(
  name: string,
  parts: AccessParts<Input, Changed, Type, Ready>,
): void {
  const { description, input, type, change, answer, callers, refuse, isKeyRequired = false } = parts;
  const { prepare } = parts;
  builder.mutationField(name, (t) =>
    t.field({
      type,
      description,
      authScopes: { callers },
      args: {
        [idempotencyKeyArgument]: t.arg.string({ required: isKeyRequired, description: idempotencyKeyDescription }),
        input: t.arg({ type: input, required: true, description: "What shall change." }),
      },
      resolve: (async (_root: unknown, args: { input: Input }, context: GraphContext) => {
        const refusal = refuse?.(context.viewer);
        if (refusal !== undefined) throw refusal;
        const ready = (prepare === undefined ? args.input : (context.prepared ?? (await prepare(args.input)))) as Ready;
        return answer(context, await changeAccess(context, (transaction, access) => change(transaction, access, ready)));
      }) as never,
      extensions: preparing(prepare),
    }),
  );
}

/** Changes who may do what: all of it, what is told about it included, or nothing. */
function changeAccess<Changed>(context: GraphContext, work: (transaction: Transaction, access: ToldAccess) => Promise<Changed>): Promise<Changed> {
  const now = context.clock.now();
  const merchantId = ownerOf(context);
  return write(context.db, async (transaction) => {
    const happened: AccessEvent[] = [];
    const changed = await work(transaction, { merchantId, now, tell: (more) => void happened.push(...more) });
    await tellAccess(transaction, happened, { now, cause: causeOf(context), render: context.services.render });
    await recordMutation(transaction, context, { merchantId, now, changed });
    return changed;
  });
}

/** Changes something of one merchant: all of it, what is told about it included, or nothing. */
export function changeOf<Changed>(
  context: GraphContext,
  merchantId: string,
  work: (transaction: Transaction, tenant: CommandContext) => Promise<Changed>,
): Promise<Changed> {
  const now = context.clock.now();
  const circumstances = { merchantId, now, cause: causeOf(context), render: context.services.render };
  return write(context.db, async (transaction) => {
    const changed = await withOutbox(transaction, circumstances, (outbox) =>
      work(transaction, { merchantId, now, outbox, reindex: (handle, ids) => indexProducts(handle, ids, now) }),
    );
    await recordMutation(transaction, context, { merchantId, now, changed });
    return changed;
  });
}

/** In the transaction that is there already, or in one of its own. */
function write<Result>(db: Database, work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
  return db.isTransaction ? work(db as Transaction) : inTransaction(db, work);
}

/** Whoever is none of these works for the merchant or the platform. */
const actors: Partial<Record<Caller, Cause["actor"]>> = {
  storefront: "buyer",
  buyer: "buyer",
  api_key: "api_key",
  oauth: "oauth_client",
  system: "system",
};

/** Who makes it happen, and by what. */
export function causeOf({ viewer, operationId, requestId }: GraphContext): Cause {
  const caller = callerOf(viewer);
  return { operationId, actor: actors[caller] ?? "staff", requestId };
}

/** What was changed a moment ago in this request must be read anew. */
export function loadAnew<Key, Row>(loader: { clear(key: Key): { load(key: Key): Promise<Row> } }, key: Key): Promise<Row> {
  return loader.clear(key).load(key);
}
