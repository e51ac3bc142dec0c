/**
 * Tests guarantee 14. Generates requests from the OpenAPI document of the service: requests that must
 * succeed, random requests that the schemas allow, and requests that break one rule. Compares every answer
 * with the document, and every refusal with the broken rule. A refused request must not change rows.
 */
import fc from "fast-check";
import type { DemoJsonFileContent } from "#demo/demo-file.ts";
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
  readonly demo: DemoJsonFileContent;
  /** The seed of the random requests. */
  readonly seed: number;
  /** The number of requests of each kind for each operation in a round. */
  readonly perOperation: number;
  /**
   * The number of random invalid requests for each operation in a round. The first round also has a request
   * for each rule of the document.
   */
  readonly brokenPerOperation: number;
  /** Returns a digest of each table, except the tables that change without a successful write. */
  readonly rows: () => Promise<Rows>;
  /** Returns the headers of an access token with its DPoP proof. */
  readonly tokenFor: (sent: Pick<Sent, "method" | "url">) => Promise<Sent["headers"]>;
  readonly isOver: (counts: { readonly requests: number }) => boolean;
  readonly onStep?: (text: string) => void;
}

interface Counts {
  requests: number;
  /** The number of rules of the document that a request can break. */
  rules: number;
  broken: number;
  allowed: number;
  sound: number;
  done: number;
  stories: number;
}

interface Run {
  readonly plan: ContractPlan;
  /** The seed of this round. */
  seed: number;
  readonly market: Market;
  readonly counts: Counts;
  readonly violations: string[];
  /** Ids of operations with at least one answer with status 200. */
  readonly answered: Set<string>;
}

const atOnce = 8;

export async function runContract(plan: ContractPlan): Promise<Report> {
  const market = await loadContractData(plan);
  const run: Run = {
    plan,
    market,
    seed: plan.seed,
    counts: { requests: 0, rules: 0, broken: 0, allowed: 0, sound: 0, done: 0, stories: 0 },
    violations: [],
    answered: new Set(),
  };
  const { counts, violations } = run;
  const generatorsByRule = market.ground.operations.flatMap((operation) =>
    brokenRequests(market.ground, operation),
  );
  counts.rules = generatorsByRule.length;
  const generators = market.ground.operations.map((operation) => brokenRequest(market.ground, operation));
  let ruleRequests = sampled(run, generatorsByRule, 1);
  do {
    await sendBroken(run, [...ruleRequests, ...sampled(run, generators, plan.brokenPerOperation)]);
    ruleRequests = [];
    await sendAllowed(run);
    await sendSound(run);
    await sendStories(run);
    plan.onStep?.(
      `${plan.engine}: ${counts.requests} requests, ${violations.length} violations (seed ${run.seed})`,
    );
    run.seed += 1;
  } while (!plan.isOver(counts));
  const operationsWithoutSuccess = market.ground.operations.filter(({ id }) => !run.answered.has(id));
  const unansweredOperations = operationsWithoutSuccess.map(({ id }) => `${id} was never answered with 200.`);
  return {
    figure: "contract",
    engine: plan.engine,
    counts: { ...counts },
    violations: [...violations, ...unansweredOperations],
  };
}

