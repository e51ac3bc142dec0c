/** The recipes of `trigger` for fulfillments, returns, exchanges and warranties. */
import { CommandFailed } from "./command-context.ts";
import { withProduct } from "./trigger-catalog.ts";
import { completeOrder, firstLine, fulfill, moveFulfillment, placePaidOrder } from "./trigger-purchases.ts";
import { type MutationName, type Recipe, type Shop, step, type StepResult } from "./trigger-steps.ts";

/**
 * Returns a recipe that makes a fulfillment and its first `steps` steps: pack, ship, deliver. If `last` is
 * given, the recipe then runs the mutation that `last` names on the fulfillment.
 */
const fulfilled =
  (
    steps: 0 | 1 | 2 | 3,
    last?: { readonly name: MutationName; readonly status?: string; readonly type?: "PICKUP" },
  ): Recipe =>
  async (shop) => {
    const order = await placePaidOrder(shop);
    const id = await fulfill(shop, order, { steps, type: last?.type ?? "SHIPPING" });
    if (last === undefined) return;
    await step(shop, last.name, { id, input: last.status === undefined ? {} : { status: last.status } });
  };

const fulfillmentRecipes: Readonly<Record<string, Recipe>> = {
  "fulfillment.created": fulfilled(0),
  "fulfillment.packed": fulfilled(1),
  "fulfillment.shipped": fulfilled(2),
  "fulfillment.in_transit": fulfilled(2, { name: "fulfillmentTrack", status: "IN_TRANSIT" }),
  "fulfillment.ready_for_pickup": fulfilled(1, {
    name: "fulfillmentTrack",
    status: "READY_FOR_PICKUP",
    type: "PICKUP",
  }),
  "fulfillment.delivered": fulfilled(3),
  "fulfillment.failed": fulfilled(2, { name: "fulfillmentFail" }),
  "fulfillment.returned_to_sender": fulfilled(2, { name: "fulfillmentTrack", status: "RETURNED_TO_SENDER" }),
  "fulfillment.canceled": fulfilled(0, { name: "fulfillmentCancel" }),
};

async function requestReturn(shop: Shop, more: Readonly<Record<string, unknown>> = {}): Promise<StepResult> {
  const order = await completeOrder(shop);
  const input = {
    kind: "RETURN_REFUND",
    lines: [firstLine(order)],
    reason: "UNWANTED",
    method: "MAIL",
    ...more,
  };
  return step(shop, "returnRequest", { id: order.id, input });
}

const returnSteps: readonly ((shop: Shop, request: StepResult) => Promise<unknown>)[] = [
  async (shop, { id, status }) => {
    if (status === "REQUESTED") await step(shop, "returnApprove", { id });
  },
  (shop, { id }) => step(shop, "returnTrack", { id }),
  (shop, { id, lines }) =>
    step(shop, "returnReceive", {
      id,
      input: { lines: lines.map(({ lineId, quantity }) => ({ lineId, received: quantity })) },
    }),
  (shop, { id, lines }) =>
    step(shop, "returnInspect", {
      id,
      input: {
        lines: lines.map(({ lineId, quantity: accepted }) => ({ lineId, accepted, restock: accepted })),
      },
    }),
  (shop, { id }) => step(shop, "returnClose", { id }),
];

/**
 * Returns a function that requests a return and makes the first `count` of these steps: approve, track,
 * receive, inspect, close.
 */
const returned =
  (count: number, more: Readonly<Record<string, unknown>> = {}): ((shop: Shop) => Promise<StepResult>) =>
  async (shop) => {
    const request = await requestReturn(shop, more);
    for (const next of returnSteps.slice(0, count)) await next(shop, request);
    return request;
  };

/** Requests an exchange for another variant of the product, and makes the first `count` steps of the return. */
async function exchange(shop: Shop, count: number): Promise<StepResult> {
  const { exchangeVariantId } = shop;
  if (exchangeVariantId === null)
    throw new CommandFailed(
      "The merchant has no product in stock with two variants, which an exchange needs.",
    );
  return returned(count, { kind: "EXCHANGE", reason: "COLOR", exchangeVariantId })(shop);
}

/** Makes an exchange whose replacement is delivered after the returned unit was inspected. */
async function completeExchange(shop: Shop): Promise<void> {
  const { id, fulfillmentIds } = await exchange(shop, 4);
  for (const fulfillmentId of fulfillmentIds) await moveFulfillment(shop, fulfillmentId, 3);
  await step(shop, "returnClose", { id });
}

/**
 * Requests the return of an article with a hygiene seal, because the merchant decides about such returns, and
 * declines the request.
 */
const declineReturn = withProduct(
  async (shop, { variantId }) => {
    const { id } = await requestReturn({ ...shop, variantId });
    await step(shop, "returnDecline", { id, input: { reason: "The seal is broken." } });
  },
  ["HYGIENE_SEALED"],
);

async function registerWarranty(shop: Shop): Promise<string> {
  const order = await completeOrder(shop);
  const input = { lineId: order.lines[0]?.id, serialNumber: `SN-${shop.run}` };
  return (await step(shop, "warrantyRegister", { id: order.id, input })).id;
}

const openClaim = async (shop: Shop): Promise<StepResult> =>
  step(shop, "warrantyClaimOpen", {
    id: await registerWarranty(shop),
    input: { kind: "REPAIR", description: "Triggered" },
  });

const returnRecipes: Readonly<Record<string, Recipe>> = {
  "return.requested": returned(0),
  "return.approved": returned(1),
  "return.in_transit": returned(2),
  "return.received": returned(3),
  "return.inspected": returned(4),
  "return.closed": returned(5),
  "return.declined": declineReturn,
  "exchange.created": (shop) => exchange(shop, 1),
  "exchange.completed": completeExchange,
  "return.canceled": async (shop) => step(shop, "returnCancel", { id: (await requestReturn(shop)).id }),
  "warranty.registered": registerWarranty,
  "warranty.claim_opened": openClaim,
  "warranty.claim_resolved": async (shop) =>
    step(shop, "warrantyClaimResolve", {
      id: (await openClaim(shop)).claims[0]?.id ?? "",
      input: { outcome: "ACCEPTED", resolution: "Triggered" },
    }),
};

export const afterSalesRecipes: Readonly<Record<string, Recipe>> = {
  ...fulfillmentRecipes,
  ...returnRecipes,
};
