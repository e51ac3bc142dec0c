/** Reads the documents under schema/events: what an event shows of the thing it is about, spelled as REST does, compiled once. */
import { readdirSync, readFileSync } from "node:fs";
import { type GraphQLSchema, parse, validate } from "graphql";
import type { CartAggregate } from "#commerce/carts/cart-aggregate.ts";
import type { ProductAggregate } from "#commerce/catalog/read-aggregates.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import type { Transaction } from "#database/transaction.ts";
import { toFailure } from "#foundation/failure.ts";
import { compileDocument, type RunDocument } from "#gateway/compile-document.ts";
import { respelledDocument } from "#gateway/spelling.ts";
import { createContext, type GraphContext, type GraphServices } from "#graph/context.ts";
import type { Loaders } from "#graph/loaders.ts";
import { eventTypes, type SubjectType } from "#webhooks/event-types.ts";
import type { WebhookEndpoint } from "#webhooks/endpoints/endpoint-aggregate.ts";
import type { RenderSubject, Subject } from "#webhooks/outbox.ts";

type Render = (services: GraphServices, transaction: Transaction, subject: Subject) => ReturnType<RenderSubject>;

const folder = new URL("../schema/events/", import.meta.url);

/** `schema` is the respelled one. Throws where a kind of subject has no document, or a document does not fit. */
export function compileSubjects(schema: GraphQLSchema): Render {
  const files = readdirSync(folder).filter((name) => name.endsWith(".graphql"));
  const compiled = new Map(files.map((name) => [name.slice(0, -".graphql".length), compile(schema, name)]));
  for (const { subject } of Object.values(eventTypes))
    if (!compiled.has(subject)) throw new Error(`schema/events has no document ${subject}.graphql.`);
  const contexts = new WeakMap<object, GraphContext>();
  return async (services, transaction, { type, id, merchantId, thing, together }) => {
    const context = contexts.get(together) ?? createContext(services, { viewer: { kind: "system", merchantId }, requestId: "" }, transaction);
    contexts.set(together, context);
    if (thing !== undefined) prime(context.loaders, { type, id, thing });
    const result = await compiled.get(type)?.(context, { id });
    const [error] = result?.errors ?? [];
    if (error !== undefined) throw toFailure(error);
    const { object } = (result?.data ?? {}) as { readonly object?: unknown };
    if (typeof object !== "object" || object === null) throw new Error(`The ${type satisfies SubjectType} ${id} of an event is not there.`);
    return object as Readonly<Record<string, unknown>>;
  };
}

/** What is at hand need not be read again. */
function prime(
  { carts, orders, products, webhookEndpoints }: Loaders,
  { type, id, thing }: Pick<Subject, "type" | "id"> & { readonly thing: object },
): void {
  if (type === "cart") carts.prime(id, thing as CartAggregate);
  if (type === "order") orders.prime(id, thing as OrderAggregate);
  if (type === "product") products.prime(id, thing as ProductAggregate);
  if (type === "webhook_endpoint") webhookEndpoints.prime(id, thing as WebhookEndpoint);
}

function compile(schema: GraphQLSchema, name: string): RunDocument {
  const document = respelledDocument(parse(readFileSync(new URL(name, folder), "utf8")));
  const [fault] = validate(schema, document);
  if (fault !== undefined) throw new Error(`schema/events/${name}: ${fault.message}`);
  return compileDocument(schema, document, `schema/events/${name}`);
}
