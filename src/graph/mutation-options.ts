/** The types of the options of `defineMutation`, and of the kinds of mutations. */
import type { InputRef, OutputRef } from "@pothos/core";
import type { RowLockWithReadQuery, Transaction } from "#database/transaction.ts";
import type { FailureCode } from "#foundation/failure.ts";
import type { CallerKind, GraphqlContext, GraphqlServices } from "./context.ts";

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
  ) => AuthorizedMutationRunner<Context>;
}

/** A mutation whose argument `merchantId` has been checked and whose command has not run yet. */
export interface AuthorizedMutationRunner<Context> {
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
export type WorkBeforeMutationTransaction<Input = unknown, Prepared = unknown> = (
  input: Input,
  services: GraphqlServices,
) => Promise<Prepared>;

/** The options that all mutations of one kind share. */
export interface OptionsSharedByMutationKind<Context, Ids extends string = never> {
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
  readonly opening?: MutationRowLockFinder;
}

/**
 * Returns the row that a mutation locks and reads when its transaction begins; undefined if the mutation
 * locks its rows itself. `input` has the arguments of the mutation, which may be invalid.
 */
export type MutationRowLockFinder = (
  request: GraphqlContext,
  merchantId: string,
  input: Readonly<Record<string, unknown>>,
) => RowLockWithReadQuery | undefined;

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

export interface MutationOptions<
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
  readonly failures: OptionsSharedByMutationKind<unknown>["failures"];
  readonly idempotency: OptionsSharedByMutationKind<unknown>["idempotency"];
  readonly check?: (request: GraphqlContext, input: CommandInput<Input, Ids, OptionalIds>) => void;
  readonly prepare?: WorkBeforeMutationTransaction<Input, Prepared>;
  readonly opening?: MutationRowLockFinder | undefined;
  /** The command that changes the data. `input.prepared` is the value that `prepare` returned. */
  readonly run: (
    transaction: Transaction,
    context: Context,
    input: CommandInput<Input, Ids, OptionalIds> & OptionsInput<Options> & { readonly prepared: Prepared },
  ) => Promise<Changed>;
}

/** Computes the mutation's GraphQL result from the return value of its command. Left out if the two are equal. */
export interface MutationResultMappingOption<Changed, Shape> {
  readonly answer: (request: GraphqlContext, changed: Changed) => Shape | Promise<Shape>;
}

type UntypedOptions = MutationOptions<object, string, string, unknown, unknown, unknown, OutputRef, object>;

/**
 * `MutationOptions` without type parameters, because TypeScript cannot resolve the conditional types of
 * Pothos for a generic type.
 */
export interface MutationOptionsWithoutTypeParameters extends Omit<
  UntypedOptions,
  "check" | "prepare" | "run"
> {
  readonly check?: (request: GraphqlContext, input: object) => void;
  readonly prepare?: WorkBeforeMutationTransaction;
  readonly run: (transaction: Transaction, context: unknown, input: object) => Promise<unknown>;
  readonly answer?: (request: GraphqlContext, changed: unknown) => unknown;
}
