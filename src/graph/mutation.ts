/** What every mutation does around its rule: one transaction, the tenant it acts for, and the search index told once. */
import type { InputRef, ShapeFromTypeParam, TypeParam } from "@pothos/core";
import type { Access } from "#access/api-keys.ts";
import type { Tenant } from "#commerce/catalog/write-tenant.ts";
import { indexProducts } from "#commerce/search/index-products.ts";
import { inTransaction, type Transaction } from "#database/transaction.ts";
import { builder, type Caller, staff } from "./builder.ts";
import type { GraphContext } from "./context.ts";
import { ownerOf, tenantOf } from "./tenancy.ts";

type Types = (typeof builder)["$inferSchemaTypes"];

/** A rule that changes something of one merchant, all in the transaction it is given. */
export type TenantWork<Input, Changed> = (transaction: Transaction, tenant: Tenant, input: Input) => Promise<Changed>;
/** The same of what belongs to the platform, or to a merchant that the input names. */
export type AccessWork<Input, Changed> = (transaction: Transaction, access: Access, input: Input) => Promise<Changed>;

interface MutationParts<Input extends object, Changed, Type extends TypeParam<Types>> {
  readonly description: string;
  readonly input: InputRef<Input>;
  readonly type: Type;
  /** Reads what is answered, after the commit. */
  readonly answer: (context: GraphContext, changed: Changed) => Promise<ShapeFromTypeParam<Types, Type, false>>;
}

/** Open to who runs a merchant; with a token of the platform the argument `merchantId` says which one. */
export function tenantMutation<Input extends object, Changed, Type extends TypeParam<Types>>(
  name: string,
  parts: MutationParts<Input, Changed, Type> & { readonly change: TenantWork<Input, Changed> },
): void {
  const { description, input, type, change, answer } = parts;
  builder.mutationField(name, (t) =>
    t.field({
      type,
      description,
      authScopes: { callers: staff },
      args: {
        merchantId: t.arg.id({ description: "The merchant; needed with a token of the platform." }),
        input: t.arg({ type: input, required: true, description: "What shall change." }),
      },
      resolve: (async (_root: unknown, args: { merchantId?: string | null; input: Input }, context: GraphContext) => {
        const now = context.clock.now();
        const tenant: Tenant = {
          merchantId: tenantOf(context, args.merchantId),
          now,
          reindex: (transaction, ids) => indexProducts(transaction, ids, now),
        };
        return answer(context, await inTransaction(context.db, (transaction) => change(transaction, tenant, args.input)));
      }) as never,
    }),
  );
}

/** Open to the callers named; a token of one merchant changes what is that merchant's. */
export function accessMutation<Input extends object, Changed, Type extends TypeParam<Types>>(
  name: string,
  parts: MutationParts<Input, Changed, Type> & { readonly change: AccessWork<Input, Changed>; readonly callers: readonly Caller[] },
): void {
  const { description, input, type, change, answer, callers } = parts;
  builder.mutationField(name, (t) =>
    t.field({
      type,
      description,
      authScopes: { callers },
      args: { input: t.arg({ type: input, required: true, description: "What shall change." }) },
      resolve: (async (_root: unknown, args: { input: Input }, context: GraphContext) => {
        const access: Access = { merchantId: ownerOf(context), now: context.clock.now() };
        return answer(context, await inTransaction(context.db, (transaction) => change(transaction, access, args.input)));
      }) as never,
    }),
  );
}

/** What was changed a moment ago in this request must be read anew. */
export function loadAnew<Key, Row>(loader: { clear(key: Key): { load(key: Key): Promise<Row> } }, key: Key): Promise<Row> {
  return loader.clear(key).load(key);
}
