/**
 * `defineMutation` defines a GraphQL mutation. The mutation runs its command, publishes its events and writes
 * its audit entry in one transaction. For a request with an idempotency key, `mesh/plugins/idempotency.ts`
 * opens the transaction and stores the answer.
 */
import type { ShapeFromTypeParam, TypeParam } from "@pothos/core";
import type { GraphQLSchema } from "graphql";
import type { Database } from "#database/connect.ts";
import { createMerchantSettingQuery } from "#database/row-security.ts";
import {
  type RowLockWithReadQuery,
  runInTransaction,
  runInTransactionWithLock,
  type Transaction,
} from "#database/transaction.ts";
import { createFailure, Failure, type FailureCode } from "#foundation/failure.ts";
import { builder } from "./builder.ts";
import { mutationCost } from "./limits.ts";
import { addArgumentNameToNotFoundError } from "./missing-objects.ts";
import type {
  MutationOptionsWithoutTypeParameters,
  MutationResultMappingOption,
  MutationOptions,
  WorkBeforeMutationTransaction,
} from "./mutation-options.ts";
import { appendAuditEntryOfMutation } from "./record-mutation.ts";
import { getCallerKindOfViewer, type GraphqlContext, staffCallers } from "./context.ts";

type Types = (typeof builder)["$inferSchemaTypes"];

/** The name of the argument with the idempotency key. `mesh/plugins/idempotency.ts` reads its value. */
export const idempotencyKeyArgument = "idempotencyKey";

const idempotencyKeyDescription =
  "A key that makes retries safe: a second request with the same key and the same content changes nothing " +
  "and returns the stored first answer. The key has 1 to 255 printable ASCII characters, without space, " +
  "quotation mark, backslash, comma and semicolon, and is stored for 7 days. A GraphQL document with an " +
  "idempotency key must have exactly one root field.";

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
    MutationResultMappingOption<Changed, ShapeFromTypeParam<Types, Type, false>>,
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
export function defineMutation(parts: MutationOptionsWithoutTypeParameters): void {
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
                "The id of the merchant, `mer_…`. Required with a token of the platform; a token of a " +
                "merchant may leave it out.",
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
const listFailures = ({
  failures,
  context,
  idempotency,
}: MutationOptionsWithoutTypeParameters): readonly FailureCode[] => [
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
  parts: MutationOptionsWithoutTypeParameters,
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
  const runInOneTransaction = inOneTransaction(request, merchantId, () =>
    createOpening(parts)?.(request, args),
  );
  const changed = await runInOneTransaction(async (transaction) => {
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
 * database is needed because analysts read from a replica, which refuses writes. The transaction can lock and
 * change only rows of the mutation's merchant. An open transaction has begun with the merchant of the caller
 * or of a locked row; callers of the platform without such a row need a further statement.
 */
const inOneTransaction =
  (
    { db, services, viewer }: GraphqlContext,
    merchantId: string | null,
    open: () => RowLockWithReadQuery | undefined,
  ): RunInTransaction =>
  async (work) => {
    if (isTransaction(db)) {
      const isPlatform = viewer.kind === "internal" && viewer.merchantId === null;
      if (isPlatform && merchantId !== null && open() === undefined)
        await db.executeQuery(createMerchantSettingQuery(merchantId));
      return work(db);
    }
    const opening = open();
    return opening === undefined
      ? runInTransaction(services.db, work, { merchantId })
      : runInTransactionWithLock(services.db, opening, work);
  };

type OpenFunction = (
  request: GraphqlContext,
  args: Readonly<Record<string, unknown>>,
) => RowLockWithReadQuery | undefined;

/**
 * Returns the function that names the row which a mutation locks when its transaction begins; undefined if
 * the mutation locks its rows itself. The function returns undefined if the caller may not run the mutation,
 * because such a caller must not lock rows.
 */
function createOpening({
  opening,
  context,
  callers = staffCallers,
}: MutationOptionsWithoutTypeParameters): OpenFunction | undefined {
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
  readonly prepare: WorkBeforeMutationTransaction | undefined;
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
