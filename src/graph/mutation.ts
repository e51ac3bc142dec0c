/**
 * The factory of all mutations. `changeMutation` defines the field and its arguments, and runs its command in one transaction with the
 * events and the audit entry. The kinds of mutations (`change-kinds.ts`) differ in the context that their commands get. A request with an
 * idempotency key has its transaction already (`mesh/plugins/idempotency.ts`); it also holds the recorded answer.
 */
import type { InputRef, OutputRef, ShapeFromTypeParam, TypeParam } from "@pothos/core";
import type { GraphQLField, GraphQLSchema } from "graphql";
import type { Database } from "#database/connect.ts";
import { inTransaction, type Transaction } from "#database/transaction.ts";
import { fail } from "#foundation/failure.ts";
import { builder } from "./builder.ts";
import { type Caller, ownerOf, staff, tenantOf } from "./callers.ts";
import type { GraphContext, GraphServices } from "./context.ts";
import { recordMutation } from "./record-mutation.ts";

type Types = (typeof builder)["$inferSchemaTypes"];

/** A mutation that is about to run in its transaction. */
export interface Change {
  readonly transaction: Transaction;
  readonly request: GraphContext;
  readonly now: Date;
}

/** What the commands of a kind of mutations get beside the transaction and the input, and what happens around them. */
export type ChangeContext<Context> =
  | {
      /** The merchant is the argument `merchantId`, or that of the caller's token. */
      readonly of: "merchant";
      readonly open: <Changed>(
        change: Change & { readonly merchantId: string },
        work: (context: Context) => Promise<Changed>,
      ) => Promise<Changed>;
    }
  | {
      /** Merchants and their credentials: there is no argument `merchantId`. Null is the platform. */
      readonly of: "platform";
      readonly open: <Changed>(
        change: Change & { readonly merchantId: string | null },
        work: (context: Context) => Promise<Changed>,
      ) => Promise<Changed>;
    };

/**
 * What a mutation does before its transaction begins, because it takes long or needs the network: a password's hash, DNS.
 * `mesh/prepare-mutations.ts` calls it with the argument `input` if the transaction is opened for an idempotency key.
 */
export type MutationPreparation<Input = unknown, Prepared = unknown> = (input: Input, services: GraphServices) => Promise<Prepared>;

/** What mutations of one kind have in common. */
export interface ChangeKind<Context, Ids extends string = never> {
  readonly context: ChangeContext<Context>;
  /** Staff, unless given. */
  readonly callers?: readonly Caller[];
  /** Arguments with the ids of what the mutation acts on, with their descriptions. */
  readonly target?: Readonly<Record<Ids, string>>;
  /**
   * Whether the argument `idempotencyKey` is required: where doing it twice would cost money or goods. `required_or_header`
   * is for mutations that are also REST operations, which have their key in a header.
   */
  readonly idempotency: "optional" | "required" | "required_or_header";
  /** Throws if the caller may not do this after all. Runs before everything else. */
  readonly check?: (request: GraphContext, input: Readonly<Record<Ids, string>>) => void;
}

type InputOf<Input, Ids extends string, OptionalIds extends string> = Input &
  Readonly<Record<Ids, string>> &
  Readonly<Partial<Record<OptionalIds, string | null>>>;

interface ChangeMutation<Input extends object, Ids extends string, OptionalIds extends string, Context, Prepared, Changed, Type> {
  readonly name: string;
  readonly description: string;
  readonly context: ChangeContext<Context>;
  readonly callers?: readonly Caller[];
  readonly target?: Readonly<Record<Ids, string>>;
  /** Like `target`, but nullable. */
  readonly optionalTarget?: Readonly<Record<OptionalIds, string>>;
  readonly input: InputRef<Input>;
  /** "What shall change.", unless given. */
  readonly inputDescription?: string;
  readonly type: Type;
  readonly idempotency: ChangeKind<unknown>["idempotency"];
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

/** The parts of any mutation: Pothos decides by conditional types what a resolver gives, which stay open for type parameters. */
interface AnyMutation extends Omit<ChangeMutation<object, string, string, unknown, unknown, unknown, OutputRef>, "run" | "context"> {
  readonly context: ChangeContext<unknown>;
  readonly run: (transaction: Transaction, context: unknown, input: object) => Promise<unknown>;
  readonly answer?: (request: GraphContext, changed: unknown) => unknown;
}

/** The argument that makes a mutation happen once; the plugin `mesh/plugins/idempotency.ts` holds requests to it. */
const idempotencyKeyArgument = "idempotencyKey";

const idempotencyKeyDescription =
  "Makes the change happen once, however often it is sent: 1 to 255 printable ASCII characters, kept for 7 days. The document then has this one root field.";

export function changeMutation<
  Input extends object,
  Context,
  Changed,
  Type extends TypeParam<Types>,
  Ids extends string = never,
  OptionalIds extends string = never,
  Prepared = undefined,
>(
  parts: ChangeMutation<Input, Ids, OptionalIds, Context, Prepared, Changed, Type> & Answered<Changed, ShapeFromTypeParam<Types, Type, false>>,
): void;
export function changeMutation<
  Input extends object,
  Context,
  Type extends TypeParam<Types>,
  Ids extends string = never,
  OptionalIds extends string = never,
  Prepared = undefined,
>(
  parts: ChangeMutation<Input, Ids, OptionalIds, Context, Prepared, ShapeFromTypeParam<Types, Type, false>, Type>,
): void;
export function changeMutation(parts: AnyMutation): void {
  const { name, description, context, callers = staff, input, inputDescription = "What shall change.", type, idempotency } = parts;
  const keyDescription = idempotency === "required_or_header" ? `${idempotencyKeyDescription} Needed with an internal token.` : idempotencyKeyDescription;
  builder.mutationField(name, (t) => {
    const ids = (descriptions: Readonly<Record<string, string>> = {}, required = false) =>
      Object.fromEntries(Object.entries(descriptions).map(([id, text]) => [id, t.arg.id({ required, description: text })]));
    return t.field({
      type,
      description,
      authScopes: { callers },
      args: {
        ...(context.of === "merchant" ? ids({ merchantId: "The merchant; needed with a token of the platform." }) : {}),
        ...ids(parts.target, true),
        ...ids(parts.optionalTarget),
        [idempotencyKeyArgument]: t.arg.string({ required: idempotency === "required", description: keyDescription }),
        input: t.arg({ type: input, required: true, description: inputDescription }),
      },
      resolve: (_root, args, request) => runMutation(parts, args, request),
      extensions: { change: { prepare: parts.prepare } },
    });
  });
}

async function runMutation(parts: AnyMutation, args: Readonly<Record<string, unknown>>, request: GraphContext): Promise<unknown> {
}
