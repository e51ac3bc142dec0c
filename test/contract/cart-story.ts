/**
 * A sequence of changes to one buyer's cart over REST, beside a model of the cart. The model predicts which
 * changes are allowed, and the cart must equal the model after each.
 */
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { errorOf } from "./checks.ts";
import type { WireAnswer, Sent } from "./wire.ts";

const kinds = ["apply", "apply", "remove", "address", "revoke", "again", "reuse"] as const;

export interface Step {
  readonly kind: (typeof kinds)[number];
  /** The version that the caller claims to have seen. */
  readonly seen: "current" | "stale" | "ahead" | "none";
  /** Two codes of the shop; the third is unknown. */
  readonly code: 0 | 1 | 2;
  readonly onExisting: "replace" | "reject";
}

export const stories: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(...kinds),
    seen: fc.constantFrom("current", "current", "current", "stale", "ahead", "none"),
    code: fc.constantFrom<0 | 1 | 2>(0, 0, 1, 2),
    onExisting: fc.constantFrom("replace", "replace", "reject"),
  }),
  { minLength: 3, maxLength: 8, size: "max" },
);

export interface Stage {
  readonly cartId: string;
  readonly version: number;
  readonly key: string;
  readonly codes: readonly string[];
  /** Sends a request to the operation. */
  readonly send: (operationId: string, sent: Sent) => Promise<WireAnswer | undefined>;
}

interface Model {
  version: number;
  isRevoked: boolean;
  code: string | null;
  /** The last change that succeeded. */
  last: { readonly operationId: string; readonly sent: Sent; readonly text: string } | null;
}

interface Planned {
  readonly operationId: string;
  readonly sent: Sent;
  /** The expected outcome. `done`: 200, and `next` is the cart's new model. */
  readonly outcome: string;
  readonly next?: Partial<Model>;
}

const address = {
  recipientName: "Anna Beispiel",
  line1: "Musterweg 1",
  postalCode: "10115",
  city: "Berlin",
  countryCode: "DE",
};

/** Runs the steps and returns the differences from the model. */
export async function runCartStory(stage: Stage, steps: readonly Step[]): Promise<string[]> {
  const model: Model = { version: stage.version, isRevoked: false, code: null, last: null };
  const faults: string[] = [];
  for (const step of steps) {
    const planned = plan(stage, model, step);
    if (planned === null) continue;
    const { operationId, sent, outcome, next } = planned;
    const answer = await stage.send(operationId, sent);
    if (answer === undefined) return [...faults, `${step.kind} was not answered.`];
    faults.push(...differences(model, { step, planned, answer }));
    if (outcome === "done" && answer.status === 200)
      Object.assign(model, next, { last: { operationId, sent, text: answer.text } });
    faults.push(...(await readingFaults(stage, model, step)));
    if (faults.length > 0) break;
  }
  return faults.map((fault) => `${fault} – ${JSON.stringify(steps)}`);
}

function differences(
  model: Model,
  { step, planned, answer }: { step: Step; planned: Planned; answer: WireAnswer },
): string[] {
  const outcomeCode = answer.status === 200 ? "done" : (errorOf(answer)?.code ?? "nothing");
  const isReplay = answer.headers["idempotent-replayed"] === "true";
  if (step.kind === "again")
    return outcomeCode === "done" && isReplay && answer.text === model.last?.text
      ? []
      : [`A repetition was answered with ${outcomeCode}.`];
  return [
    ...(outcomeCode === planned.outcome
      ? []
      : [`${step.kind} was answered with ${outcomeCode} instead of ${planned.outcome}.`]),
    ...(isReplay ? [`${step.kind} was not done before.`] : []),
  ];
}

async function readingFaults({ send, cartId, key }: Stage, model: Model, { kind }: Step): Promise<string[]> {
  const url = `/api/v1/open/storefront/carts/${cartId}`;
  const answer = await send("getPublicCart", {
    method: "GET",
    url,
    headers: [["Authorization", `Bearer ${key}`]],
    body: null,
  });
  if (answer?.status !== 200) return [`After ${kind} the cart does not read.`];
  const { data } = answer.json as { readonly data: CartRead };
  const shown = wordsOf({
    ...data,
    code: data.promotion.promotion?.code ?? null,
    tag: answer.headers["etag"],
  });
  const wanted = wordsOf({
    ...model,
    status: model.isRevoked ? "revoked" : "active",
    tag: `"v${model.version}"`,
  });
  return shown === wanted ? [] : [`After ${kind} the cart reads ${shown} instead of ${wanted}.`];
}

