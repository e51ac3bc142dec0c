/**
 * `defineMutation` defines a GraphQL mutation. The mutation runs its command, publishes its events and writes
 * its audit entry in one transaction. For a request with an idempotency key, `mesh/plugins/idempotency.ts`
 * opens the transaction and stores the answer.
 */
import type { InputRef, OutputRef, ShapeFromTypeParam, TypeParam } from "@pothos/core";
import type { GraphQLSchema } from "graphql";
import type { Database } from "#database/connect.ts";
import {
  type LockAndRead,
  runInTransaction,
  runInTransactionWithLock,
  type Transaction,
} from "#database/transaction.ts";
import { createFailure, Failure, type FailureCode } from "#foundation/failure.ts";
import { builder } from "./builder.ts";
import { mutationCost } from "./limits.ts";
import { addArgumentNameToNotFoundError } from "./missing-objects.ts";
import { appendAuditEntryOfMutation } from "./record-mutation.ts";
import {
  type CallerKind,
  getCallerKindOfViewer,
  type GraphqlContext,
  type GraphqlServices,
  staffCallers,
} from "./context.ts";

type Types = (typeof builder)["$inferSchemaTypes"];

/**
 * Checks the merchant of a mutation and creates the context for the mutation's command. All mutations of one
 * kind use the same object of this type.
 */
export interface MutationAuthorizer<Context> {
  /**
   * True if the mutation has the argument `merchantId`, with which a caller of the platform names the
   * merchant whose data the mutation changes.
   */
  readonly hasMerchantId: boolean;
  /** Checks the argument `merchantId` before the transaction of the mutation begins. */
  readonly open: (
    request: GraphqlContext,
    merchantId: string | null | undefined,
  ) => AuthorizedMutation<Context>;
}

/** A mutation whose argument `merchantId` has been checked and whose command has not run yet. */
export interface AuthorizedMutation<Context> {
  /** The id of the merchant whose data changes; null for data of the platform. */
  readonly merchantId: string | null;
  /** Runs the mutation's command, and then publishes the events of the command's changes. */
  readonly run: <Changed>(
    at: MutationTransactionAndTime,
    command: (context: Context) => Promise<Changed>,
  ) => Promise<Changed>;
}

/** The transaction of a mutation's command, and the time that the command stores in all rows and events. */
export interface MutationTransactionAndTime {
  readonly transaction: Transaction;
  readonly now: Date;
}

/**
 * A function for slow work or network requests before a mutation's transaction begins, for example hashing a
 * password. For a request with an idempotency key, `mesh/idempotent-document.ts` calls the function before it
 * opens the transaction.
 */
export type MutationPreparationFunction<Input = unknown, Prepared = unknown> = (
  input: Input,
  services: GraphqlServices,
) => Promise<Prepared>;

/** The options that all mutations of one kind share. */
export interface MutationKind<Context, Ids extends string = never> {
  readonly context: MutationAuthorizer<Context>;
  /** The kinds of callers that may run the mutation; if left out, `staffCallers`. */
  readonly callers?: readonly CallerKind[];
  /**
   * Names and descriptions of the mutation's required id arguments. They name the object that the mutation
   * changes.
   */
  readonly target?: Readonly<Record<Ids, string>>;
  /**
   * The error codes that the mutation can return, in addition to `commonMutationFailures`. The option
   * replaces the codes of the mutation's kind. A mutation that sets it therefore repeats them, for example as
   * `[...existingCartMutationKind.failures, "cart_empty"]`.
   */
  readonly failures: readonly FailureCode[];
  /**
   * Whether a request must have an idempotency key. `required`: the argument `idempotencyKey` is required,
   * because the mutation moves money or goods. `required_or_header`: as `required`, but REST requests send
   * the key in a header, because the mutation is a REST operation too.
   */
  readonly idempotency: "optional" | "required" | "required_or_header";
  /**
   * The first check of the mutation. Throws if the caller may not change the object that the id arguments
   * name.
   */
  readonly check?: (request: GraphqlContext, input: Readonly<Record<Ids, string>>) => void;
  readonly opening?: MutationOpening;
}

/**
 * Returns the row that a mutation locks and reads when its transaction begins; undefined if the mutation
 * locks its rows itself. `input` has the arguments of the mutation, which may be invalid.
 */
export type MutationOpening = (
  request: GraphqlContext,
  merchantId: string,
  input: Readonly<Record<string, unknown>>,
) => LockAndRead | undefined;

type CommandInput<Input, Ids extends string, OptionalIds extends string> = Input &
  Readonly<Record<Ids, string>> &
  Readonly<Partial<Record<OptionalIds, string | null>>>;

/**
 * The value of the argument `options` for the mutation's command. Only mutations that define this argument
 * have it.
 */
interface OptionsInput<Options> {
  readonly options?: Options | null | undefined;
}

interface MutationOptions<
  Input extends object,
  Ids extends string,
  OptionalIds extends string,
  Context,
  Prepared,
  Changed,
  Type,
  Options extends object,
