/**
 * Generates histories of operations that were executed one after the other, on lists, on registers with
 * numbered values and on registers without. The operations overlap in time, as those of concurrent clients
 * do: each happens at one moment between its request and its answer.
 */
import fc from "fast-check";
import { type HistoryOperation, type HistoryStep, unwritten } from "#soak/serializability/history.ts";

const objectKinds = ["list", "numbered", "register"] as const;

interface PlannedStep {
  readonly kind: (typeof objectKinds)[number];
  readonly object: number;
  readonly isWrite: boolean;
}

interface PlannedOperation {
  readonly steps: readonly PlannedStep[];
  readonly outcome: HistoryOperation["outcome"];
  /** True if an operation with an unknown outcome happened. */
  readonly hasHappened: boolean;
  readonly beforeMs: number;
  readonly afterMs: number;
}

const plannedStep: fc.Arbitrary<PlannedStep> = fc.record({
  kind: fc.constantFrom(...objectKinds),
  object: fc.integer({ min: 0, max: 2 }),
  isWrite: fc.boolean(),
});

const plannedOperation: fc.Arbitrary<PlannedOperation> = fc.record({
  steps: fc.array(plannedStep, { minLength: 1, maxLength: 5 }),
  outcome: fc.constantFrom("done", "done", "done", "done", "failed", "unknown"),
  hasHappened: fc.boolean(),
  beforeMs: fc.integer({ min: 0, max: 50 }),
  afterMs: fc.integer({ min: 0, max: 50 }),
});

export const serialHistory = (sizeMax = 60): fc.Arbitrary<HistoryOperation[]> =>
  fc.array(plannedOperation, { maxLength: sizeMax }).map(executeSerially);

/** The state of all objects: the values of each list, and all values of each register. */
type State = Map<string, string[]>;

/** Milliseconds between the moments at which two operations happen. */
const betweenMs = 10;

export function executeSerially(planned: readonly PlannedOperation[]): HistoryOperation[] {
  let state: State = new Map();
  /** When each client is free. */
  const freeAt: number[] = [];
  return planned.map((plan, index) => {
    const momentMs = index * betweenMs;
    const after = new Map([...state].map(([object, values]) => [object, [...values]]));
    const steps = plan.steps.map((step, number) => executeStep(after, step, `${index}.${number}`));
    const { outcome } = plan;
    if (outcome === "done" || (outcome === "unknown" && plan.hasHappened)) state = after;
    const free = freeAt.findIndex((time) => time < momentMs);
    const client = free === -1 ? freeAt.length : free;
    const startedAt = Math.max(momentMs - plan.beforeMs, (freeAt[client] ?? -100) + 1);
    const endedAt = momentMs + plan.afterMs;
    freeAt[client] = outcome === "unknown" ? Infinity : endedAt;
    const seen =
      outcome === "done" ? steps : steps.filter(({ kind }) => kind === "append" || kind === "write");
    return { name: "generated", client, startedAt, endedAt, outcome, steps: seen.map(hideVersion(outcome)) };
  });
}

function executeStep(
  state: State,
  { kind, object: number, isWrite }: PlannedStep,
  value: string,
): HistoryStep {
  const object = `${kind} ${number}`;
  const values = state.get(object) ?? [];
  state.set(object, values);
  if (isWrite) values.push(value);
  const version = values.length;
  if (kind === "list")
    return isWrite ? { kind: "append", object, value } : { kind: "readList", object, values: [...values] };
  const numbered = kind === "numbered" ? { version } : {};
  return isWrite
    ? { kind: "write", object, value, ...numbered }
    : { kind: "read", object, value: values.at(-1) ?? unwritten, ...numbered };
}

/** A client without an answer does not know the version that its write has got. */
const hideVersion =
  (outcome: HistoryOperation["outcome"]) =>
  (step: HistoryStep): HistoryStep =>
    outcome === "done" || step.kind !== "write"
      ? step
      : { kind: "write", object: step.object, value: step.value };
