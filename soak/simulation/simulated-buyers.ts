/**
 * The buyers of the simulation. A buyer checks out a cart and pays. Some submit twice, cancel or give up at
 * the same moment, pay again after a declined payment, or use a code that may be used once. The merchant
 * cancels some orders, and has captured the payment of some of them before.
 */
import { setTimeout as sleep } from "node:timers/promises";
import {
  createCancelWrite,
  createReadyCart,
  createSessionWrite,
  createSubmitWrite,
  readSession,
  toCheckout,
  type Checkout,
  type SessionState,
} from "#soak/checkout-shop.ts";
import { createGraphqlWrite, type HttpAnswer, parseAnswer, requireData, type Write } from "#soak/shop.ts";
import type { ClientRecord, ClientsPlan } from "./client-record.ts";

const thinkMsMax = 10;
const isAccepted = (answer: HttpAnswer): boolean => parseAnswer(answer).code === undefined;

/** Checks out a cart, and pays. The code, if given, may be used once, and another buyer uses it too. */
export async function buy(plan: ClientsPlan, record: ClientRecord, code?: string): Promise<void> {
  const { ask, shop, random } = plan;
  const cartId = await createReadyCart(ask, shop, code).catch((error: unknown) => {
    // Another buyer has used the code before.
    if (code !== undefined && String(error).includes("usage_limit_reached")) return undefined;
    throw error;
  });
  if (cartId === undefined) return;
  const created = createSessionWrite(shop, cartId);
  const first = await ask(created.request);
  const checkout = toCheckout(parseAnswer(first));
  record.answers.push({ write: created, first });
  record.sessionIds.push(checkout.sessionId);
  await sleep(random.next() * thinkMsMax);
  const token = random.pick(["tok_success", "tok_success", "tok_success", "tok_decline"]);
  const submission = { checkout, token, hasCode: code !== undefined };
  let expected = await submitAndEnd(plan, record, submission);
  if (expected === "OPEN" && token === "tok_decline" && random.chance(0.3))
    expected = await payAgain(plan, record, submission);
  if (expected !== undefined) record.decisions.push({ checkout, expected });
  if (expected === "COMPLETED" && random.chance(0.2)) await cancelOrder(plan, record, checkout);
}

interface Submission {
  readonly checkout: Checkout;
  readonly token: string;
  readonly hasCode: boolean;
}

type Status = SessionState["status"];

/**
 * Submits a checkout once or twice. Some buyers cancel it or give up at the same moment. Returns the status
 * with which the session must end; undefined if the submission was refused.
 */
async function submitAndEnd(
  { ask, shop, random }: ClientsPlan,
  record: ClientRecord,
  submission: Submission,
): Promise<Status | undefined> {
  const { checkout, token } = submission;
  const dice = random.next();
  const ending = dice < 0.2 ? "cancel" : dice < 0.3 ? "give up" : "none";
  const copies = ending !== "give up" && random.chance(0.3) ? 2 : 1;
  const submits = Array.from({ length: copies }, () => createSubmitWrite(shop, checkout, token));
  const endLater = async (): Promise<boolean> => {
    if (ending === "none") return false;
    await sleep(random.next() * thinkMsMax * (ending === "cancel" ? 1 : 5));
    const end = ending === "cancel" ? createCancelWrite(shop, checkout) : createFailWrite(shop, checkout);
    return isAccepted(await ask(end.request));
  };
  const [answers, isEnded] = await Promise.all([
    Promise.all(submits.map(({ request }) => ask(request))),
    endLater(),
  ]);
  const { violations, expected } = judgeSubmission(submission, {
    accepted: answers.filter(isAccepted).length,
    canceled: isEnded && ending === "cancel" ? 1 : 0,
    isGivenUp: isEnded && ending === "give up",
  });
  record.violations.push(...violations);
  return expected;
}

interface SubmissionAnswers {
  /** How many submissions the service accepted. */
  readonly accepted: number;
  readonly canceled: 0 | 1;
  readonly isGivenUp: boolean;
}

function judgeSubmission(
  { checkout: { sessionId }, token, hasCode }: Submission,
  { accepted, canceled, isGivenUp }: SubmissionAnswers,
): { readonly violations: readonly string[]; readonly expected: Status | undefined } {
  const violations: string[] = [];
  if (token === "tok_success" && accepted + canceled > 1)
    violations.push(`${sessionId} accepted ${accepted} submissions and ${canceled} cancellations.`);
  // With a code, another buyer may have used it before.
  if (accepted + canceled === 0 && !hasCode) violations.push(`${sessionId} refused its submission.`);
  if (canceled === 1) return { violations, expected: "CANCELED" };
  if (accepted === 0) return { violations, expected: undefined };
  return { violations, expected: isGivenUp || token === "tok_decline" ? "OPEN" : "COMPLETED" };
}

