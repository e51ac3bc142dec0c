/**
 * Several checkouts are submitted at the same moment with one promotion code that may be used once. The user
 * of the code is a register that each submission reads and writes; the redemptions of the code are a list.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { withRetries } from "../checkout-crash.ts";
import {
  type Checkout,
  createSingleUseCode,
  createSubmitWrite,
  openCheckout,
  readSession,
} from "../checkout-shop.ts";
import { createGraphqlWrite, type Shop } from "../shop.ts";
import { type HistoryStep, unwritten } from "./history.ts";
import type { HistoryClient, HistoryRecorder, RecordedRequest } from "./recorder.ts";

const userOf = (code: string): string => `user of ${code}`;
const redemptionsOf = (code: string): string => `redemptions of ${code}`;

/** Creates a code and its checkouts, submits all of them at once, and reads who used the code. */
export async function raceForCode(
  recorder: HistoryRecorder,
  shop: Shop,
  clients: readonly HistoryClient[],
): Promise<void> {
  const code = `ONE-${randomUUID().slice(0, 8)}`;
  const [first] = clients;
  if (first === undefined) return;
  await createSingleUseCode(withRetries(first.send), shop, code);
  const checkouts: Checkout[] = [];
  for (const { send } of clients) checkouts.push(await openCheckout(withRetries(send), shop, code));
  await Promise.all(
    checkouts.map((checkout, index) =>
      recorder.perform(clients[index] ?? first, submitWithCode(shop, { code, checkout })),
    ),
  );
  const orders = new Map<string, string>();
  for (const { sessionId } of checkouts) {
    const orderId = await readOrderOf(first, shop, sessionId);
    if (orderId !== null) orders.set(orderId, sessionId);
  }
  for (const orderId of orders.keys())
    await recorder.perform(first, readRedemptions(shop, { code, orderId, orders }));
}

/** Waits until a session is no longer processed, and returns its order; null if it has none. */
async function readOrderOf({ send }: HistoryClient, shop: Shop, sessionId: string): Promise<string | null> {
  for (;;) {
    const { status, orderId } = await readSession(withRetries(send), shop, sessionId);
    if (status !== "PROCESSING") return orderId;
    await sleep(20);
  }
}

function submitWithCode(
  shop: Shop,
  { code, checkout }: { readonly code: string; readonly checkout: Checkout },
): RecordedRequest {
  const { sessionId } = checkout;
  const writes: HistoryStep[] = [
    { kind: "write", object: userOf(code), value: sessionId },
    { kind: "append", object: redemptionsOf(code), value: sessionId },
  ];
  return {
    name: "submit a checkout with a code of one use",
    request: createSubmitWrite(shop, checkout).request,
    intended: writes,
    toSteps: () => [{ kind: "read", object: userOf(code), value: unwritten }, ...writes],
  };
}

/** Reads the uses of the code by an order; the promotion has only this code. */
function readRedemptions(
  shop: Shop,
  {
    code,
    orderId,
    orders,
  }: { readonly code: string; readonly orderId: string; readonly orders: ReadonlyMap<string, string> },
): RecordedRequest {
  const query = `query ($orderId: ID!) {
    promotionRedemptions(orderId: $orderId, first: 10) { edges { node { code orderId } } } }`;
  return {
    name: "read who used the code",
    request: createGraphqlWrite(shop, { token: "admin", query, variables: { orderId } }).request,
    intended: [],
    toSteps: (data) => {
      const { edges } = data["promotionRedemptions"] as {
        readonly edges: readonly {
          readonly node: { readonly code: string | null; readonly orderId: string };
        }[];
      };
      const sessions = edges.flatMap(({ node }) =>
        node.code === code ? [orders.get(node.orderId) ?? node.orderId] : [],
      );
      return [
        { kind: "readList", object: redemptionsOf(code), values: sessions },
        { kind: "read", object: userOf(code), value: sessions.at(-1) ?? unwritten },
      ];
    },
  };
}
