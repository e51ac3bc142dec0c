/**
 * Adds a webhook endpoint for the app at the first merchant, with events about orders and with deliveries in
 * different statuses. The endpoint was created some days ago, and no server listens at its URL. Every call
 * replaces the endpoint of an earlier call, because users may have changed it.
 */
import type { DemoJsonFileContent, DemoOrderName } from "#demo/demo-file.ts";
import type { Transaction } from "#database/transaction.ts";
import { Failure } from "#foundation/failure.ts";
import type { EncryptionKeyring } from "#foundation/encryption.ts";
import { createId } from "#foundation/ids.ts";
import type { EndpointCommandContextWithUrlFaults } from "#webhooks/endpoints/change-endpoint.ts";
import {
  createEndpoint,
  deleteEndpoint,
  disableEndpoint,
  enableEndpoint,
} from "#webhooks/endpoints/endpoint-commands.ts";
import { type EventSubjectRenderer, insertEvents } from "#webhooks/outbox.ts";
import type { EventType } from "#webhooks/event-types.ts";
import {
  createWebhookDeliveryRows,
  type CreateWebhookDeliveryRowsInput,
  type DemoSeededWebhookDeliveryName,
} from "./webhook-delivery-rows.ts";

export interface DemoWebhookSeedContext {
  readonly owner: { readonly id: string; readonly installationId: string };
  readonly orders: DemoJsonFileContent["orders"];
  readonly keyring: EncryptionKeyring;
  readonly render: EventSubjectRenderer;
  readonly now: Date;
}

interface EndpointContext extends DemoWebhookSeedContext {
  readonly transaction: Transaction;
  readonly endpointId: string;
}

/**
 * The URL of the webhook endpoint. No server listens there: operating systems do not assign this port
 * automatically, and no well-known service uses it.
 */
const receiverUrl = "http://127.0.0.1:4399/webhooks";

/**
 * Adds the demo's webhook endpoint and its deliveries. Returns an empty object if the installation already
 * has the maximum number of endpoints.
 */
export async function seedDemoWebhooks(
  transaction: Transaction,
  context: DemoWebhookSeedContext,
): Promise<Partial<Pick<DemoJsonFileContent, "webhooks">>> {
  await deleteEarlierEndpoint(transaction, context);
  const endpointId = await createDemoEndpoint(transaction, context);
  if (endpointId === undefined) return {};
  const endpointContext = { ...context, transaction, endpointId };
  await disableAndEnableEndpoint(endpointContext);
  const ids = new Map<DemoSeededWebhookDeliveryName, string>();
  for (const demoDelivery of demoDeliveries)
    ids.set(demoDelivery.key, await insertEventWithDelivery(demoDelivery, endpointContext));
  await setEndpointHealth(endpointContext);
  const getId = (key: DemoSeededWebhookDeliveryName): string => ids.get(key) ?? "";
  const deliveries = {
    succeeded: getId("succeeded"),
    exhausted: getId("exhausted"),
    retrying: getId("retrying"),
  };
  return { webhooks: { endpoint: endpointId, deliveries } };
}

const hourMs = 3_600_000;

const hoursBefore = (now: Date, hours: number): Date => new Date(now.getTime() - hours * hourMs);

function createCommandContext(
  { owner, keyring, render, now }: DemoWebhookSeedContext,
  hoursAgo: number,
): EndpointCommandContextWithUrlFaults {
  return {
    merchantId: owner.id,
    installationId: null,
    now: hoursBefore(now, hoursAgo),
    cause: { operationId: null, actor: "staff", requestId: null },
    keyring,
    render,
    outbox: { append: () => undefined, appendLast: () => undefined },
    isLoopbackAllowed: true,
    resolvedFaults: [],
  };
}

async function deleteEarlierEndpoint(
  transaction: Transaction,
  context: DemoWebhookSeedContext,
): Promise<void> {
  const earlier = await transaction
    .selectFrom("webhookEndpoint")
    .select("id")
    .where("installationId", "=", context.owner.installationId)
    .where("urlNormalized", "=", receiverUrl)
    .where("status", "<>", "deleted")
    .executeTakeFirst();
  if (earlier !== undefined)
    await deleteEndpoint(transaction, createCommandContext(context, 0), { endpointId: earlier.id });
}

