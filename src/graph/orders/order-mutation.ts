/** What every change of an order, or of a part of one, does around its rule, and who may make it. */
import type { InputRef, ShapeFromTypeParam, TypeParam } from "@pothos/core";
import type { OrderCommandContext } from "#commerce/orders/change-order.ts";
import type { OrderActor } from "#commerce/orders/order-states.ts";
import type { Transaction } from "#database/transaction.ts";
import { builder } from "#graph/builder.ts";
import { type Caller, callerOf, staff } from "#graph/callers.ts";
import { changeCartOf } from "#graph/carts/cart-mutation.ts";
import type { GraphContext } from "#graph/context.ts";
import { idempotencyKeyArgument, idempotencyKeyDescription } from "#graph/mutation.ts";

type Types = (typeof builder)["$inferSchemaTypes"];

/** What a mutation acts on: the name of its argument, and what that is. */
const targets = {
  orderId: "The order, `ord_…`.",
  paymentId: "The payment, `pay_…`.",
  fulfillmentId: "The fulfillment, `ful_…`.",
  returnId: "The return, `ret_…`.",
  warrantyId: "The warranty registration, `wty_…`.",
  claimId: "The warranty claim, `wcl_…`.",
} as const;
type Target = keyof typeof targets;

interface OrderMutation<On extends Target, Input extends object, Changed, Type extends TypeParam<Types>> {
  readonly description: string;
  readonly on: On;
  /** Staff, unless told. */
  readonly callers?: readonly Caller[];
  readonly input: InputRef<Input>;
  readonly type: Type;
  readonly change: (transaction: Transaction, tenant: OrderCommandContext, input: Input & Readonly<Record<On, string>>) => Promise<Changed>;
  readonly answer: (
    context: GraphContext,
    changed: Changed,
  ) => ShapeFromTypeParam<Types, Type, false> | Promise<ShapeFromTypeParam<Types, Type, false>>;
}

/** A buyer's frontend, for the buyer that X-Buyer-Reference names, and who runs the merchant. */
export const buyersAndStaff: readonly Caller[] = ["storefront", ...staff];

/** Money or goods move: the idempotency key is required. */
export function orderMutation<On extends Target, Input extends object, Changed, Type extends TypeParam<Types>>(
  name: string,
  parts: OrderMutation<On, Input, Changed, Type>,
): void {
  const { description, on, callers = staff, input, type, change, answer } = parts;
  builder.mutationField(name, (t) =>
    t.field({
      type,
      description,
      authScopes: { callers },
      args: {
        merchantId: t.arg.id({ description: "The merchant; needed with a token of the platform." }),
        [on]: t.arg.id({ required: true, description: targets[on] }),
        [idempotencyKeyArgument]: t.arg.string({ required: true, description: idempotencyKeyDescription }),
        input: t.arg({ type: input, required: true, description: "What shall change." }),
      },
      resolve: (async (_root: unknown, args: { merchantId?: string | null; input: Input } & Record<On, string>, context: GraphContext) =>
        answer(
          context,
          await changeOrderOf(context, args.merchantId, (transaction, tenant) =>
            change(transaction, tenant, { ...args.input, [on]: args[on] } as Input & Record<On, string>),
          ),
        )) as never,
    }),
  );
}

export function changeOrderOf<Changed>(
  context: GraphContext,
  merchantId: string | null | undefined,
  work: (transaction: Transaction, tenant: OrderCommandContext) => Promise<Changed>,
): Promise<Changed> {
  return changeCartOf(context, merchantId, (transaction, tenant) => work(transaction, { ...tenant, actor: actorOf(context) }));
}

export function actorOf({ viewer }: Pick<GraphContext, "viewer">): OrderActor {
  const caller = callerOf(viewer);
  if (caller === "storefront" || caller === "buyer") return "buyer";
  return caller === "system" ? "system" : "merchant";
}
