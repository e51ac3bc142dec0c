/**
 * The command `webhook replay`: repeats webhook deliveries that did not succeed, by the same rules as the
 * GraphQL mutations. The command only queues the deliveries; a running service sends them.
 */
import { createInProcessEventEmitter } from "#foundation/events.ts";
import { Command, Option } from "commander";
import { appendAuditEntries, type NewAuditEntry, commandLineActor } from "#access/audit.ts";
import type { Database } from "#database/connect.ts";
import { runInTransaction, type Transaction } from "#database/transaction.ts";
import { type BulkReplayResult, replayDeliveries } from "#webhooks/replay-deliveries.ts";
import type { BulkReplayDeliveriesInput, FailedDeliveryStatus } from "#webhooks/replay-selection.ts";
import { replayDelivery, type DeliveryReplayCommandContext } from "#webhooks/replay-delivery.ts";
import type { DeliveryReplayReason } from "#webhooks/delivery-rules.ts";
import { printCommandResult } from "./output.ts";
import { parseTimeOption, runFunctionWithMigratedDatabase } from "./command.ts";

interface ReplayOptions {
  readonly delivery?: string;
  readonly endpoint?: string;
  readonly installation?: string;
  readonly since?: Date;
  readonly until?: Date;
  readonly status: FailedDeliveryStatus;
  readonly reason: DeliveryReplayReason;
  readonly note?: string;
  readonly to?: string;
  readonly force?: boolean;
  readonly json?: boolean;
}

const reasons: readonly DeliveryReplayReason[] = ["receiver_outage", "receiver_bug", "testing", "other"];
const dayMs = 86_400_000;

export function createWebhookCommand(): Command {
  return new Command("webhook").description("Replays webhook deliveries.").addCommand(
    new Command("replay")
      .description(
        "Repeats webhook deliveries: one delivery, or all of an endpoint or installation that ended with " +
          "the same status within a period.",
      )
      .option("--delivery <id>", "id of a single delivery, whd_…")
      .option("--endpoint <id>", "id of the endpoint whose deliveries are repeated, whe_…")
      .option("--installation <id>", "id of the installation whose deliveries are repeated, ins_…")
      .option(
        "--since <time>",
        "only events at this time or later (RFC 3339); by default, one day before --until",
        parseTimeOption,
      )
      .option("--until <time>", "only events before this time (RFC 3339); by default, now", parseTimeOption)
      .addOption(
        new Option("--status <status>", "only deliveries that ended with this status")
          .choices(["exhausted", "skipped", "canceled"])
          .default("exhausted"),
      )
      .addOption(
        new Option("--reason <reason>", "reason for the replay, for the audit log")
          .choices(reasons)
          .default("other"),
      )
      .option("--note <text>", "a note that is stored with the replay")
      .option("--to <id>", "id of another endpoint of the installation that receives the deliveries, whe_…")
      .option("--force", "with --delivery: repeat the delivery even if it succeeded")
      .option("--json", "print the result as JSON")
      .exitOverride()
      .action(replay),
  );
}

async function replay(options: ReplayOptions): Promise<void> {
  await runFunctionWithMigratedDatabase(async ({ db }) => {
    const context: DeliveryReplayCommandContext = {
      merchantId: null,
      installationId: null,
      now: new Date(),
      events: createInProcessEventEmitter(),
    };
    printCommandResult(
      options.delivery === undefined
        ? await replayAll(db, context, options)
        : await replayOne(db, context, options),
      options.json === true,
    );
  });
}

async function replayOne(
  db: Database,
  context: DeliveryReplayCommandContext,
  { delivery = "", reason, note, to, force }: ReplayOptions,
): Promise<Readonly<Record<string, unknown>>> {
  const input = { deliveryId: delivery, reason, note, endpointId: to, force };
  const { deliveryId, original } = await runInTransaction(db, async (transaction) => {
    const replayed = await replayDelivery(transaction, context, input);
    await record(transaction, context, {
      action: "webhookDeliveryReplay",
      targetId: delivery,
      details: { replayId: replayed.deliveryId, reason },
    });
    return replayed;
  });
  return { id: deliveryId, replayOf: original.id };
}

/** Queues the matching webhook deliveries once more, in batches. Each batch is a transaction of its own. */
async function replayAll(
  db: Database,
  context: DeliveryReplayCommandContext,
  options: ReplayOptions,
): Promise<Readonly<Record<string, unknown>>> {
  const { endpoint, installation, status, reason, note, to } = options;
  const until = options.until ?? new Date(context.now.getTime() + 1);
  const since = options.since ?? new Date(until.getTime() - dayMs);
  const skipped: Record<string, number> = {};
  let replayed = 0;
  let after: string | null = null;
  for (let hasMore = true; hasMore;) {
    const input: BulkReplayDeliveriesInput = {
      endpointId: endpoint,
      installationId: installation,
      since,
      until,
      status,
      reason,
      note,
      toEndpointId: to,
      after,
    };
    const page: BulkReplayResult = await runInTransaction(db, async (transaction) => {
      const done = await replayDeliveries(transaction, context, input);
      const details = { replayed: done.replayed, reason };
      await record(transaction, context, {
        action: "webhookDeliveriesReplay",
        targetId: endpoint ?? installation ?? null,
        details,
      });
      return done;
    });
    replayed += page.replayed;
    for (const { reason: skipReason, count } of page.passedOver)
      skipped[skipReason] = (skipped[skipReason] ?? 0) + count;
    ({ hasMore, endCursor: after } = page);
  }
  return { replayed, skipped };
}

const record = (
  transaction: Transaction,
  { now }: DeliveryReplayCommandContext,
  entry: Pick<NewAuditEntry, "action" | "targetId" | "details">,
): Promise<void> =>
  appendAuditEntries(transaction, { ...commandLineActor, merchantId: null, now, requestId: null, ...entry });
