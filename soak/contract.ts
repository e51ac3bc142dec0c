/**
 * Figure 14. Requests made from the OpenAPI document that the service itself serves: such as must be
 * answered, such as it allows, and such as break one of its rules. Every answer is held against the document,
 * every refusal against the rule that was broken, and the rows against what may have changed.
 */
import fc from "fast-check";
import type { DemoFile } from "#demo/demo-file.ts";
import { stories, runCartStory } from "#test/contract/cart-story.ts";
import { errorOf, faultsOf, shownOf } from "#test/contract/checks.ts";
import { readOperations } from "#test/contract/document.ts";
import type { Ground } from "#test/contract/ground.ts";
import {
  allowedRequest,
  brokenRequest,
  brokenRequests,
  type Generated,
  soundRequest,
} from "#test/contract/requests.ts";
import {
  type Market,
  putAway,
  rulesBesideSchemas,
  soundRefusals,
  subjectOf,
} from "#test/contract/subjects.ts";
import { askOver, type WireAnswer, type Send, type Sent } from "#test/contract/wire.ts";
import type { Report } from "./report.ts";
import { openCart, openShop } from "./shop.ts";

type Rows = Readonly<Record<string, string>>;

export interface ContractPlan {
  readonly engine: Report["engine"];
  readonly send: Send;
  readonly demo: DemoFile;
  /** Another one makes other requests. */
  readonly seed: number;
  /** Of each operation and kind, in a round. */
  readonly perOperation: number;
  /** As many are drawn of each operation in a round, beside one for each rule of the document in the first. */
  readonly brokenPerOperation: number;
  /** Everything that the database holds but what reads leave. */
  readonly rows: () => Promise<Rows>;
  /** The headers of an access token with its proof. */
  readonly tokenFor: (sent: Pick<Sent, "method" | "url">) => Promise<Sent["headers"]>;
  readonly isOver: (counts: { readonly requests: number }) => boolean;
  readonly onStep?: (text: string) => void;
}

interface Counts {
  requests: number;
  /** Each way of being wrong, once. */
  rules: number;
  broken: number;
  allowed: number;
  sound: number;
  done: number;
  stories: number;
}

interface Run {
  readonly plan: ContractPlan;
  /** Of this round. */
  seed: number;
  readonly market: Market;
  readonly counts: Counts;
  readonly violations: string[];
  /** Of which operations a request was answered with 200. */
  readonly answered: Set<string>;
}

const atOnce = 8;

export async function runContract(plan: ContractPlan): Promise<Report> {
  const market = await openMarket(plan);
  const run: Run = {
    plan,
    market,
    seed: plan.seed,
    counts: { requests: 0, rules: 0, broken: 0, allowed: 0, sound: 0, done: 0, stories: 0 },
    violations: [],
    answered: new Set(),
  };
  const { counts, violations } = run;
  const every = market.ground.operations.flatMap((operation) => brokenRequests(market.ground, operation));
  counts.rules = every.length;
  const drawn = market.ground.operations.map((operation) => brokenRequest(market.ground, operation));
  let walked = sampled(run, every, 1);
  do {
    await sendBroken(run, [...walked, ...sampled(run, drawn, plan.brokenPerOperation)]);
    walked = [];
    await sendAllowed(run);
    await sendSound(run);
    await sendStories(run);
    plan.onStep?.(
      `${plan.engine}: ${counts.requests} requests, ${violations.length} violations (seed ${run.seed})`,
    );
    run.seed += 1;
  } while (!plan.isOver(counts));
  const silent = market.ground.operations.filter(({ id }) => !run.answered.has(id));
  const unheard = silent.map(({ id }) => `${id} was never answered with 200.`);
  return {
    figure: "contract",
    engine: plan.engine,
    counts: { ...counts },
    violations: [...violations, ...unheard],
  };
}

