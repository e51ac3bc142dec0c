/**
 * Creates the services that all GraphQL resolvers of one process use, and the function that renders the
 * objects in events, for example the changed order. The object in an event has the fields that a document in
 * `schema/events` selects, with enum values in lower case as in answers of the REST API.
 */
import type { DocumentNode } from "graphql";
import type { CartAggregate } from "#commerce/carts/cart-aggregate.ts";
import type { LockedCartAndCheckoutSession } from "#commerce/checkout/session-aggregate.ts";
import type { ProductAggregate } from "#commerce/catalog/read-products.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { runAfterCommit, type Transaction } from "#database/transaction.ts";
import { createInProcessEventEmitter, type InProcessEventEmitter } from "#foundation/events.ts";
import { createGraphqlContext, type GraphqlContext, type GraphqlServices } from "#graph/context.ts";
import type { GraphqlDataLoaders } from "#graph/loaders.ts";
import { type OpenedMesh, openGraphqlMesh } from "#mesh/open-mesh.ts";
import { getFailureOfGraphqlError } from "#mesh/public-error.ts";
import { eventTypes, type EventSubjectType } from "#webhooks/event-types.ts";
import type { WebhookEndpoint } from "#webhooks/endpoints/endpoint-aggregate.ts";
import type { EventSubjectRenderer, EventSubject } from "#webhooks/outbox.ts";
import type { Database } from "#database/connect.ts";
import { createIdempotentRequestRunner } from "#database/idempotency.ts";
import { createReportQueryRunner } from "#database/read-only.ts";
import { systemClock } from "#foundation/clock.ts";
import { createEndpointHostNameChecker } from "#webhooks/endpoint-url.ts";
import { createEncryptionKeyringFromSettings } from "./encryption-keys.ts";
import { getPublicUrl, type ServiceSettings } from "./settings.ts";

export type EventSubjectRendererWithServices = (
  services: GraphqlServices,
  transaction: Transaction,
  subject: EventSubject,
) => ReturnType<EventSubjectRenderer>;

/** Returns whether a GraphQL subscription of this process follows changes of the given cart or order. */
type IsWatched = (subject: EventSubject) => boolean;

/**
 * Returns the given services together with the function that renders the objects in events. This function is
 * called once for each object about which an event is published. Each call also registers notifications that
 * are sent after the commit: one to the webhook dispatcher (once per transaction), and one to the GraphQL
 * subscriptions that follow the object.
 */
export function createGraphqlServices(
  parts: Omit<GraphqlServices, "render">,
  renderSubject: EventSubjectRendererWithServices,
): GraphqlServices {
  const { events, watch } = parts;
  const notify = notifyAfterCommit(events, (subject) => watch?.isWatched(subject) === true);
  const services: GraphqlServices = {
    ...parts,
    render: (transaction, subject) => {
      notify(transaction, subject);
      return renderSubject(services, transaction, subject);
    },
  };
  return services;
}

function notifyAfterCommit(
  events: InProcessEventEmitter,
  isWatched: IsWatched,
): (transaction: Transaction, subject: EventSubject) => void {
  const notified = new WeakSet<Transaction>();
  return (transaction, subject) => {
    if (!notified.has(transaction)) runAfterCommit(transaction, () => events.emit("deliveriesDue"));
    notified.add(transaction);
    if (isWatched(subject)) runAfterCommit(transaction, () => events.emit("subjectChanged", subject.type));
  };
}

/**
 * Creates the function that renders the object in the payload of an event. Throws if `schema/events` has no
 * GraphQL document for a type of object.
 */
export function createEventSubjectRenderer({
  events,
  run,
}: Pick<OpenedMesh, "events" | "run">): EventSubjectRendererWithServices {
  for (const { subject } of Object.values(eventTypes)) documentOf(events, subject);
  const contexts = new WeakMap<object, GraphqlContext>();
  return async (services, transaction, { type, id, merchantId, object, batch }) => {
    const context =
      contexts.get(batch) ??
      createGraphqlContext(services, { viewer: { kind: "system", merchantId }, requestId: "" }, transaction);
    contexts.set(batch, context);
    if (object !== undefined) prime(context.loaders, { type, id, object });
    const { data, errors } = await run(documentOf(events, type), context, { variables: { id } });
    const [error] = errors ?? [];
    if (error !== undefined) throw getFailureOfGraphqlError(error);
    const { object: document } = (data ?? {}) as { readonly object?: unknown };
    if (typeof document !== "object" || document === null)
      throw new Error(`The ${type satisfies EventSubjectType} ${id} of an event does not exist.`);
    return document as Readonly<Record<string, unknown>>;
  };
}

function documentOf(events: OpenedMesh["events"], subject: string): DocumentNode {
  const document = events.get(subject);
  if (document === undefined) throw new Error(`schema/events has no document named ${subject}.`);
  return document;
}

/**
 * Stores the changed object in the cache of its data loader, so that rendering the event does not load the
 * object from the database.
 */
function prime(
  { carts, orders, products, sessions, webhookEndpoints }: GraphqlDataLoaders,
  { type, id, object }: Pick<EventSubject, "type" | "id"> & { readonly object: object },
): void {
  if (type === "cart") carts.prime(id, object as CartAggregate);
  if (type === "checkout_session") {
    const { cart, session } = object as LockedCartAndCheckoutSession;
    carts.prime(cart.id, cart);
    sessions.prime(id, session);
  }
  if (type === "order") orders.prime(id, object as OrderAggregate);
  if (type === "product") products.prime(id, object as ProductAggregate);
  if (type === "webhook_endpoint") webhookEndpoints.prime(id, object as WebhookEndpoint);
}

/**
 * Creates the function that renders the objects in events for the command line. GraphQL Mesh is opened only
 * when the first event is rendered.
 */
export function createEventSubjectRendererForCli(
  db: Database,
  settings: ServiceSettings,
): EventSubjectRenderer {
  let rendering: Promise<ReturnType<typeof createEventSubjectRenderer>> | undefined;
  const keyring = createEncryptionKeyringFromSettings(settings);
  const parts: Omit<GraphqlServices, "render"> = {
    db,
    readOnly: createReportQueryRunner(db),
    clock: systemClock,
    publicUrl: getPublicUrl(settings),
    rateLimitScale: settings.rateLimitScale,
    cartRetentionDays: settings.cartRetentionDays,
    keyring,
    doOnce: createIdempotentRequestRunner({ db, keyring, clock: systemClock }),
    // No code listens to this event emitter, because a command of the command line has no subscriptions to
    // notify. The running service finds new payments and deliveries by polling the database.
    events: createInProcessEventEmitter(),
    resolvedNames: createEndpointHostNameChecker(),
    isLoopbackAllowed: settings.webhookAllowLoopback,
    stripeApiBase: settings.stripeApiBase,
  };
  return createGraphqlServices(parts, async (services, transaction, subject) => {
    rendering ??= openGraphqlMesh().then(createEventSubjectRenderer);
    const render = await rendering;
    return render(services, transaction, subject);
  }).render;
}
