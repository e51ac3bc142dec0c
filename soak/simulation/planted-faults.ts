/**
 * Deliberate faults of the service, which the simulation must find. Each fault is a change of the source text
 * that is made when a module is loaded, in a process of its own; the files are not changed.
 */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

export interface PlantedFault {
  readonly name: string;
  /** The path of the changed file, from the project's folder. */
  readonly file: string;
  /** The replaced texts, each of which occurs in the file, and their replacements. */
  readonly changes: readonly (readonly [text: string, replacement: string])[];
}

const round = "src/webhooks/dispatch/round.ts";
const execute = "src/commerce/payments/execute-payment-operation.ts";
const dialect = "src/database/transaction-dialect.ts";

export const plantedFaults: readonly PlantedFault[] = [
  {
    name: "the answer is not stored under its idempotency key",
    file: "src/database/idempotency.ts",
    changes: [
      [
        "await bufferWriteUntilNextStatement(transaction, { query: CompiledQuery.raw(writeText, row), tables });",
        "void row;",
      ],
    ],
  },
  {
    name: "a commit without an answer counts as a success",
    file: "src/database/idempotency.ts",
    changes: [
      [
        "let isCommitting = false;",
        "let isCommitting = false; let last: StoredIdempotentAnswer | undefined;",
      ],
      ["    isCommitting = true;\n", "    isCommitting = true; last = recorded;\n"],
      [
        'throw createFailure("service_unavailable", { cause: error, retryAfterSeconds: 2 });',
        "return { recorded: last!, isReplay: false };",
      ],
    ],
  },
  {
    name: "a delivery is marked as done before it is sent",
    file: round,
    changes: [
      [
        "    const result = await observeAttempt(",
        `    await successes.record({ delivery, startedAt, result: { httpStatus: 204, errorCode: null,
          durationMs: 1, retryAfterSeconds: null } });
    const result = await observeAttempt(`,
      ],
    ],
  },
  {
    name: "a failed delivery is recorded as a success",
    file: round,
    changes: [
      [
        "{ delivery, startedAt, result });",
        "{ delivery, startedAt, result: { ...result, httpStatus: 204, errorCode: null } });",
      ],
    ],
  },
  {
    name: "the body of a repeated delivery is written anew",
    file: "src/webhooks/dispatch/deliver.ts",
    changes: [
      [
        "  const { url, body, mode } = delivery;",
        `  delivery = { ...delivery,
    body: JSON.stringify({ ...JSON.parse(delivery.body), attempt: delivery.attemptNumber }) };
  const { url, body, mode } = delivery;`,
      ],
    ],
  },
  {
    name: "each attempt of a delivery has a webhook-id of its own",
    file: "src/webhooks/dispatch/deliver.ts",
    changes: [['"webhook-id": eventId,', '"webhook-id": `${eventId}.${attemptNumber}`,']],
  },
  {
    name: "the lease of a killed process on a delivery never ends",
    file: "src/webhooks/dispatch/claim-deliveries.ts",
    changes: [
      [
        "and d.next_attempt_at <= ${at}\n          and (r.is_active",
        "and d.next_attempt_at <= ${at} and d.status <> 'sending'\n          and (r.is_active",
      ],
    ],
  },
  {
    name: "only notices start a search for deliveries",
    file: "src/webhooks/dispatch/dispatcher.ts",
    changes: [["      poll.start();\n", ""]],
  },
  {
    name: "the lease of a killed process on a payment operation never ends",
    file: "src/commerce/payments/payment-operations.ts",
    changes: [
      [
        "(d.leased_until is null\n        or d.leased_until <= ${now}::timestamptz)",
        "d.leased_until is null",
      ],
    ],
  },
  {
    name: "only notices start a search for payment operations",
    file: "src/commerce/payments/driver.ts",
    changes: [["      poll.start();\n", ""]],
  },
  {
    name: "a lost answer of the payment provider counts as a refusal",
    file: execute,
    changes: [
      [
        "return { outcome: endsWithTimeout ? timedOut : undefined, error };",
        'void endsWithTimeout; return { outcome: { outcome: "declined", code: "other" }, error };',
      ],
    ],
  },
  {
    name: "a repeated authorization has a new key and asks for no state before",
    file: execute,
    changes: [
      ["if (operation.attempts > 1 || hasTimedOut) {", "if (hasTimedOut) {"],
      ["idempotencyKey: id,", "idempotencyKey: `${id}.${operation.attempts}`,"],
    ],
  },
  {
    name: "a canceled checkout keeps its stock",
    file: "src/commerce/checkout/end-session.ts",
    changes: [["  await releaseStockHolds(transaction, owner, { sessionId });\n", ""]],
  },
  {
    name: "a transaction commits before its buffered writes",
    file: dialect,
    changes: [["[...writes, () => commit(connection)]", "[() => commit(connection), ...writes]"]],
  },
  {
    name: "a failed transaction is not rolled back",
    file: dialect,
    changes: [["    return rollback(connection);", "    void rollback; return Promise.resolve();"]],
  },
  {
    name: "an error of a statement that was sent with others is ignored",
    file: dialect,
    changes: [
      [
        'if (result.status === "rejected") throw result.reason;\n    return result.value;',
        'return (result.status === "rejected" ? { rows: [] } : result.value) as Result;',
      ],
    ],
  },
  {
    name: "a delivery that failed once is given up",
    file: "src/webhooks/dispatch/record-attempt.ts",
    changes: [
      [
        `  const { numUpdatedRows } = await transaction
    .updateTable("webhookDelivery")
    .set({ ...next, lease: null })`,
        `  const { numUpdatedRows } = await transaction
    .updateTable("webhookDelivery")
    .set({ ...next, status: "exhausted", nextAttemptAt: null, finishedAt: now, lease: null })`,
      ],
    ],
  },
  {
    name: "the deliveries of events are created in a transaction of their own",
    file: "src/webhooks/dispatch/fan-out.ts",
    changes: [
      [
        "endpointIds: await insertDeliveries(transaction, { matches, now }) };\n  });",
        `endpointIds: [], matches };
  }).then(async ({ matches = [], ...result }) => ({
    ...result,
    endpointIds: await runInTransaction(db, (after) => insertDeliveries(after, { matches, now })),
  }));`,
      ],
    ],
  },
  {
    name: "webhooks stop after an error of the database",
    file: "src/webhooks/dispatch/passes.ts",
    changes: [["if (state.isFaulty) requestIn(faultPauseMs);", "if (state.isFaulty) return;"]],
  },
];

const projectFolder = fileURLToPath(new URL("../../", import.meta.url));

/** Makes Node load the changed source text of the fault from now on. */
export function plantFault(name: string): void {
  const fault = plantedFaults.find((known) => known.name === name);
  if (fault === undefined) throw new Error(`There is no planted fault "${name}".`);
  const path = `${projectFolder}${fault.file}`;
  const source = changeText(fault, readFileSync(path, "utf8"));
  registerHooks({
    load: (url, context, nextLoad) => {
      const loaded = nextLoad(url, context);
      return url === `file://${path}` ? { ...loaded, source } : loaded;
    },
  });
}

/** Returns the source text with the fault. Throws if a replaced text no longer occurs exactly once. */
export function changeText({ name, changes }: PlantedFault, text: string): string {
  return changes.reduce((changed, [found, replacement]) => {
    if (changed.split(found).length !== 2)
      throw new Error(`The fault "${name}" does not fit: "${found.trim().slice(0, 60)}" must occur once.`);
    return changed.replace(found, () => replacement);
  }, text);
}
