/**
 * The factory of all mutations. `changeMutation` defines the field and its arguments, and runs its command in
 * one transaction with the events and the audit entry. The kinds of mutations (`change-kinds.ts`) differ in
 * the context that their commands get. A request with an idempotency key has its transaction already
 * (`mesh/plugins/idempotency.ts`); it also holds the recorded answer.
 */
import type { InputRef, OutputRef, ShapeFromTypeParam, TypeParam } from "@pothos/core";
import type { GraphQLField, GraphQLSchema } from "graphql";
import type { Database } from "#database/connect.ts";
import { inTransaction, type Transaction } from "#database/transaction.ts";
import { fail } from "#foundation/failure.ts";
import { appendAuditEntries, getAuditActor, auditableId } from "#access/audit.ts";
import { builder } from "./builder.ts";
import { type CallerKind, type GraphContext, type GraphServices, staffCallers } from "./context.ts";

type Types = (typeof builder)["$inferSchemaTypes"];

/**
 * What the commands of a kind of mutations get beside the transaction and the input, and what happens around
 * them.
 */
export interface MutationContext<Context> {
  /** Whether the mutation has the argument `merchantId`, for callers of the platform. */
  readonly hasMerchantId: boolean;
  /** Checks the merchant, before the transaction. */
  readonly open: (request: GraphContext, merchantId: string | null | undefined) => OpenedMutation<Context>;
}

export interface OpenedMutation<Context> {
  /** Null is the platform. */
  readonly merchantId: string | null;
  /** Makes the context of the command, and writes the events of its changes. */
  readonly run: <Changed>(
    at: MutationMoment,
    command: (context: Context) => Promise<Changed>,
  ) => Promise<Changed>;
}

export interface MutationMoment {
  readonly transaction: Transaction;
  readonly now: Date;
}

/**
 * What a mutation does before its transaction begins, because it takes long or needs the network: a
 * password's hash, DNS. `mesh/idempotent-document.ts` calls it with the argument `input` if the transaction
 * is opened for an idempotency key.
 */
export type MutationPreparation<Input = unknown, Prepared = unknown> = (
  input: Input,
  services: GraphServices,
) => Promise<Prepared>;

/** What mutations of one kind have in common. */
export interface MutationKind<Context, Ids extends string = never> {
  readonly context: MutationContext<Context>;
  /** Staff, unless given. */
  readonly callers?: readonly CallerKind[];
  /** Arguments with the ids of what the mutation acts on, with their descriptions. */
  readonly target?: Readonly<Record<Ids, string>>;
  /**
   * Whether the argument `idempotencyKey` is required: where doing it twice would cost money or goods.
   * `required_or_header` is for mutations that are also REST operations, which have their key in a header.
   */
  readonly idempotency: "optional" | "required" | "required_or_header";
  /** Throws if the caller may not do this after all. Runs before everything else. */
  readonly check?: (request: GraphContext, input: Readonly<Record<Ids, string>>) => void;
}

type InputOf<Input, Ids extends string, OptionalIds extends string> = Input &
  Readonly<Record<Ids, string>> &
  Readonly<Partial<Record<OptionalIds, string | null>>>;

interface ChangeMutation<
  Input extends object,
  Ids extends string,
  OptionalIds extends string,
  Context,
  Prepared,
  Changed,
  Type,
> {
  readonly name: string;
  readonly description: string;
  readonly context: MutationContext<Context>;
  readonly callers?: readonly CallerKind[];
  readonly target?: Readonly<Record<Ids, string>>;
  /** Like `target`, but nullable. */
  readonly optionalTarget?: Readonly<Record<OptionalIds, string>>;
  readonly input: InputRef<Input>;
  /** "What shall change.", unless given. */
  readonly inputDescription?: string;
  readonly type: Type;
  readonly idempotency: MutationKind<unknown>["idempotency"];
  readonly check?: (request: GraphContext, input: InputOf<Input, Ids, OptionalIds>) => void;
  readonly prepare?: MutationPreparation<Input, Prepared>;
  /** The command. What was prepared is the input's `prepared`. */
  readonly run: (
    transaction: Transaction,
    context: Context,
    input: InputOf<Input, Ids, OptionalIds> & { readonly prepared: Prepared },
  ) => Promise<Changed>;
}

/** Gives the answer, after the change; without it what the command gave is answered. */
interface Answered<Changed, Shape> {
  readonly answer: (request: GraphContext, changed: Changed) => Shape | Promise<Shape>;
}