/** The document as the service serves it, and what requests are about. */
export async function openMarket({ send, demo }: Pick<ContractPlan, "send" | "demo">): Promise<Market> {
  const ask = askOver(send);
  const { json } = await send({ method: "GET", url: "/openapi.json", headers: [], body: null });
  const events = await send(eventList(demo));
  const { data } = events.json as {
    readonly data: { readonly eventTypes: readonly { readonly name: string }[] };
  };
  const ground: Ground = {
    demo,
    operations: readOperations(json),
    eventTypes: data.eventTypes.map(({ name }) => name),
  };
  return { ask, shop: await openShop(ask, demo), ground };
}

const eventList = ({ keys }: DemoFile): Sent => ({
  method: "GET",
  url: "/api/v1/open/webhooks/events",
  headers: [["Authorization", `Bearer ${keys.full}`]],
  body: null,
});

/** They are all refused, and nothing is left of any. */
async function sendBroken(run: Run, drawn: readonly Generated[]): Promise<void> {
  const { plan, counts } = run;
  const before = await plan.rows();
  await inParallel(drawn, async (generated) => {
    const heard = await sendAndCheck(run, generated);
    counts.broken += 1;
    const { refusal } = generated;
    if (refusal === null || heard === undefined) return;
    const error = errorOf(heard);
    const isSaid =
      refusal.field === undefined || error?.details.some(({ field }) => field === refusal.field) === true;
    if (heard.status === refusal.status && refusal.codes.includes(error?.code ?? "") && isSaid) return;
    const expected = `${refusal.status} ${refusal.codes.join(" or ")}${refusal.field === undefined ? "" : ` at ${refusal.field}`}`;
    addViolation(
      run,
      generated,
      `expected ${expected}, and heard ${heard.status} ${heard.text.slice(0, 400)}`,
    );
  });
  const after = await plan.rows();
  const changed = Object.keys({ ...before, ...after }).filter((table) => before[table] !== after[table]);
  if (changed.length > 0) run.violations.push(`Refused requests changed ${changed.join(", ")}.`);
}

/** They mean anything or nothing; only the document says what may come of them. */
async function sendAllowed(run: Run): Promise<void> {
  const { plan, market, counts } = run;
  const allowed = market.ground.operations.map((operation) => allowedRequest(market.ground, operation));
  const drawn = sampled(run, allowed, plan.perOperation);
  await inParallel(drawn, async (generated) => {
    const heard = await sendAndCheck(run, generated);
    counts.allowed += 1;
    if (heard === undefined) return;
    judgeAllowed(run, generated, heard);
    await putAway(market, generated.operation, heard);
  });
}

/** A client that keeps to the schemas is refused by no rule of form but those that are known. */
function judgeAllowed(run: Run, generated: Generated, heard: WireAnswer): void {
  const { operation } = generated;
  // A token is asked for before anything else is.
  if (heard.status !== 400 || operation.needsToken) return;
  const details = errorOf(heard)?.details ?? [];
  const unknown = details.filter(
    ({ field, code }) => rulesBesideSchemas[operation.id]?.test(`${field} ${code}`) !== true,
  );
  if (details.length === 0 || unknown.length > 0)
    addViolation(run, generated, `is allowed by its schema, and heard ${heard.text.slice(0, 400)}`);
}

async function sendSound(run: Run): Promise<void> {
  const { plan, market, counts, seed } = run;
  const places = market.ground.operations.flatMap((operation) =>
    Array.from({ length: plan.perOperation }, (_, index) => ({ operation, index })),
  );
  await inParallel(places, async ({ operation, index }) => {
    const subject = (await subjectOf(market, operation)) ?? {};
    const [drawn] = fc.sample(soundRequest(market.ground, operation, subject), {
      numRuns: 1,
      seed: seed * 1000 + index,
    });
    if (drawn === undefined) return;
    const generated = operation.needsToken ? await withToken(drawn, plan) : drawn;
    const heard = await sendAndCheck(run, generated);
    counts.sound += 1;
    if (heard !== undefined) await judgeSound(run, generated, heard);
  });
}