function createFailWrite(shop: ClientsPlan["shop"], { sessionId }: Checkout): Write {
  const query = `mutation ($sessionId: ID!, $key: String!, $input: HostedCheckoutSessionFailInput!) {
    hostedCheckoutSessionFail(sessionId: $sessionId, idempotencyKey: $key, input: $input) { status } }`;
  const variables = { sessionId, input: { reason: "BUYER_GAVE_UP" } };
  return createGraphqlWrite(shop, { token: "storefront", query, variables });
}

/**
 * The service repeats a payment operation after the end of its lease (30 s) if the outcome was not saved, and
 * after up to 60 s if the provider did not answer. One payment of seed 14814 takes 140 s in this way.
 */
const decisionMsMax = 600_000;

/** Waits until the payment of a session has an outcome. The pauses between two reads double up to 4 seconds. */
export async function awaitDecision(
  { ask, shop }: Pick<ClientsPlan, "ask" | "shop">,
  { sessionId }: Checkout,
): Promise<SessionState> {
  const until = performance.now() + decisionMsMax;
  for (let pauseMs = 125; ; pauseMs = Math.min(2 * pauseMs, 4_000)) {
    const session = await readSession(ask, shop, sessionId);
    if (session.status !== "PROCESSING" || performance.now() > until) return session;
    await sleep(pauseMs);
  }
}

/** Pays again after a declined payment. Returns the status with which the session must end. */
async function payAgain(
  plan: ClientsPlan,
  { violations }: ClientRecord,
  { checkout, hasCode }: Submission,
): Promise<Status> {
  await awaitDecision(plan, checkout);
  const answer = await plan.ask(createSubmitWrite(plan.shop, checkout).request);
  if (isAccepted(answer)) return "COMPLETED";
  // Another buyer may have used the code since the payment was declined.
  if (!hasCode) violations.push(`The second payment of ${checkout.sessionId} was refused: ${answer.text}`);
  return "OPEN";
}

/** Cancels an order. Of some orders, the payment is captured first, and must be refunded. */
async function cancelOrder(
  plan: ClientsPlan,
  { violations }: ClientRecord,
  checkout: Checkout,
): Promise<void> {
  const { orderId } = await awaitDecision(plan, checkout);
  if (orderId === null) return;
  if (plan.random.chance(0.5)) await capturePayment(plan, orderId);
  for (let pauseMs = 125; ; pauseMs *= 2) {
    const answer = await sendCancel(plan, orderId);
    // The order cannot be canceled until the payment provider has answered the capture.
    const isTooEarly = answer.text.includes('"payment_processing"');
    if (!isTooEarly || pauseMs > decisionMsMax) {
      if (!isAccepted(answer)) violations.push(`${orderId} was not canceled: ${answer.text}`);
      return;
    }
    await sleep(pauseMs);
  }
}

function sendCancel({ ask, shop }: ClientsPlan, orderId: string): Promise<HttpAnswer> {
  const query = `mutation ($id: ID!, $key: String!, $input: OrderCancelInput!) {
    orderCancel(orderId: $id, idempotencyKey: $key, input: $input) { status } }`;
  const variables = { id: orderId, input: { reason: "OUT_OF_STOCK" } };
  return ask(createGraphqlWrite(shop, { token: "admin", query, variables }).request);
}

async function capturePayment({ ask, shop }: ClientsPlan, orderId: string): Promise<void> {
  const query = "query ($id: ID!) { order(id: $id) { payments { id } } }";
  const read = createGraphqlWrite(shop, { token: "admin", query, variables: { id: orderId } });
  const { payments } = requireData(parseAnswer(await ask(read.request)))["order"] as {
    readonly payments: readonly { readonly id: string }[];
  };
  const capture = `mutation ($id: ID!, $key: String!) {
    paymentCapture(paymentId: $id, idempotencyKey: $key, input: {}) { status } }`;
  const variables = { id: payments[0]?.id };
  requireData(
    parseAnswer(await ask(createGraphqlWrite(shop, { token: "admin", query: capture, variables }).request)),
  );
}