type AnyChange = ChangeMutation<object, string, string, unknown, unknown, unknown, OutputRef>;

/**
 * The parts of any mutation. Pothos decides by conditional types what a resolver gives, and TypeScript leaves
 * those open for type parameters.
 */
interface AnyMutation extends Omit<AnyChange, "check" | "prepare" | "run"> {
  readonly check?: (request: GraphContext, input: object) => void;
  readonly prepare?: MutationPreparation;
  readonly run: (transaction: Transaction, context: unknown, input: object) => Promise<unknown>;
  readonly answer?: (request: GraphContext, changed: unknown) => unknown;
}

/**
 * The argument that makes a mutation happen once; the plugin `mesh/plugins/idempotency.ts` holds requests to
 * it.
 */
export const idempotencyKeyArgument = "idempotencyKey";

const idempotencyKeyDescription =
  "Makes the change happen once, however often it is sent: 1 to 255 printable ASCII characters, kept for 7 days. The document then has this one root field.";

export function defineMutation<
  Input extends object,
  Context,
  Changed,
  Type extends TypeParam<Types>,
  Ids extends string = never,
  OptionalIds extends string = never,
  Prepared = undefined,
>(
  parts: ChangeMutation<Input, Ids, OptionalIds, Context, Prepared, Changed, Type> &
    Answered<Changed, ShapeFromTypeParam<Types, Type, false>>,
): void;
export function defineMutation<
  Input extends object,
  Context,
  Type extends TypeParam<Types>,
  Ids extends string = never,
  OptionalIds extends string = never,
  Prepared = undefined,
>(
  parts: ChangeMutation<
    Input,
    Ids,
    OptionalIds,
    Context,
    Prepared,
    ShapeFromTypeParam<Types, Type, false>,
    Type
  >,
): void;
export function defineMutation(parts: AnyMutation): void {
  const {
    name,
    description,
    context,
    callers = staffCallers,
    input,
    inputDescription = "What shall change.",
    type,
    idempotency,
  } = parts;
  const keyDescription =
    idempotency === "required_or_header"
      ? `${idempotencyKeyDescription} Needed with an internal token.`
      : idempotencyKeyDescription;
  builder.mutationField(name, (t) => {
    const ids = (descriptions: Readonly<Record<string, string>> = {}, required = false) =>
      Object.fromEntries(
        Object.entries(descriptions).map(([id, text]) => [id, t.arg.id({ required, description: text })]),
      );
    return t.field({
      type,
      description,
      authScopes: { callers },
      args: {
        ...(context.hasMerchantId
          ? ids({ merchantId: "The merchant; needed with a token of the platform." })
          : {}),
        ...ids(parts.target, true),
        ...ids(parts.optionalTarget),
        [idempotencyKeyArgument]: t.arg.string({
          required: idempotency === "required",
          description: keyDescription,
        }),
        input: t.arg({ type: input, required: true, description: inputDescription }),
      },
      resolve: (_root, args, request) => runMutation(parts, args, request),
      extensions: { change: { prepare: parts.prepare } },
    });
  });
}

interface Arguments {
  readonly [id: string]: unknown;
  readonly merchantId?: string | null | undefined;
  readonly input: object;
}

async function runMutation(parts: AnyMutation, args: Arguments, request: GraphContext): Promise<unknown> {
  const { name, context, idempotency, check, prepare, run, answer } = parts;
  const { merchantId: merchantArgument, [idempotencyKeyArgument]: _key, input, ...ids } = args;
  if (idempotency === "required_or_header" && !request.db.isTransaction)
    throw fail("idempotency_key_required", { message: "This needs an idempotencyKey." });
  check?.(request, { ...input, ...ids });
  const prepared = request.prepared ?? (await prepare?.(input, request.services));
  const now = request.clock.now();
  const { merchantId, run: runWith } = context.open(request, merchantArgument);
  const changed = await inOneTransaction(request.db, async (transaction) => {
    const done = await runWith({ transaction, now }, (commandContext) =>
      run(transaction, commandContext, { ...input, ...ids, prepared }),
    );
    await recordMutation(transaction, request, { mutation: { name, args }, merchantId, now, changed: done });
    return done;
  });
  return answer === undefined ? changed : answer(request, changed);
}

/** Runs the work in the transaction of the request's idempotency key, or in one of its own. */
function inOneTransaction<Result>(
  db: Database,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  return isTransaction(db) ? work(db) : inTransaction(db, work);
}

const isTransaction = (db: Database): db is Transaction => db.isTransaction;

