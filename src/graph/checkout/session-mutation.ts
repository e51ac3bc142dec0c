/** What every change of a checkout session does around its rule, and who may make it. */
import type { InputRef, ShapeFromTypeParam, TypeParam } from "@pothos/core";
import type { SessionCommandContext } from "#commerce/checkout/change-session.ts";
import type { Transaction } from "#database/transaction.ts";
import { fail } from "#foundation/failure.ts";
import { builder } from "#graph/builder.ts";
import type { Caller } from "#graph/callers.ts";
import { changeCartOf, frontends } from "#graph/carts/cart-mutation.ts";
import type { GraphContext } from "#graph/context.ts";
import { credentialIdOf } from "#access/viewer.ts";
import { causeOf, idempotencyKeyArgument, idempotencyKeyDescription } from "#graph/mutation.ts";

type Types = (typeof builder)["$inferSchemaTypes"];

interface SessionMutation<Input extends object, Changed, Type extends TypeParam<Types>> {
  readonly description: string;
  /** Frontends and the session's own page, unless told. */
  readonly callers?: readonly Caller[];
  /** Where doing it twice would cost somebody money or goods. */
  readonly isKeyRequired?: boolean;
  readonly input: InputRef<Input>;
  readonly type: Type;
  readonly change: (transaction: Transaction, tenant: SessionCommandContext, input: Input & { readonly sessionId: string }) => Promise<Changed>;
  readonly answer: (
    context: GraphContext,
    changed: Changed,
  ) => ShapeFromTypeParam<Types, Type, false> | Promise<ShapeFromTypeParam<Types, Type, false>>;
}

/** The page of a session has that one alone. */
export const isOwnSession = (sessionId: string, { viewer }: Pick<GraphContext, "viewer">): boolean =>
  viewer.kind !== "buyer" || viewer.sessionId === sessionId;

export const pagesAndFrontends: readonly Caller[] = ["buyer", ...frontends];

export function sessionMutation<Input extends object, Changed, Type extends TypeParam<Types>>(
  name: string,
  parts: SessionMutation<Input, Changed, Type>,
): void {
  const { description, callers = pagesAndFrontends, isKeyRequired = false, input, type, change, answer } = parts;
  builder.mutationField(name, (t) =>
    t.field({
      type,
      description,
      authScopes: { callers },
      args: {
        merchantId: t.arg.id({ description: "The merchant; needed with a token of the platform." }),
        sessionId: t.arg.id({ required: true, description: "The session, `chs_…`." }),
        [idempotencyKeyArgument]: t.arg.string({ required: isKeyRequired, description: idempotencyKeyDescription }),
        input: t.arg({ type: input, required: true, description: "What shall change." }),
      },
      resolve: (async (_root: unknown, args: { merchantId?: string | null; sessionId: string; input: Input }, context: GraphContext) => {
        const { sessionId } = args;
        if (!isOwnSession(sessionId, context)) throw fail("checkout_session_not_found");
        return answer(
          context,
          await changeSessionOf(context, args.merchantId, (transaction, tenant) => change(transaction, tenant, { ...args.input, sessionId })),
        );
      }) as never,
    }),
  );
}

export function changeSessionOf<Changed>(
  context: GraphContext,
  merchantId: string | null | undefined,
  work: (transaction: Transaction, tenant: SessionCommandContext) => Promise<Changed>,
): Promise<Changed> {
  const { actor: causedBy } = causeOf(context);
  return changeCartOf(context, merchantId, (transaction, tenant) => work(transaction, { ...tenant, causedBy, tokenId: tokenIdOf(context) }));
}

/** The internal token that asks, or the account of a person at the console; null: another credential. */
export function tokenIdOf({ viewer }: Pick<GraphContext, "viewer">): string | null {
  return viewer.kind === "internal" ? credentialIdOf(viewer) : null;
}