type Read = Pick<Model, "version" | "code"> & { readonly status: string; readonly tag: string | undefined };

const wordsOf = ({ version, status, code, tag }: Read): string =>
  `${status} at ${version} (${tag}) with ${code?.toUpperCase() ?? "no code"}`;

interface CartRead {
  readonly version: number;
  readonly status: string;
  readonly promotion: { readonly promotion: { readonly code: string } | null };
}

/** Plans a step; null if the cart lacks what the step changes. */
function plan(stage: Stage, model: Model, step: Step): Planned | null {
  const { kind } = step;
  if (kind === "again" || kind === "reuse") return model.last && planAgain(model.last, kind);
  const [operationId, method, path] = places[kind];
  const body = { ...seenBy(model, step), ...bodies[kind](stage, step) };
  const sent = write(stage, { method, path, body });
  if (model.isRevoked) return { operationId, sent, outcome: "cart_revoked" };
  if (step.seen === "stale" || step.seen === "ahead")
    return { operationId, sent, outcome: "cart_version_conflict" };
  return { operationId, sent, ...outcomes[kind](stage, model, step) };
}

function planAgain({ operationId, sent }: NonNullable<Model["last"]>, kind: "again" | "reuse"): Planned {
  if (kind === "again") return { operationId, sent, outcome: "done", next: {} };
  return { operationId, sent: bent(sent), outcome: "idempotency_key_reused" };
}

/** The version arguments: required for removals, optional for other changes. */
function seenBy({ version }: Model, { kind, seen }: Step): object {
  if (seen === "none" && (kind === "apply" || kind === "address")) return {};
  if (seen === "current" || seen === "none") return { expectedVersion: version };
  return { expectedVersion: seen === "stale" && version > 1 ? version - 1 : version + 1 };
}

const bodies: Readonly<Record<keyof typeof places, (stage: Stage, step: Step) => object>> = {
  apply: (stage, step) => ({ code: codeOf(stage, step), onExisting: step.onExisting }),
  remove: () => ({}),
  address: () => ({ address }),
  revoke: () => ({}),
};

const places = {
  apply: ["applyPublicCartPromotion", "PUT", "/promotion"],
  remove: ["removePublicCartPromotion", "DELETE", "/promotion"],
  address: ["setPublicCartAddress", "PUT", "/address"],
  revoke: ["revokePublicCart", "POST", "/revoke"],
} as const;

type Outcome = Pick<Planned, "outcome" | "next">;

const raised = ({ version }: Model, more: Partial<Model> = {}): Outcome => ({
  outcome: "done",
  next: { version: version + 1, ...more },
});

const outcomes: Readonly<Record<keyof typeof places, (stage: Stage, model: Model, step: Step) => Outcome>> = {
  apply: (stage, model, step) => {
    const code = codeOf(stage, step);
    if (model.code === code) return { outcome: "done", next: {} };
    if (model.code !== null && step.onExisting === "reject") return { outcome: "promotion_already_applied" };
    if (step.code === 2) return { outcome: "promotion_code_not_found" };
    return raised(model, { code });
  },
  remove: (_stage, model) =>
    model.code === null ? { outcome: "promotion_not_present" } : raised(model, { code: null }),
  address: (_stage, model) => raised(model),
  revoke: (_stage, model) => raised(model, { isRevoked: true }),
};

const codeOf = ({ codes }: Stage, { code }: Step): string => codes[code] ?? "NOBODYS";

function write(
  { cartId, key }: Stage,
  { method, path, body }: { readonly method: string; readonly path: string; readonly body: object },
): Sent {
  return {
    method,
    url: `/api/v1/open/storefront/carts/${cartId}${path}`,
    headers: [
      ["Authorization", `Bearer ${key}`],
      ["Idempotency-Key", randomUUID()],
      ["Content-Type", "application/json"],
    ],
    body: Buffer.from(JSON.stringify(body)),
  };
}

/** The same idempotency key with another body. */
const bent = (sent: Sent): Sent => ({
  ...sent,
  body: Buffer.from(
    JSON.stringify({
      ...(JSON.parse(sent.body?.toString() ?? "{}") as object),
      expectedVersion: 2 ** 31 - 1,
    }),
  ),
});