declare module "graphql" {
  // eslint-disable-next-line no-unused-vars -- A merged declaration has the type parameters of the original.
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** Of mutations made by `changeMutation`. */
    readonly change?: { readonly prepare: MutationPreparation | undefined } | undefined;
  }
}

/** Gives the preparation of a mutation, or undefined if it has none. */
export const getMutationPreparation = ({
  extensions,
}: Pick<GraphQLField<unknown, unknown>, "extensions">): MutationPreparation | undefined =>
  extensions.change?.prepare;

/** Throws if a mutation was not made by `changeMutation`: it would neither be recorded nor prepared. */
export function requireDefinedMutations(schema: GraphQLSchema): GraphQLSchema {
  for (const { name, extensions } of Object.values(schema.getMutationType()?.getFields() ?? {}))
    if (extensions.change === undefined)
      throw new Error(`The mutation ${name} must be defined with changeMutation.`);
  return schema;
}

/** What was changed a moment ago in this request must be read anew. */
export function reloadChangedRow<Key, Row>(
  loader: { clear(key: Key): { load(key: Key): Promise<Row> } },
  key: Key,
): Promise<Row> {
  return loader.clear(key).load(key);
}

/** A mutation as it was called. */
interface CalledMutation {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

interface RecordedChange {
  readonly mutation: CalledMutation;
  /** Null: the platform's, or that of what was changed. */
  readonly merchantId: string | null;
  readonly now: Date;
  /** What the rule answered with. */
  readonly changed: unknown;
}

async function recordMutation(
  transaction: Transaction,
  context: GraphContext,
  change: RecordedChange,
): Promise<void> {
  const { viewer, operationId, requestId } = context;
  const { mutation, merchantId, now, changed } = change;
  const actor = getAuditActor(viewer);
  if (actor === undefined) return;
  const targetId = targetOf(mutation, changed) ?? null;
  await appendAuditEntries(transaction, {
    ...actor,
    merchantId,
    now,
    action: operationId ?? mutation.name,
    targetId,
    requestId,
    details: detailsOf(mutation, targetId),
  });
}

/** What the call names beside its input, else what came of it, else what the input names. */
function targetOf({ args }: CalledMutation, changed: unknown): string | undefined {
  const { merchantId: _merchant, input, ...own } = args;
  return idOf(own) ?? auditableId(changed) ?? idOf(changed) ?? idWithin(changed) ?? idOf(input);
}

/** Of what is answered beside something else, as a new thing is beside its secret. */
const idWithin = (changed: unknown): string | undefined =>
  typeof changed !== "object" || changed === null || Array.isArray(changed)
    ? undefined
    : Object.values(changed)
        .map((part: { readonly id?: unknown } | null) => auditableId(part?.id))
        .find((id) => id !== undefined);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** Its own id, or the first that it names. */
function idOf(value: unknown): string | undefined {
  if (!isObject(value)) return undefined;
  const { id, merchantId, ...others } = value;
  return auditableId(id) ?? namedIds(others)[0]?.[1] ?? auditableId(merchantId);
}

const namedIds = (value: object): [name: string, id: string][] =>
  Object.entries(value).flatMap(([name, one]): [string, string][] => {
    const id = name.endsWith("Id") ? auditableId(one) : undefined;
    return id === undefined ? [] : [[name, id]];
  });

/** No fields of things: they say on which version, or why. */
const circumstances = new Set(["expectedVersion", "reason", "note"]);
/** What is kept nowhere else of why a promotion was taken off. */
const keepingNotes = new Set(["cartPromotionRemove"]);

/** The names of the fields that were given, and whatever else was named by its id. */
function detailsOf(
  { name, args }: CalledMutation,
  targetId: string | null,
): Readonly<Record<string, unknown>> {
  const input = isObject(args["input"]) ? args["input"] : {};
  const given = Object.entries(input).filter(([, value]) => value !== undefined && value !== null);
  const ids = namedIds(input).filter(([field, id]) => id !== targetId && field !== "merchantId");
  const fields = given
    .map(([field]) => field)
    .filter((field) => !circumstances.has(field) && auditableId(input[field]) === undefined);
  const { reason, note } = input;
  return {
    ...(fields.length === 0 ? {} : { fields: fields.toSorted() }),
    ...Object.fromEntries(ids),
    // A word of ours, and not a text of theirs.
    ...(typeof reason === "string" && /^[a-z_]{1,40}$/.test(reason) ? { reason } : {}),
    ...(typeof note === "string" && keepingNotes.has(name) ? { note } : {}),
  };
}
