/**
 * The operations on orders: put on hold with a reason, release, and read over REST and GraphQL. The version,
 * the status and the reason of an order are registers.
 */
import { createSubmitWrite, openCheckout, readSession } from "../checkout-shop.ts";
import { createGraphqlWrite, parseAnswer, requireData, type SendRequest, type Shop } from "../shop.ts";
import { setTimeout as sleep } from "node:timers/promises";
import type { HistoryStep } from "./history.ts";
import {
  type HistoryClient,
  type HistoryRecorder,
  type RecordedRequest,
  toHiddenWrite,
  toVersionedRead,
  toVersionedWrite,
  toVersionSteps,
} from "./recorder.ts";

export interface SharedOrder {
  readonly id: string;
  readonly shop: Shop;
  /** The newest known version. */
  seen: number;
}

interface OrderState {
  readonly id: string;
  readonly version: number;
  readonly status: string;
  /** Left out in answers over REST, which do not show the reason. */
  readonly holdReason?: string | null;
}

const noReason = "none";
const orderFields = "id version status holdReason";
const orderVersionOf = (id: string): string => `version of ${id}`;
const orderStatusOf = (id: string): string => `status of ${id}`;
const holdReasonOf = (id: string): string => `hold reason of ${id}`;

/** Pays a checkout, waits for its order, and confirms the order. Returns the id of the order. */
export async function placeSharedOrder(send: SendRequest, shop: Shop): Promise<string> {
  const checkout = await openCheckout(send, shop);
  requireData(parseAnswer(await send(createSubmitWrite(shop, checkout).request)));
  for (;;) {
    const { orderId } = await readSession(send, shop, checkout.sessionId);
    if (orderId !== null) {
      const query = `mutation ($id: ID!, $key: String!) {
        orderConfirm(orderId: $id, idempotencyKey: $key, input: {}) { id } }`;
      await send(createGraphqlWrite(shop, { token: "admin", query, variables: { id: orderId } }).request);
      return orderId;
    }
    await sleep(20);
  }
}

/** Reads a new order for the first time: the read values are those with which its history begins. */
export async function beginOrder(
  recorder: HistoryRecorder,
  client: HistoryClient,
  { shop, id }: { readonly shop: Shop; readonly id: string },
): Promise<SharedOrder> {
  const order = { id, shop, seen: 0 };
  await recorder.perform(client, {
    ...readOrderOverGraphql(order),
    toSteps: (data) => toOrderWrites(order, data),
  });
  return order;
}

function toOrderWrites(order: SharedOrder, data: Readonly<Record<string, unknown>>): HistoryStep[] {
  const [{ id, version, status, holdReason }] = Object.values(data) as [OrderState];
  order.seen = version;
  return [
    toVersionedWrite(orderVersionOf(id), version, version),
    toVersionedWrite(orderStatusOf(id), status.toLowerCase(), version),
    toVersionedWrite(holdReasonOf(id), holdReason ?? noReason, version),
  ];
}

function toOrderReads(order: SharedOrder, { id, version, status, holdReason }: OrderState): HistoryStep[] {
  order.seen = Math.max(order.seen, version);
  return [
    toVersionedRead(orderVersionOf(id), version, version),
    toVersionedRead(orderStatusOf(id), status.toLowerCase(), version),
    ...(holdReason === undefined ? [] : [toVersionedRead(holdReasonOf(id), holdReason ?? noReason, version)]),
  ];
}

export function readOrderOverGraphql(order: SharedOrder): RecordedRequest {
  const query = `query ($id: ID!) { order(id: $id) { ${orderFields} } }`;
  return {
    name: "read an order over GraphQL",
    request: createGraphqlWrite(order.shop, { token: "admin", query, variables: { id: order.id } }).request,
    intended: [],
    toSteps: (data) => toOrderReads(order, data["order"] as OrderState),
  };
}

export function readOrderOverRest(order: SharedOrder): RecordedRequest {
  const headers = { authorization: `Bearer ${order.shop.access.keys.full}` };
  const url = `/api/v1/open/storefront/orders/${order.id}`;
  return {
    name: "read an order over REST",
    request: { method: "GET", url, headers, body: undefined },
    intended: [],
    toSteps: (data) => {
      const { id, version, status } = data as unknown as OrderState;
      return toOrderReads(order, { id, version, status });
    },
  };
}

/** Puts an order on hold with a reason that is used once, or releases it. */
export function changeOrderHold(order: SharedOrder, reason: string | undefined): RecordedRequest {
  const { id, shop, seen } = order;
  const expectedVersion = Math.random() < 0.3 ? seen : null;
  const mutation = reason === undefined ? "orderRelease" : "orderHold";
  const type = reason === undefined ? "OrderStepInput" : "OrderHoldInput";
  const query = `mutation ($id: ID!, $key: String!, $input: ${type}!) {
    ${mutation}(orderId: $id, idempotencyKey: $key, input: $input) { ${orderFields} } }`;
  const input = { expectedVersion, ...(reason === undefined ? {} : { reason }) };
  return {
    name: reason === undefined ? "release an order" : "put an order on hold",
    request: createGraphqlWrite(shop, { token: "admin", query, variables: { id, input } }).request,
    intended: [
      toHiddenWrite(orderVersionOf(id)),
      toHiddenWrite(orderStatusOf(id)),
      reason === undefined
        ? toHiddenWrite(holdReasonOf(id))
        : { kind: "write", object: holdReasonOf(id), value: reason },
    ],
    toSteps: (data) => {
      const changed = data[mutation] as OrderState;
      const { version } = changed;
      return [
        ...toVersionSteps(orderVersionOf(id), { version, seen: expectedVersion ?? version - 1 }),
        toVersionedWrite(orderStatusOf(id), reason === undefined ? "confirmed" : "on_hold", version),
        toVersionedWrite(holdReasonOf(id), reason ?? noReason, version),
        ...toOrderReads(order, changed),
      ];
    },
  };
}
