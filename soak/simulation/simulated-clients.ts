/**
 * The clients of the simulation. Writers change carts and stock, and compare each replay with the first
 * answer; two of them may change the same cart, and some use a key again for another request. Buyers check
 * out and pay (`simulated-buyers.ts`). A reader may follow the event feed (`simulated-feed-reader.ts`).
 */
import { setTimeout as sleep } from "node:timers/promises";
import { createSingleUseCode } from "#soak/checkout-shop.ts";
import { createWriteOfTurn, getCartVersionInAnswer } from "#soak/crash.ts";
import { withRetries } from "#soak/checkout-crash.ts";
import { createCartWrite, openCart, parseAnswer, type SendRequest, type Write } from "#soak/shop.ts";
import type { ClientRecord, ClientsPlan } from "./client-record.ts";
import { awaitDecision, buy } from "./simulated-buyers.ts";
import { findFeedFaults, followFeed } from "./simulated-feed-reader.ts";

export const createClientRecord = (): ClientRecord => ({
  done: [],
  carts: [],
  answers: [],
  sessionIds: [],
  decisions: [],
  feeds: [],
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
    ...(plan.random.chance(0.12) ? [run(() => shareCart(retrying, record))] : []),
    ...(plan.random.chance(0.3) ? [run(() => followFeed(retrying, record))] : []),
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
    if (random.chance(0.1)) await reuseKey(ask, next, record);
  }
}

/** Sends another request with the key of an answered write; the service must refuse it. */
async function reuseKey(
  ask: SendRequest,
  { key, request }: Write,
  { violations }: ClientRecord,
): Promise<void> {
  const body = request.body?.replace(/"(quantity|delta|expectedVersion)":(\d+)/, '"$1":1$2');
  const { code, text } = parseAnswer(await ask({ ...request, body }));
  if (code !== "idempotency_key_reused")
    violations.push(`Another request with the key ${key} was answered with ${code ?? text}.`);
}

const sharedWrites = 2;

/** Two clients add lines to one cart. Each names the version that it expects; the service must compare it. */
async function shareCart(plan: ClientsPlan, record: ClientRecord): Promise<void> {
  const { id: cartId, version: opened } = await openCart(plan.ask, plan.shop);
  record.carts.push(cartId);
  const addLines = async (variantId: string): Promise<void> => {
    let version = opened;
    for (let added = 0; added < sharedWrites;) {
      await sleep(plan.random.next() * thinkMsMax);
      const input = { lines: [{ variantId, quantity: 1 }], expectedVersion: version };
      const { key, request } = createCartWrite(plan.shop, { mutation: "cartLinesAdd", input, cartId });
      const { code, text } = parseAnswer(await plan.ask(request));
      if (code === "cart_version_conflict") {
        version = Number(/"currentVersion":(\d+)/.exec(text)?.[1]);
        continue;
      }
      const next = getCartVersionInAnswer(text);
      if (code !== undefined || next !== version + 1)
        record.violations.push(
          `A change of version ${version} of the cart ${cartId} was answered with ${text}.`,
        );
      if (code !== undefined) return;
      version = next;
      added += 1;
      record.done.push({ key, kind: "line", cartId, variantId, version });
    }
  };
  await Promise.all(plan.shop.variantIds.slice(0, 2).map(addLines));
}

/** Waits until the submitted sessions are decided, and compares the decisions with the expected ones. */
export async function awaitSimulatedDecisions(
  { ask, shop }: ClientsPlan,
  { decisions, violations }: ClientRecord,
): Promise<void> {
  const retrying = withRetries(ask);
  for (const { checkout, expected } of decisions) {
    const { status } = await awaitDecision({ ask: retrying, shop }, checkout);
    if (status !== expected) violations.push(`${checkout.sessionId} is ${status} instead of ${expected}.`);
  }
}

/** Repeats all answered writes once more, and compares the answers. Also compares the readers of the feed. */
export async function compareSimulatedReplays(
  { ask, shop }: ClientsPlan,
  { answers, feeds, violations }: ClientRecord,
): Promise<void> {
  const retrying = withRetries(ask);
  for (const read of feeds) violations.push(...(await findFeedFaults({ ask: retrying, shop }, read)));
  for (const { write: repeated, first } of answers) {
    const replay = await retrying(repeated.request);
    if (replay.text !== first.text || replay.status !== first.status)
      violations.push(`The replay of ${repeated.key} differs: ${replay.text} instead of ${first.text}.`);
    if (!parseAnswer(replay).isReplay) violations.push(`A replay of ${repeated.key} had an effect.`);
  }
}
