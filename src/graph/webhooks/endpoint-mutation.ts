/** What every change of a webhook endpoint does around its rule, and who may make it. Told twice, receivers would be: each happens once. */
import { isIntegrator } from "#access/viewer.ts";
import type { InputRef, ShapeFromTypeParam, TypeParam } from "@pothos/core";
import type { Transaction } from "#database/transaction.ts";
import { fail } from "#foundation/failure.ts";
import { builder } from "#graph/builder.ts";
import { type Caller, integrators, staff, tenantOf } from "#graph/callers.ts";
import type { GraphContext } from "#graph/context.ts";
import { causeOf, changeOf, idempotencyKeyArgument, idempotencyKeyDescription, type MutationPreparation, preparing } from "#graph/mutation.ts";
import type { EndpointCommandContext } from "#webhooks/endpoints/change-endpoint.ts";

type Types = (typeof builder)["$inferSchemaTypes"];

interface EndpointMutation<Input extends object, Changed, Type extends TypeParam<Types>> {
  readonly description: string;
  readonly input: InputRef<Input>;
  readonly type: Type;
  readonly change: (transaction: Transaction, tenant: EndpointCommandContext, input: Input & { readonly endpointId: string }) => Promise<Changed>;
  readonly answer: (changed: Changed) => ShapeFromTypeParam<Types, Type, false>;
  readonly prepare?: MutationPreparation<Input>;
}

/** Looks up where the name of an endpoint's URL leads to. The rule reads the answer from `resolvedNames`. */
export const resolveEndpointUrl: MutationPreparation<{ readonly url?: string | null | undefined }> = ({ url }, { resolvedNames }) =>
  typeof url === "string" ? resolvedNames.prepare(url) : undefined;

/** Who runs a merchant; over REST an installation, for itself. */
export const installationsAndStaff: readonly Caller[] = [...integrators, ...staff];

export function endpointMutation<Input extends object, Changed, Type extends TypeParam<Types>>(
  name: string,
  parts: EndpointMutation<Input, Changed, Type>,
): void {
  const { description, input, type, change, answer, prepare } = parts;
  builder.mutationField(name, (t) =>
    t.field({
      type,
      description,
      authScopes: { callers: staff },
      args: {
        merchantId: t.arg.id({ description: "The merchant; needed with a token of the platform." }),
        endpointId: t.arg.id({ required: true, description: "The webhook endpoint, `whe_…`." }),
        [idempotencyKeyArgument]: t.arg.string({ required: true, description: idempotencyKeyDescription }),
        input: t.arg({ type: input, required: true, description: "What shall change." }),
      },
      resolve: (async (_root: unknown, args: { merchantId?: string | null; endpointId: string; input: Input }, context: GraphContext) => {
        const { merchantId, endpointId } = args;
        return answer(
          await changeEndpointOf(context, merchantId, (transaction, tenant) => change(transaction, tenant, { ...args.input, endpointId })),
        );
      }) as never,
      extensions: preparing(prepare),
    }),
  );
}

export function changeEndpointOf<Changed>(
  context: GraphContext,
  merchantId: string | null | undefined,
  work: (transaction: Transaction, tenant: EndpointCommandContext) => Promise<Changed>,
): Promise<Changed> {
  const { services, viewer } = context;
  const { keyring, render, isLoopbackAllowed, resolvedNames } = services;
  const installationId = isIntegrator(viewer) ? viewer.installationId : null;
  return changeOf(context, tenantOf(context, merchantId), (transaction, { merchantId: owner, now, outbox }) =>
    work(transaction, {
      merchantId: owner,
      installationId,
      now,
      cause: causeOf(context),
      outbox,
      keyring,
      render,
      isLoopbackAllowed,
      resolvedFaults: resolvedNames.faultsOf,
    }),
  );
}

/** For what REST does as well, whose key is no argument: what happens once has its transaction before it begins. */
export function requireOnce({ db }: GraphContext): void {
  if (!db.isTransaction) throw fail("idempotency_key_required", { message: "This needs an idempotencyKey." });
}