/** Loads the OpenAPI document and the objects to which the generated requests refer. */
export async function loadContractData({ send, demo }: Pick<ContractPlan, "send" | "demo">): Promise<Market> {
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

const eventList = ({ keys }: DemoJsonFileContent): Sent => ({
  method: "GET",
  url: "/api/v1/open/webhooks/events",
  headers: [["Authorization", `Bearer ${keys.full}`]],
  body: null,
});

/** Sends requests that break one rule. The service must refuse them and must not change rows. */
async function sendBroken(run: Run, generators: readonly Generated[]): Promise<void> {
  const { plan, counts } = run;
  const before = await plan.rows();
  await inParallel(generators, async (generated) => {
    const answer = await sendAndCheck(run, generated);
    counts.broken += 1;
    const { refusal } = generated;
    if (refusal === null || answer === undefined) return;
    const error = errorOf(answer);
    const isFieldNamed =
      refusal.field === undefined || error?.details.some(({ field }) => field === refusal.field) === true;
    if (answer.status === refusal.status && refusal.codes.includes(error?.code ?? "") && isFieldNamed) return;
    const place = refusal.field === undefined ? "" : ` at ${refusal.field}`;
    const expected = `${refusal.status} ${refusal.codes.join(" or ")}${place}`;
    addViolation(
      run,
      generated,
      `expected ${expected}, and got ${answer.status} ${answer.text.slice(0, 400)}`,
    );
  });
  const after = await plan.rows();
  const changed = Object.keys({ ...before, ...after }).filter((table) => before[table] !== after[table]);
  if (changed.length > 0) run.violations.push(`Refused requests changed ${changed.join(", ")}.`);
}

/** Sends random requests that the schemas allow. Every documented answer is correct. */
async function sendAllowed(run: Run): Promise<void> {
  const { plan, market, counts } = run;
  const allowed = market.ground.operations.map((operation) => allowedRequest(market.ground, operation));
  const generators = sampled(run, allowed, plan.perOperation);
  await inParallel(generators, async (generated) => {
    const answer = await sendAndCheck(run, generated);
    counts.allowed += 1;
    if (answer === undefined) return;
    judgeAllowed(run, generated, answer);
    await putAway(market, generated.operation, answer);
  });
}

/** Checks the answer to a request that the schemas allow. Only known further rules may lead to 400. */
function judgeAllowed(run: Run, generated: Generated, answer: WireAnswer): void {
  const { operation } = generated;
  // The generated requests have no token; an operation that needs a token does not check their content.
  if (answer.status !== 400 || operation.needsToken) return;
  const details = errorOf(answer)?.details ?? [];
  const unknown = details.filter(
    ({ field, code }) => rulesBesideSchemas[operation.id]?.test(`${field} ${code}`) !== true,
  );
  if (details.length === 0 || unknown.length > 0)
    addViolation(run, generated, `is allowed by its schema, and got ${answer.text.slice(0, 400)}`);
}

async function sendSound(run: Run): Promise<void> {
  const { plan, market, counts, seed } = run;
  const slots = market.ground.operations.flatMap((operation) =>
    Array.from({ length: plan.perOperation }, (_, index) => ({ operation, index })),
  );
  await inParallel(slots, async ({ operation, index }) => {
    const subject = (await subjectOf(market, operation)) ?? {};
    const [generators] = fc.sample(soundRequest(market.ground, operation, subject), {
      numRuns: 1,
      seed: seed * 1000 + index,
    });
    if (generators === undefined) return;
    const generated = operation.needsToken ? await withToken(generators, plan) : generators;
    const answer = await sendAndCheck(run, generated);
    counts.sound += 1;
    if (answer !== undefined) await judgeSound(run, generated, answer);
  });
}

async function judgeSound(run: Run, generated: Generated, answer: WireAnswer): Promise<void> {
  const { operation } = generated;
  if (answer.status === 200) {
    run.counts.done += 1;
    if (operation.isIdempotent) await checkReplay(run, generated, answer);
    else await checkHead(run, generated);
    await putAway(run.market, operation, answer);
    return;
  }
  const isExpected = soundRefusals[operation.id]?.includes(errorOf(answer)?.code ?? "") === true;
  if (!isExpected)
    addViolation(run, generated, `must succeed, and got ${answer.status} ${answer.text.slice(0, 400)}`);
}

async function withToken(generated: Generated, { tokenFor }: ContractPlan): Promise<Generated> {
  const { sent } = generated;
  const others = sent.headers.filter(([name]) => name !== "Authorization");
  return { ...generated, sent: { ...sent, headers: [...(await tokenFor(sent)), ...others] } };
}

/** Repeats a request. The answer must have the same bytes and be marked as a replay. */
async function checkReplay(run: Run, generated: Generated, first: WireAnswer): Promise<void> {
  const again = await sendAndCheck(run, generated);
  if (again === undefined) return;
  if (first.headers["idempotent-replayed"] !== "false")
    addViolation(run, generated, "is marked as a replay at first");
  if (again.headers["idempotent-replayed"] !== "true" || again.text !== first.text)
    addViolation(run, generated, `has a different answer when repeated: ${again.status}`);
}

/** Repeats a request with the method HEAD. Skips requests with a token, whose DPoP proof names the method. */
async function checkHead(run: Run, generated: Generated): Promise<void> {
  if (generated.operation.needsToken) return;
  const headRequest = { ...generated, sent: { ...generated.sent, method: "HEAD" } };
  const head = await sendAndCheck(run, headRequest);
  if (head !== undefined && head.status !== 200) addViolation(run, headRequest, `is ${head.status} for HEAD`);
}

/** Sends long sequences of cart changes, and compares each cart with a model. */
async function sendStories(run: Run): Promise<void> {
  const { plan, market, counts, violations, seed } = run;
  const { operations } = market.ground;
  const send = async (operationId: string, sent: Sent): Promise<WireAnswer | undefined> => {
    const operation = operations.find(({ id }) => id === operationId);
    return operation && sendAndCheck(run, { operation, about: "in a sequence", sent, refusal: null });
  };
  await inParallel(fc.sample(stories, { numRuns: plan.perOperation, seed }), async (steps) => {
    const { id: cartId, version } = await openCart(market.ask, market.shop);
    const stage = { cartId, version, key: plan.demo.keys.full, codes: market.shop.codes, send };
    violations.push(...(await runCartStory(stage, steps)));
    counts.stories += 1;
  });
}

/** Sends a request and compares the answer with the document. Returns undefined if there was no answer. */
async function sendAndCheck(run: Run, generated: Generated): Promise<WireAnswer | undefined> {
  const { operation, sent } = generated;
  run.counts.requests += 1;
  let answer: WireAnswer;
  try {
    answer = await run.plan.send(sent);
  } catch (error) {
    addViolation(
      run,
      generated,
      `was not answered: ${error instanceof Error ? error.message : String(error)}`,
    );
    return undefined;
  }
  if (answer.status === 200) run.answered.add(operation.id);
  for (const fault of faultsOf(operation, sent, answer))
    addViolation(run, generated, `${fault} ${answer.status} ${answer.text.slice(0, 200)}`);
  return answer;
}

/** Records a violation with its seed. With this seed as PROPERTY_SEED, the same requests are sent. */
function addViolation({ violations, seed }: Run, { operation, about, sent }: Generated, fault: string): void {
  violations.push(`${operation.id} (${about}) ${fault} – ${shownOf(sent)} – seed ${seed}`);
}

/** Draws requests from each generator. Each generator gets its own seed, so that their values differ. */
const sampled = (
  { seed }: Run,
  generators: readonly fc.Arbitrary<Generated>[],
  numRuns: number,
): Generated[] =>
  generators.flatMap((arbitrary, index) => fc.sample(arbitrary, { numRuns, seed: seed * 1000 + index }));

async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const rest = items.values();
  const worker = async (): Promise<void> => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