async function createDemoEndpoint(
  transaction: Transaction,
  context: DemoWebhookSeedContext,
): Promise<string | undefined> {
  const { installationId } = context.owner;
  const { hours, ...fields } = endpointHistory;
  try {
    const created = await createEndpoint(transaction, createCommandContext(context, hours.created), {
      ...fields,
      installationId,
      url: receiverUrl,
    });
    return created.endpoint.id;
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

/**
 * Disables the webhook endpoint, and enables it again a few hours later in the demo's history. Marks the test
 * messages (pings) as delivered that the service has sent at the creation and at the enabling.
 */
async function disableAndEnableEndpoint(endpointContext: EndpointContext): Promise<void> {
  const { transaction, endpointId } = endpointContext;
  const { hours } = endpointHistory;
  await markPingsDelivered(endpointContext);
  await disableEndpoint(transaction, createCommandContext(endpointContext, hours.disabled), { endpointId });
  await enableEndpoint(transaction, createCommandContext(endpointContext, hours.enabled), { endpointId });
  await markPingsDelivered(endpointContext);
}

async function markPingsDelivered({ transaction, endpointId }: EndpointContext): Promise<void> {
  const pings = await transaction
    .selectFrom("webhookDelivery")
    .select(["id", "createdAt"])
    .where("endpointId", "=", endpointId)
    .where("status", "=", "pending")
    .execute();
  for (const { id, createdAt } of pings) {
    const { delivery, attempts } = createWebhookDeliveryRows({
      id,
      createdAt,
      attempts: 1,
      finalStatus: "succeeded",
    });
    await transaction.updateTable("webhookDelivery").set(delivery).where("id", "=", id).execute();
    await transaction
      .insertInto("webhookAttempt")
      .values([...attempts])
      .execute();
  }
}

/** Inserts an event with its delivery and the attempts of the delivery. Returns the delivery's id. */
async function insertEventWithDelivery(
  demoDelivery: DemoDelivery,
  endpointContext: EndpointContext,
): Promise<string> {
  const { transaction, endpointId, owner } = endpointContext;
  const commandContext = createCommandContext(endpointContext, demoDelivery.hoursAgo);
  const { now: createdAt } = commandContext;
  const [eventId = ""] = await insertEvents(
    transaction,
    [{ type: demoDelivery.type, id: await findSubjectId(demoDelivery, endpointContext) }],
    {
      ...commandContext,
      fannedOutAt: createdAt,
    },
  );
  const deliveryInput: CreateWebhookDeliveryRowsInput = {
    id: createId("webhookDelivery", createdAt.getTime()),
    createdAt,
    ...demoDelivery,
  };
  const { delivery, attempts } = createWebhookDeliveryRows(deliveryInput);
  const columns = {
    id: deliveryInput.id,
    merchantId: owner.id,
    installationId: owner.installationId,
    eventId,
    endpointId,
    createdAt,
  };
  await transaction
    .insertInto("webhookDelivery")
    .values({ ...columns, ...delivery, replayOf: null, replayReason: null, replayNote: null, lease: null })
    .execute();
  if (attempts.length > 0)
    await transaction
      .insertInto("webhookAttempt")
      .values([...attempts])
      .execute();
  return deliveryInput.id;
}

/**
 * Returns the id of the object that an event is about: the order, or the order's newest fulfillment or
 * return.
 */
async function findSubjectId(
  { order, part }: DemoDelivery,
  { transaction, orders }: EndpointContext,
): Promise<string> {
  const orderId = orders[order];
  if (part === null) return orderId;
  const rows = transaction.selectFrom(part).select("id").where("orderId", "=", orderId);
  return (await rows.orderBy("id", "desc").limit(1).executeTakeFirst())?.id ?? orderId;
}

/**
 * Sets the times of the endpoint's last success and last failure from its delivery attempts. The newest
 * attempt succeeded, so the service shows the endpoint as healthy.
 */
async function setEndpointHealth({ transaction, endpointId }: EndpointContext): Promise<void> {
  const attempts = transaction
    .selectFrom("webhookAttempt as a")
    .innerJoin("webhookDelivery as d", "d.id", "a.deliveryId")
    .select((a) => a.fn.max("a.startedAt").as("at"))
    .where("d.endpointId", "=", endpointId);
  const lastSuccess = await attempts.where("a.errorCode", "is", null).executeTakeFirstOrThrow();
  const lastFailure = await attempts.where("a.errorCode", "is not", null).executeTakeFirstOrThrow();
  await transaction
    .updateTable("webhookEndpointHealth")
    .set({
      lastSuccessAt: lastSuccess.at,
      lastFailureAt: lastFailure.at,
      lastFailureCode: "connection",
      lastFailureStatus: null,
    })
    .where("endpointId", "=", endpointId)
    .execute();
}

interface DemoDelivery {
  readonly key: DemoSeededWebhookDeliveryName;
  readonly finalStatus: DemoSeededWebhookDeliveryName;
  readonly type: EventType;
  readonly order: DemoOrderName;
  /** The part of the order that the event is about; null if the event is about the order itself. */
  readonly part: "fulfillment" | "orderReturn" | null;
  readonly hoursAgo: number;
  readonly attempts: number;
}

const defineDelivery = (
  key: DemoSeededWebhookDeliveryName,
  fields: Omit<DemoDelivery, "key" | "finalStatus">,
): DemoDelivery => ({
  key,
  finalStatus: key,
  ...fields,
});

/**
 * The webhook deliveries of the demo, oldest first. Ten attempts take 75 hours and 35 minutes, so the
 * delivery of 96 hours ago has failed for good (exhausted). The delivery of 24 hours ago has had seven
 * attempts; the eighth attempt is due in seven and a half hours.
 */
const demoDeliveries: readonly DemoDelivery[] = [
  defineDelivery("exhausted", {
    type: "return.closed",
    order: "returned",
    part: "orderReturn",
    hoursAgo: 96,
    attempts: 10,
  }),
  defineDelivery("skipped", {
    type: "fulfillment.shipped",
    order: "shipped",
    part: "fulfillment",
    hoursAgo: 60,
    attempts: 0,
  }),
  defineDelivery("retrying", {
    type: "order.completed",
    order: "delivered",
    part: null,
    hoursAgo: 24,
    attempts: 7,
  }),
  defineDelivery("succeeded", {
    type: "order.canceled",
    order: "canceled",
    part: null,
    hoursAgo: 155 / 60,
    attempts: 1,
  }),
];

const endpointHistory = {
  description: "The demo's: nothing listens there.",
  /**
   * The endpoint subscribes only to the event types of the demo's deliveries. Events of other types would
   * also be sent to the endpoint's URL, where no server listens, and would fail for days.
   */
  eventTypes: demoDeliveries.map(({ type }) => type),
  /** Hours before now at which the endpoint was created, disabled, and enabled again. */
  hours: { created: 120, disabled: 62, enabled: 58 },
} as const;
