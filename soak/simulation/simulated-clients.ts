/**
 * The clients of the simulation. Writers change carts and stock, and compare each replay with the first
 * answer. Buyers check out and pay; some submit twice, cancel at the same moment, or use a code that may be
 * used once.
 */
import { setTimeout as sleep } from "node:timers/promises";
import {
  createCancelWrite,
  createReadyCart,
  createSessionWrite,
  createSingleUseCode,
  createSubmitWrite,
  readSession,
  toCheckout,
  type Checkout,
} from "#soak/checkout-shop.ts";
import { createWriteOfTurn, getCartVersionInAnswer } from "#soak/crash.ts";
import type { AcknowledgedWrite } from "#soak/crash-checks.ts";
import { withRetries } from "#soak/checkout-crash.ts";
import {
  openCart,
  parseAnswer,
  type HttpAnswer,
  type SendRequest,
  type Shop,
  type Write,
} from "#soak/shop.ts";
import type { SeededRandom } from "./seeded-random.ts";

export interface ClientsPlan {
  readonly ask: SendRequest;
  readonly shop: Shop;
  readonly random: SeededRandom;
}

/** What the clients know at the end of a seed. */
export interface ClientRecord {
  readonly done: AcknowledgedWrite[];
  readonly carts: string[];
  readonly answers: { readonly write: Write; readonly first: HttpAnswer }[];
  readonly sessionIds: string[];
  /** The sessions whose submission was acknowledged, with the payment token. */
  readonly submitted: {
    readonly checkout: Checkout;
    readonly token: string;
    readonly isContested: boolean;
  }[];
  readonly violations: string[];
}

export const createClientRecord = (): ClientRecord => ({
  done: [],
  carts: [],
  answers: [],
  sessionIds: [],
  submitted: [],
  violations: [],
});

const thinkMsMax = 10;

/** Runs all clients to their end. */
export async function runSimulatedClients(plan: ClientsPlan, record: ClientRecord): Promise<void> {
  const ask = withRetries(plan.ask);
  const code = `ONCE-${plan.random.below(1_000_000)}`;
  const hasCode = plan.random.chance(0.4);
  if (hasCode) await createSingleUseCode(ask, plan.shop, code);
  const retrying = { ...plan, ask };
  const run = async (work: () => Promise<void>): Promise<void> => {
    await work().catch((error: unknown) => record.violations.push(`A client gave up: ${String(error)}`));
  };
  await Promise.all([
    ...Array.from({ length: 1 + plan.random.below(2) }, (_, index) =>
      run(() => write(retrying, record, index + plan.random.below(5))),
    ),
    ...Array.from({ length: 1 + plan.random.below(2) }, () => run(() => buy(retrying, record, undefined))),
    ...(hasCode ? [code, code] : []).map((used) => run(() => buy(retrying, record, used))),
  ]);
}

/** Changes a cart of its own and the stock. */
async function write({ ask, shop, random }: ClientsPlan, record: ClientRecord, start: number): Promise<void> {
  const { id: cartId, version: opened } = await openCart(ask, shop);
  record.carts.push(cartId);
  let version = opened;
  let hasCode = false;
  const turns = 3 + random.below(4);
  for (let turn = start; turn < start + turns; turn += 1) {
    await sleep(random.next() * thinkMsMax);
    const { write: next, kind, variantId } = createWriteOfTurn(shop, { cartId, version, hasCode, turn });
    const copies = random.chance(0.3) ? 2 : 1;
    const [first] = await Promise.all(Array.from({ length: copies }, () => ask(next.request)));
    if (first === undefined) return;
    const answer = parseAnswer(first);
    if (answer.code !== undefined) {
      record.violations.push(`${kind} was refused with ${answer.status} ${answer.code}: ${answer.text}`);
      return;
    }
    const nextVersion = kind === "stock" ? null : getCartVersionInAnswer(answer.text);
    if (nextVersion !== null && nextVersion !== version + 1)
      record.violations.push(`${kind} took cart ${cartId} from version ${version} to ${nextVersion}.`);
    version = nextVersion ?? version;
    hasCode = kind === "promotion" ? !hasCode : hasCode;
    record.answers.push({ write: next, first });
    record.done.push({ key: next.key, kind, cartId, variantId, version: nextVersion });
  }
}

/** Checks out a cart, pays, and waits for the decision. */
async function buy({ ask, shop, random }: ClientsPlan, record: ClientRecord, code?: string): Promise<void> {
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
  const submit = createSubmitWrite(shop, checkout, token);
  const isCanceled = random.chance(0.25);
  const submits = random.chance(0.3) ? [submit, createSubmitWrite(shop, checkout, token)] : [submit];
  const cancel = createCancelWrite(shop, checkout);
  const cancelLater = async (): Promise<HttpAnswer> => {
    await sleep(random.next() * thinkMsMax);
    return ask(cancel.request);
  };
  const [answers, canceled] = await Promise.all([
    Promise.all(submits.map(({ request }) => ask(request))),
    isCanceled ? cancelLater() : undefined,
  ]);
  const accepted = answers.filter((answer) => parseAnswer(answer).code === undefined);
  const isCancelDone = canceled !== undefined && parseAnswer(canceled).code === undefined;
  if (accepted.length > 0)
    record.submitted.push({ checkout, token, isContested: isCancelDone || code !== undefined });
  else if (!isCancelDone && code === undefined)
    record.violations.push(`The submission of ${checkout.sessionId} was refused: ${answers[0]?.text}`);
}

const decisionPollMs = 500;
const decisionMsMax = 120_000;

/** Waits until the submitted sessions are decided, and compares the decisions with the payment tokens. */
export async function awaitSimulatedDecisions(
  { ask, shop }: ClientsPlan,
  { submitted, violations }: ClientRecord,
): Promise<void> {
  const retrying = withRetries(ask);
  const until = performance.now() + decisionMsMax;
  for (const { checkout, token, isContested } of submitted) {
    let session = await readSession(retrying, shop, checkout.sessionId);
    while (session.status === "PROCESSING" && performance.now() < until) {
      await sleep(decisionPollMs);
      session = await readSession(retrying, shop, checkout.sessionId);
    }
    const expected = token === "tok_decline" ? "OPEN" : "COMPLETED";
    if (!isContested && session.status !== expected)
      violations.push(`${checkout.sessionId}, paid with ${token}, is ${session.status}.`);
  }
}

/** Repeats all answered writes once more, and compares the answers. */
export async function compareSimulatedReplays(
  { ask }: ClientsPlan,
  { answers, violations }: ClientRecord,
): Promise<void> {
  const retrying = withRetries(ask);
  for (const { write: repeated, first } of answers) {
    const replay = await retrying(repeated.request);
    if (replay.text !== first.text || replay.status !== first.status)
      violations.push(`The replay of ${repeated.key} differs: ${replay.text} instead of ${first.text}.`);
    if (!parseAnswer(replay).isReplay) violations.push(`A replay of ${repeated.key} had an effect.`);
  }
}
