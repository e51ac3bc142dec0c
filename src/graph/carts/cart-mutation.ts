/** What every change of a cart does around its rule, and who may make it. */
import type { InputRef, ShapeFromTypeParam, TypeParam } from "@pothos/core";
import type { CartCommandContext } from "#commerce/carts/change-cart.ts";
import type { Transaction } from "#database/transaction.ts";
import { builder } from "#graph/builder.ts";
import { type Caller, integrators, staff, tenantOf } from "#graph/callers.ts";
import type { GraphContext } from "#graph/context.ts";
import { changeOf, idempotencyKeyArgument, idempotencyKeyDescription } from "#graph/mutation.ts";

type Types = (typeof builder)["$inferSchemaTypes"];

interface CartMutation<Input extends object, Changed, Type extends TypeParam<Types>> {
  readonly description: string;
  readonly callers: readonly Caller[];
  readonly input: InputRef<Input>;
  readonly type: Type;
  readonly change: (transaction: Transaction, tenant: CartCommandContext, input: Input & { readonly cartId: string }) => Promise<Changed>;
  readonly answer: (context: GraphContext, changed: Changed) => ShapeFromTypeParam<Types, Type, false>;
}

export const frontends: readonly Caller[] = ["storefront", ...staff];
export const everyClient: readonly Caller[] = [...integrators, ...frontends];

export function cartMutation<Input extends object, Changed, Type extends TypeParam<Types>>(
  name: string,
  parts: CartMutation<Input, Changed, Type>,
): void {
  const { description, callers, input, type, change, answer } = parts;
  builder.mutationField(name, (t) =>
    t.field({
      type,
      description,
      authScopes: { callers },
      args: {
        merchantId: t.arg.id({ description: "The merchant; needed with a token of the platform." }),
        cartId: t.arg.id({ required: true, description: "The cart, `cart_…`." }),
        [idempotencyKeyArgument]: t.arg.string({ description: idempotencyKeyDescription }),
        input: t.arg({ type: input, required: true, description: "What shall change." }),
      },
      resolve: (async (_root: unknown, args: { merchantId?: string | null; cartId: string; input: Input }, context: GraphContext) => {
        const { cartId } = args;
        return answer(
          context,
          await changeCartOf(context, args.merchantId, (transaction, tenant) => change(transaction, tenant, { ...args.input, cartId })),
        );
      }) as never,
    }),
  );
}

export function changeCartOf<Changed>(
  context: GraphContext,
  merchantId: string | null | undefined,
  work: (transaction: Transaction, tenant: CartCommandContext) => Promise<Changed>,
): Promise<Changed> {
  const { services, publicUrl, buyerReference } = context;
  return changeOf(context, tenantOf(context, merchantId), (transaction, tenant) =>
    work(transaction, { ...tenant, keyring: services.keyring, publicUrl, buyerReference, events: services.events }),
  );
}
