/** Renders what an event shows of its subject: the documents under schema/events, in the contract's spelling. */
import type { DocumentNode } from "graphql";
import type { CartAggregate } from "#commerce/carts/cart-aggregate.ts";
import type { ProductAggregate } from "#commerce/catalog/read-aggregates.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import type { Transaction } from "#database/transaction.ts";
import { createContext, type GraphContext, type GraphServices } from "#graph/context.ts";
import type { Loaders } from "#graph/loaders.ts";
import type { Mesh } from "#mesh/open-mesh.ts";
import { failureOfError } from "#mesh/public-error.ts";
import { eventTypes, type SubjectType } from "#webhooks/event-types.ts";
import type { WebhookEndpoint } from "#webhooks/endpoints/endpoint-aggregate.ts";
import type { RenderSubject, Subject } from "#webhooks/outbox.ts";

type Render = (services: GraphServices, transaction: Transaction, subject: Subject) => ReturnType<RenderSubject>;

/** Throws if a kind of subject has no document. */
export function createSubjectRender({ events, run }: Pick<Mesh, "events" | "run">): Render {
  for (const { subject } of Object.values(eventTypes)) documentOf(events, subject);
  const contexts = new WeakMap<object, GraphContext>();
  return async (services, transaction, { type, id, merchantId, thing, together }) => {
    const context = contexts.get(together) ?? createContext(services, { viewer: { kind: "system", merchantId }, requestId: "" }, transaction);
    contexts.set(together, context);
    if (thing !== undefined) prime(context.loaders, { type, id, thing });
    const { data, errors } = await run(documentOf(events, type), context, { variables: { id } });
    const [error] = errors ?? [];
    if (error !== undefined) throw failureOfError(error);
    const { object } = (data ?? {}) as { readonly object?: unknown };
    if (typeof object !== "object" || object === null) throw new Error(`The ${type satisfies SubjectType} ${id} of an event is not there.`);
    return object as Readonly<Record<string, unknown>>;
  };
}

function documentOf(events: Mesh["events"], subject: string): DocumentNode {
  const document = events.get(subject);
  if (document === undefined) throw new Error(`schema/events has no document named ${subject}.`);
  return document;
}

/** The changed object is at hand already, so the document need not read it again. */
function prime(
  { carts, orders, products, webhookEndpoints }: Loaders,
  { type, id, thing }: Pick<Subject, "type" | "id"> & { readonly thing: object },
): void {
  if (type === "cart") carts.prime(id, thing as CartAggregate);
  if (type === "order") orders.prime(id, thing as OrderAggregate);
  if (type === "product") products.prime(id, thing as ProductAggregate);
  if (type === "webhook_endpoint") webhookEndpoints.prime(id, thing as WebhookEndpoint);
}