> {
  readonly name: string;
  readonly description: string;
  readonly context: MutationAuthorizer<Context>;
  readonly callers?: readonly CallerKind[];
  readonly target?: Readonly<Record<Ids, string>>;
  /** Names and descriptions of the mutation's optional id arguments, which also accept null. */
  readonly optionalTarget?: Readonly<Record<OptionalIds, string>>;
  readonly input: InputRef<Input>;
  /** The description of the argument `input`; if left out, the description refers to the input type. */
  readonly inputDescription?: string;
  /**
   * The optional argument `options` with settings that only GraphQL has. They cannot be fields of `input`,
   * because the type of `input` is the body of a REST operation.
   */
  readonly options?: { readonly input: InputRef<Options>; readonly description: string };
  readonly type: Type;
  readonly failures: MutationKind<unknown>["failures"];
  readonly idempotency: MutationKind<unknown>["idempotency"];
  readonly check?: (request: GraphqlContext, input: CommandInput<Input, Ids, OptionalIds>) => void;
  readonly prepare?: MutationPreparationFunction<Input, Prepared>;
  readonly opening?: MutationOpening | undefined;
  /** The command that changes the data. `input.prepared` is the value that `prepare` returned. */
  readonly run: (
    transaction: Transaction,
    context: Context,
    input: CommandInput<Input, Ids, OptionalIds> & OptionsInput<Options> & { readonly prepared: Prepared },
  ) => Promise<Changed>;
}

/** Computes the mutation's GraphQL result from the return value of its command. Left out if the two are equal. */
interface AnswerOption<Changed, Shape> {
  readonly answer: (request: GraphqlContext, changed: Changed) => Shape | Promise<Shape>;
}

type UntypedOptions = MutationOptions<object, string, string, unknown, unknown, unknown, OutputRef, object>;

/**
 * `MutationOptions` without type parameters, because TypeScript cannot resolve the conditional types of
 * Pothos for a generic type.
 */
interface AnyMutationOptions extends Omit<UntypedOptions, "check" | "prepare" | "run"> {
  readonly check?: (request: GraphqlContext, input: object) => void;
  readonly prepare?: MutationPreparationFunction;
  readonly run: (transaction: Transaction, context: unknown, input: object) => Promise<unknown>;
  readonly answer?: (request: GraphqlContext, changed: unknown) => unknown;
}

/** The name of the argument with the idempotency key. `mesh/plugins/idempotency.ts` reads its value. */
export const idempotencyKeyArgument = "idempotencyKey";

const idempotencyKeyDescription =
  "A key that makes retries safe: a second request with the same key and the same content changes " +
  "nothing and returns the stored first answer. 1 to 255 printable ASCII characters, without space, " +
  "quotation mark, backslash, comma and semicolon; stored for 7 days. A GraphQL document with " +
  "an idempotency key must have exactly one root field.";

export function defineMutation<
  Input extends object,
  Context,
  Changed,
  Type extends TypeParam<Types>,
  Ids extends string = never,
  OptionalIds extends string = never,
  Prepared = undefined,
  Options extends object = never,
>(
  parts: MutationOptions<Input, Ids, OptionalIds, Context, Prepared, Changed, Type, Options> &
    AnswerOption<Changed, ShapeFromTypeParam<Types, Type, false>>,
): void;
export function defineMutation<
  Input extends object,
  Context,
  Type extends TypeParam<Types>,
  Ids extends string = never,
  OptionalIds extends string = never,
  Prepared = undefined,
  Options extends object = never,
>(
  parts: MutationOptions<
    Input,
    Ids,
    OptionalIds,
    Context,
    Prepared,
    ShapeFromTypeParam<Types, Type, false>,
    Type,
    Options
  >,
): void;
export function defineMutation(parts: AnyMutationOptions): void {
  const {
    name,
    description,
    context,
    callers = staffCallers,
    input,
    options,
    inputDescription = `The values of the mutation, as the type \`${input.name}\` describes them.`,
    type,
    idempotency,
  } = parts;
  const keyDescription =
    idempotency === "required_or_header"
      ? `${idempotencyKeyDescription} Required with an internal token.`
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
      complexity: mutationCost,
      args: {
        ...(context.hasMerchantId
          ? ids({
              merchantId:
                "The id of the merchant, `mer_…`. Required with a platform token; a token of a merchant " +
                "may leave it out.",
            })
          : {}),
        ...ids(parts.target, true),
        ...ids(parts.optionalTarget),
        [idempotencyKeyArgument]: t.arg.string({
          required: idempotency === "required",
          description: keyDescription,
        }),
        input: t.arg({ type: input, required: true, description: inputDescription }),
        ...(options === undefined
          ? {}
          : { options: t.arg({ type: options.input, description: options.description }) }),
      },
      resolve: (_root, args, request) => runMutation(parts, args, request),
      extensions: {
        change: { prepare: parts.prepare, open: createOpening(parts), failures: listFailures(parts) },
      },
    });
  });
}