async function judgeSound(run: Run, generated: Generated, heard: WireAnswer): Promise<void> {
  const { operation } = generated;
  if (heard.status === 200) {
    run.counts.done += 1;
    if (operation.isIdempotent) await checkReplay(run, generated, heard);
    else await checkHead(run, generated);
    await putAway(run.market, operation, heard);
    return;
  }
  const isFine = soundRefusals[operation.id]?.includes(errorOf(heard)?.code ?? "") === true;
  if (!isFine)
    addViolation(run, generated, `must succeed, and heard ${heard.status} ${heard.text.slice(0, 400)}`);
}

async function withToken(generated: Generated, { tokenFor }: ContractPlan): Promise<Generated> {
  const { sent } = generated;
  const others = sent.headers.filter(([name]) => name !== "Authorization");
  return { ...generated, sent: { ...sent, headers: [...(await tokenFor(sent)), ...others] } };
}

/** The same bytes come back, and say so. */
async function checkReplay(run: Run, generated: Generated, first: WireAnswer): Promise<void> {
  const again = await sendAndCheck(run, generated);
  if (again === undefined) return;
  if (first.headers["idempotent-replayed"] !== "false")
    addViolation(run, generated, "says that it was done before");
  if (again.headers["idempotent-replayed"] !== "true" || again.text !== first.text)
    addViolation(run, generated, `is another when repeated: ${again.status}`);
}

/** HEAD is GET without the body; a proof is of one method. */
async function checkHead(run: Run, generated: Generated): Promise<void> {
  if (generated.operation.needsToken) return;
  const asked = { ...generated, sent: { ...generated.sent, method: "HEAD" } };
  const head = await sendAndCheck(run, asked);
  if (head !== undefined && head.status !== 200) addViolation(run, asked, `is ${head.status} for HEAD`);
}

/** Carts that are changed again and again, each beside a model of it. */
async function sendStories(run: Run): Promise<void> {
  const { plan, market, counts, violations, seed } = run;
  const { operations } = market.ground;
  const send = async (operationId: string, sent: Sent): Promise<WireAnswer | undefined> => {
    const operation = operations.find(({ id }) => id === operationId);
    return operation && sendAndCheck(run, { operation, about: "in a story", sent, refusal: null });
  };
  await inParallel(fc.sample(stories, { numRuns: plan.perOperation, seed }), async (steps) => {
    const { id: cartId, version } = await openCart(market.ask, market.shop);
    const stage = { cartId, version, key: plan.demo.keys.full, codes: market.shop.codes, tell: send };
    violations.push(...(await runCartStory(stage, steps)));
    counts.stories += 1;
  });
}

/** Sends it, and holds the answer against the document. Undefined: there was none. */
async function sendAndCheck(run: Run, generated: Generated): Promise<WireAnswer | undefined> {
  const { operation, sent } = generated;
  run.counts.requests += 1;
  let heard: WireAnswer;
  try {
    heard = await run.plan.send(sent);
  } catch (error) {
    addViolation(
      run,
      generated,
      `was not answered: ${error instanceof Error ? error.message : String(error)}`,
    );
    return undefined;
  }
  if (heard.status === 200) run.answered.add(operation.id);
  for (const fault of faultsOf(operation, sent, heard))
    addViolation(run, generated, `${fault} ${heard.status} ${heard.text.slice(0, 200)}`);
  return heard;
}

/** With the seed of its round: as PROPERTY_SEED it makes the same requests. */
function addViolation({ violations, seed }: Run, { operation, about, sent }: Generated, fault: string): void {
  violations.push(`${operation.id} (${about}) ${fault} – ${shownOf(sent)} – seed ${seed}`);
}

/** So many of each. With one seed for all, all would draw alike. */
const sampled = ({ seed }: Run, drawn: readonly fc.Arbitrary<Generated>[], numRuns: number): Generated[] =>
  drawn.flatMap((arbitrary, index) => fc.sample(arbitrary, { numRuns, seed: seed * 1000 + index }));

async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const rest = items.values();
  const worker = async (): Promise<void> => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
