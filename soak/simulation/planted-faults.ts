/**
 * Deliberate faults of the service, which the simulation must find. Each fault is a change of the source text
 * that is made when a module is loaded, in a process of its own; the files are not changed.
 */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { type PlantedFault, plantedCommerceFaults } from "./planted-commerce-faults.ts";

const round = "src/webhooks/dispatch/round.ts";
const dialect = "src/database/transaction-dialect.ts";

export const plantedFaults: readonly PlantedFault[] = [
  ...plantedCommerceFaults,
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
  {
    name: "the answer is stored in a transaction of its own after the change",
    file: "src/database/idempotency.ts",
    changes: [
      [
        "    await writeRecord(transaction, keyring, { claim, recorded, hasExpiredRecord: record !== undefined });\n",
        "",
      ],
      [
        "    return await runInTransaction(db, runLocked, {",
        "    const made = await runInTransaction(db, runLocked, {",
      ],
      [
        "      merchantId: claim.merchantId ?? lockAndRead?.row.merchantId ?? null,\n    });\n",
        `      merchantId: claim.merchantId ?? lockAndRead?.row.merchantId ?? null,
    });
    if (!made.isReplay)
      await runInTransaction(db, (later) =>
        writeRecord(later, keyring, { claim, recorded: made.recorded, hasExpiredRecord: false }),
      );
    return made;
`,
      ],
    ],
  },
  {
    name: "the record of an idempotency key is read before the transaction",
    file: "src/database/idempotency.ts",
    changes: [
      ['    if (running.has(name)) throw createFailure("idempotency_in_progress");\n', ""],
      [
        "  let isCommitting = false;\n",
        `  let isCommitting = false;
  const early = await findRecord(db, keyring, claim);
  if (early !== undefined) return { recorded: early, isReplay: true };
`,
      ],
      ["if (record?.isKept === true) return", "if (false as boolean) return"],
      [
        "values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`",
        "values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict do nothing`",
      ],
    ],
  },
  {
    name: "events get their positions in the reverse order",
    file: "src/webhooks/dispatch/fan-out.ts",
    changes: [
      [
        "row_number() over (order by insert_number nulls first, id) as place",
        "row_number() over (order by id desc) as place",
      ],
    ],
  },
  {
    name: "a used idempotency key is not compared with the request",
    file: "src/database/idempotency.ts",
    changes: [
      [
        '  if (!fingerprint.equals(row.fingerprint)) throw createFailure("idempotency_key_reused");\n',
        "  void fingerprint;\n",
      ],
    ],
  },
  {
    name: "the cursor of a page of the event feed is read after its events",
    file: "src/webhooks/event-feed.ts",
    changes: [
      [
        "    cursor: await createCursor(reader, end.position),",
        "    cursor: await (end.hasMore ? createCursor(reader, end.position) : getEventFeedEndCursor(reader)),",
      ],
    ],
  },
  {
    name: "a started process does not search for deliveries of earlier processes",
    file: round,
    changes: [
      ["    activeEndpoints.markActive(await findEndpointsWithDueDeliveries(db, clock.now()));\n", ""],
    ],
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
