/**
 * `webhook replay`: sends what did not arrive once more, by the same rules as the graph's mutations. A
 * service that runs sends it.
 */
import { createServiceEvents } from "#foundation/events.ts";
import { Command, Option } from "commander";
import { appendAuditEntries, type AuditEntry, commandLineActor } from "#access/audit.ts";
import type { Database } from "#database/connect.ts";
import { inTransaction, type Transaction } from "#database/transaction.ts";
import {
  type BulkReplayed,
  type BulkReplayInput,
  type LostStatus,
  replayDeliveries,
} from "#webhooks/replay-deliveries.ts";
import { replayDelivery, type ReplayTenant } from "#webhooks/replay-delivery.ts";
import type { ReplayReason } from "#webhooks/delivery-rules.ts";
import { printResult } from "./output.ts";
import { parseTimeOption, withDatabase } from "./command.ts";

interface Given {
  readonly delivery?: string;
  readonly endpoint?: string;
  readonly installation?: string;
  readonly since?: Date;
  readonly until?: Date;
  readonly status: LostStatus;
  readonly reason: ReplayReason;
  readonly note?: string;
  readonly to?: string;
  readonly force?: boolean;
  readonly json?: boolean;
}

const reasons: readonly ReplayReason[] = ["receiver_outage", "receiver_bug", "testing", "other"];
const dayMs = 86_400_000;

export function webhookCommand(): Command {
  return new Command("webhook").description("Webhooks.").addCommand(
    new Command("replay")
      .description(
        "Sends deliveries once more: one, or all of an endpoint or installation that ended alike in a window of time.",
      )
      .option("--delivery <id>", "one delivery, whd_…")
      .option("--endpoint <id>", "those of this endpoint, whe_…")
      .option("--installation <id>", "those of this installation, ins_…")
      .option("--since <time>", "of events from then on, RFC 3339; a day ago unless told", parseTimeOption)
      .option("--until <time>", "of events before then; now unless told", parseTimeOption)
      .addOption(
        new Option("--status <status>", "those that ended like this")
          .choices(["exhausted", "skipped", "canceled"])
          .default("exhausted"),
      )
      .addOption(new Option("--reason <reason>", "why").choices(reasons).default("other"))
      .option("--note <text>", "for whoever reads it later")
      .option("--to <id>", "another endpoint of the installation")
      .option("--force", "with --delivery: also one that succeeded")
      .option("--json", "as JSON")
      .exitOverride()
      .action(replay),
  );
}

async function replay(given: Given): Promise<void> {
  await withDatabase(async ({ db }) => {
    const tenant: ReplayTenant = {
      merchantId: null,
      installationId: null,
      now: new Date(),
      events: createServiceEvents(),
    };
    printResult(
      given.delivery === undefined ? await replayAll(db, tenant, given) : await replayOne(db, tenant, given),
      given.json === true,
    );
  });
}

async function replayOne(
  db: Database,
  tenant: ReplayTenant,
  { delivery = "", reason, note, to, force }: Given,
): Promise<Readonly<Record<string, unknown>>> {
  const input = { deliveryId: delivery, reason, note, endpointId: to, force };
  const { deliveryId, original } = await inTransaction(db, async (transaction) => {
    const replayed = await replayDelivery(transaction, tenant, input);
    await record(transaction, tenant, {
      action: "webhookDeliveryReplay",
      targetId: delivery,
      details: { replayId: replayed.deliveryId, reason },
    });
    return replayed;
  });
  return { id: deliveryId, replayOf: original.id };
}

/** Page by page, each a transaction of its own. */
async function replayAll(
  db: Database,
  tenant: ReplayTenant,
  given: Given,
): Promise<Readonly<Record<string, unknown>>> {
  const { endpoint, installation, status, reason, note, to } = given;
  const until = given.until ?? new Date(tenant.now.getTime() + 1);
  const since = given.since ?? new Date(until.getTime() - dayMs);
  const skipped: Record<string, number> = {};
  let replayed = 0;
  let after: string | null = null;
  for (let hasMore = true; hasMore;) {
    const input: BulkReplayInput = {
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
    const page: BulkReplayed = await inTransaction(db, async (transaction) => {
      const done = await replayDeliveries(transaction, tenant, input);
      const details = { replayed: done.replayed, reason };
      await record(transaction, tenant, {
        action: "webhookDeliveriesReplay",
        targetId: endpoint ?? installation ?? null,
        details,
      });
      return done;
    });
    replayed += page.replayed;
    for (const { reason: why, count } of page.passedOver) skipped[why] = (skipped[why] ?? 0) + count;
    ({ hasMore, endCursor: after } = page);
  }
  return { replayed, skipped };
}

const record = (
  transaction: Transaction,
  { now }: ReplayTenant,
  what: Pick<AuditEntry, "action" | "targetId" | "details">,
): Promise<void> =>
  appendAuditEntries(transaction, { ...commandLineActor, merchantId: null, now, requestId: null, ...what });
