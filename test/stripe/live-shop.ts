/**
 * A shop of a merchant in live mode that has connected an account at the fake Stripe, with helpers for a
 * buyer who pays on Stripe's page.
 */
import { expect } from "vitest";
import { askGraph, type GraphAnswer } from "#test/operations/cart-calls.ts";
import { drive } from "#test/commerce/payments/checkouts.ts";
import { type Answer, createWorld, publicUrl, type World } from "#test/support/world.ts";
import { type Buyer, buyerOf, makePayableSession } from "#test/web/checkout/buyer.ts";
import { type FakeStripe, signFakeEvent, startFakeStripe } from "./fake-stripe.ts";
import type { FakeCard, FakeEvent, FakeIntent, FakeSession } from "./fake-state.ts";

export const liveKey = "sk_live_fakeAccountOne4242";
export const testKey = "sk_test_fakeAccountOne4242";
export const otherLiveKey = "rk_live_fakeAccountTwo9876";
export const signingSecret = ["whsec", "fakeSigningSecretOfTheLiveShop"].join("_");

export interface LiveShop extends AsyncDisposable {
  readonly world: World;
  readonly stripe: FakeStripe;
  readonly merchantId: string;
  connectionId: string;
}

/** Starts the fake and the service. The merchant is in live mode; nothing is connected yet. */
export async function openLiveShop(): Promise<LiveShop> {
  let clock: World["clock"] | undefined;
  const account = { id: "acct_one", name: "Kvern Outdoor", isLive: true };
  const stripe = await startFakeStripe({
    accounts: {
      [liveKey]: account,
      [testKey]: { ...account, isLive: false },
      [otherLiveKey]: { id: "acct_two", name: "Kvern Second", isLive: true },
    },
    now: () => clock?.now() ?? new Date(),
  });
  const world = await createWorld("postgres", { environment: { STRIPE_API_BASE: stripe.url } });
  ({ clock } = world);
  const { id: merchantId } = await world.database.db
    .updateTable("merchant")
    .set({ mode: "live" })
    .where("id", "=", world.demo.merchants.first.id)
    .returning("id")
    .executeTakeFirstOrThrow();
  return {
    world,
    stripe,
    merchantId,
    connectionId: "",
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await stripe[Symbol.asyncDispose]();
    },
  };
}

const connectionFields =
  "id paymentConnection { id provider mode accountId accountName keyHint hasSigningSecret webhookUrl version }";

export function connect(
  { world, merchantId }: Pick<LiveShop, "world" | "merchantId">,
  input: { readonly secretKey: string; readonly webhookSigningSecret?: string },
): Promise<GraphAnswer> {
  const query = `mutation ($merchantId: ID, $input: PaymentProviderConnectInput!) {
    paymentProviderConnect(merchantId: $merchantId, input: $input) { ${connectionFields} } }`;
  return askGraph(world, query, { merchantId, input }, { token: "admin" });
}

/** Connects the live account, with the signing secret. */
export async function connectLive(shop: LiveShop): Promise<void> {
  const { data, error } = await connect(shop, {
    secretKey: liveKey,
    webhookSigningSecret: signingSecret,
  });
  expect(error).toBeUndefined();
  shop.connectionId = data.paymentConnection.id;
}

export interface HostedCheckout {
  readonly sessionId: string;
  readonly cartId: string;
  readonly amountMinor: number;
  readonly buyer: Buyer;
  readonly page: FakeSession;
}

/** Checks out until Stripe's page is open. */
export async function openPaymentPage({ world, stripe }: LiveShop): Promise<HostedCheckout> {
  const { id: sessionId, cartId, url, amountTotal } = await makePayableSession(world);
  const buyer = buyerOf(world, url);
  await buyer.open();
  await buyer.press("pay");
  await drive(world);
  world.clock.advance(1_000);
  const page = await buyer.open();
  const link = /class="button"\s+href="([^"]+)"/.exec(page.text)?.[1] ?? "";
  return { sessionId, cartId, amountMinor: amountTotal.amountMinor, buyer, page: stripe.sessionOf(link) };
}

/** The buyer pays on Stripe's page and is led back. */
export async function payAndReturn(
  { world, stripe }: LiveShop,
  { buyer, page }: HostedCheckout,
  card: FakeCard = "success",
): Promise<Answer> {
  const back = stripe.state.pay(page, card);
  if (back === undefined) throw new Error("Stripe's page stays open.");
  const answer = await buyer.open(back.slice(publicUrl.length + buyer.path.length));
  await drive(world);
  world.clock.advance(1_000);
  return answer;
}

/** Sends an event to the address of the connection. */
export function deliver(
  { world, connectionId }: LiveShop,
  event: FakeEvent,
  { secret = signingSecret, to = connectionId }: { readonly secret?: string; readonly to?: string } = {},
): Promise<Answer> {
  const { body, headers } = signFakeEvent(event, secret, world.clock.now());
  return world.send({ method: "POST", url: `/payments/stripe/${to}/events`, headers: { ...headers }, body });
}

/** Delivers all events that were not delivered before, and runs the payment operations that become due. */
export async function deliverAll(
  shop: LiveShop,
  order: (events: FakeEvent[]) => FakeEvent[] = (all) => all,
): Promise<void> {
  for (const event of order(shop.stripe.state.events.splice(0)))
    expect((await deliver(shop, event)).status).toBe(200);
  await drive(shop.world);
  shop.world.clock.advance(1_000);
}

export function intentOf({ stripe }: LiveShop, { page }: Pick<HostedCheckout, "page">): FakeIntent {
  const intent = stripe.state.intents.get(page.payment_intent ?? "");
  if (intent === undefined) throw new Error(`${page.id} has no PaymentIntent.`);
  return intent;
}

export interface PlacedOrder extends HostedCheckout {
  readonly orderId: string;
  readonly paymentId: string;
}

/** Buys until the order is placed. */
export async function placeLiveOrder(shop: LiveShop): Promise<PlacedOrder> {
  const checkout = await openPaymentPage(shop);
  await payAndReturn(shop, checkout);
  const { id: paymentId, orderId } = await shop.world.database.db
    .selectFrom("payment")
    .select(["id", "orderId"])
    .where("sessionId", "=", checkout.sessionId)
    .executeTakeFirstOrThrow();
  if (orderId === null) throw new Error("No order was placed.");
  return { ...checkout, orderId, paymentId };
}

export interface SeenPayment {
  readonly status: string;
  readonly capturedMinor: number;
  readonly voidedMinor: number;
  readonly refundedMinor: number;
  readonly failureCode: string | null;
  readonly isDisputed: boolean;
}

export async function paymentOf({ world }: LiveShop, paymentId: string): Promise<SeenPayment> {
  const { disputedAt, ...payment } = await world.database.db
    .selectFrom("payment")
    .select(["status", "capturedMinor", "voidedMinor", "refundedMinor", "failureCode", "disputedAt"])
    .where("id", "=", paymentId)
    .executeTakeFirstOrThrow();
  return { ...payment, isDisputed: disputedAt !== null };
}