/** Returns the error codes of a mutation, in addition to `commonMutationFailures`. */
const listFailures = ({ failures, context, idempotency }: AnyMutationOptions): readonly FailureCode[] => [
  ...failures,
  ...(context.hasMerchantId ? merchantArgumentFailures : []),
  ...(idempotency === "required_or_header" ? keyArgumentFailures : []),
];
const merchantArgumentFailures: readonly FailureCode[] = ["missing_field", "merchant_not_found"];
const keyArgumentFailures: readonly FailureCode[] = ["idempotency_key_required"];

interface Arguments {
  readonly [id: string]: unknown;
  readonly merchantId?: string | null | undefined;
  readonly input: object;
}

async function runMutation(
  parts: AnyMutationOptions,
  args: Arguments,
  request: GraphqlContext,
): Promise<unknown> {
  const { name, context, idempotency, check, prepare, run, answer } = parts;
  const { merchantId: merchantArgument, [idempotencyKeyArgument]: _key, input, ...ids } = args;
  if (idempotency === "required_or_header" && !request.db.isTransaction)
    throw createFailure("idempotency_key_required", {
      message: 'The argument "idempotencyKey" is required for this mutation.',
    });
  check?.(request, { ...input, ...ids });
  const prepared = request.prepared ?? (await prepare?.(input, request.services));
  const now = request.clock.now();
  const { merchantId, run: runWith } = context.open(request, merchantArgument);
  const changed = await inOneTransaction(
    parts,
    args,
    request,
  )(async (transaction) => {
    const done = await runWith({ transaction, now }, (commandContext) =>
      run(transaction, commandContext, { ...input, ...ids, prepared }),
    );
    await appendAuditEntryOfMutation(transaction, request, {
      mutation: { name, args },
      merchantId,
      now,
      changed: done,
    });
    return done;
  }).catch((error: unknown) => {
    throw request.operationId === null ? addArgumentNameToNotFoundError(error, { ids, input }) : error;
  });
  return answer === undefined ? changed : answer(request, changed);
}

type RunInTransaction = <Result>(work: (transaction: Transaction) => Promise<Result>) => Promise<Result>;

/**
 * Runs a function in the request's open transaction, or in a new one on the primary database. The primary
 * database is needed because analysts read from a replica, which refuses writes.
 */
const inOneTransaction =
  (parts: AnyMutationOptions, args: Arguments, request: GraphqlContext): RunInTransaction =>
  (work) => {
    const { db, services } = request;
    if (isTransaction(db)) return work(db);
    const opening = createOpening(parts)?.(request, args);
    return opening === undefined
      ? runInTransaction(services.db, work)
      : runInTransactionWithLock(services.db, opening, work);
  };

type OpenFunction = (
  request: GraphqlContext,
  args: Readonly<Record<string, unknown>>,
) => LockAndRead | undefined;

/**
 * Returns the function that names the row which a mutation locks when its transaction begins; undefined if
 * the mutation locks its rows itself. The function returns undefined if the caller may not run the mutation,
 * because such a caller must not lock rows.
 */
function createOpening({
  opening,
  context,
  callers = staffCallers,
}: AnyMutationOptions): OpenFunction | undefined {
  if (opening === undefined) return undefined;
  return (request, { merchantId: named, input, ...ids }) => {
    if (!callers.includes(getCallerKindOfViewer(request.viewer))) return undefined;
    try {
      const { merchantId } = context.open(request, typeof named === "string" ? named : null);
      const values = typeof input === "object" ? input : {};
      return merchantId === null ? undefined : opening(request, merchantId, { ...values, ...ids });
    } catch (error) {
      // The mutation itself throws this failure again, and then the answer names its field.
      if (error instanceof Failure) return undefined;
      throw error;
    }
  };
}

const isTransaction = (db: Database): db is Transaction => db.isTransaction;

interface MutationExtension {
  readonly prepare: MutationPreparationFunction | undefined;
  /** Returns the row that the mutation locks and reads when its transaction begins, if there is one. */
  readonly open: OpenFunction | undefined;
  /** The error codes of the mutation, in addition to `commonMutationFailures`. */
  readonly failures: readonly FailureCode[];
}

declare module "graphql" {
  // eslint-disable-next-line no-unused-vars -- A merged declaration has the type parameters of the original.
  interface GraphQLFieldExtensions<_TSource, _TContext, _TArgs> {
    /** A GraphQL field extension that only the mutations of `defineMutation` have. */
    readonly change?: MutationExtension | undefined;
  }
}

/**
 * Throws if a mutation of the schema was not defined by `defineMutation`. Such a mutation would run without a
 * transaction and without an audit entry.
 */
export function requireAllMutationsUseDefineMutation(schema: GraphQLSchema): GraphQLSchema {
  for (const { name, extensions } of Object.values(schema.getMutationType()?.getFields() ?? {}))
    if (extensions.change === undefined)
      throw new Error(`The mutation ${name} must be defined with defineMutation.`);
  return schema;
}

/** Loads a row again after this request has changed it. Clears the loader's cache entry of the row first. */
export function reloadChangedRow<Key, Row>(
  loader: { clear(key: Key): { load(key: Key): Promise<Row> } },
  key: Key,
): Promise<Row> {
  return loader.clear(key).load(key);
}
