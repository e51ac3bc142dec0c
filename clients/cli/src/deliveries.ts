/** The commands `deliveries replay` and `openapi`. */
import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import {
  addSharedOptions,
  CommandFailed,
  countOf,
  guarded,
  parseTime,
  print,
  printJson,
  requireTarget,
  type SharedOptions,
  staffKinds,
} from "./command-context.ts";
import { findCredential } from "./credentials.ts";
import { graph, send, type Target } from "./service.ts";

const statuses = ["exhausted", "skipped", "canceled"];
const reasons = ["receiver_outage", "receiver_bug", "testing", "other"];

interface ReplayCommandOptions extends SharedOptions {
  readonly since: string;
  readonly until?: string;
  readonly status: string;
  readonly endpoint?: string;
  readonly installation?: string;
  readonly reason: string;
}

export function addDeliveryCommands(program: Command): void {
  const replay = program.command("deliveries").description("Replays webhook deliveries.").command("replay");
  addSharedOptions(replay)
    .description(
      "Sends webhook deliveries again that ended without success. Needs a login or an internal token with the " +
        "role admin.",
    )
    .requiredOption("--since <time>", "only events from this time on (RFC 3339, or 10m, 2h, 3d)")
    .option("--until <time>", "only events before this time; by default, now")
    .addOption(
      replay
        .createOption("--status <status>", "only deliveries that ended with this status")
        .choices(statuses)
        .default("exhausted"),
    )
    .option("--endpoint <id>", "only deliveries to this endpoint, whe_…")
    .option("--installation <id>", "only deliveries of this installation, ins_…; by default, the only one")
    .addOption(
      replay
        .createOption("--reason <reason>", "the reason, for the audit log")
        .choices(reasons)
        .default("other"),
    )
    .action(guarded(runReplay));
  addSharedOptions(program.command("openapi"))
    .description("Prints the OpenAPI document of the service.")
    .action(guarded(printOpenApi));
}

export const replayDocument = `mutation ReplayDeliveries($key: String!, $input: WebhookDeliveriesReplayInput!) {
  webhookDeliveriesReplay(idempotencyKey: $key, input: $input) {
    replayed hasMore endCursor skipped { reason count }
  }
}`;

export const installationsDocument = `query Installations {
  installations(first: 20) { edges { node { id status app { name } } } }
}`;

interface ReplayAnswer {
  readonly webhookDeliveriesReplay: {
    readonly replayed: number;
    readonly hasMore: boolean;
    readonly endCursor: string | null;
    readonly skipped: readonly { readonly reason: string; readonly count: number }[];
  };
}

/** Replays webhook deliveries page by page. Each page has an idempotency key of its own. */
async function runReplay(options: ReplayCommandOptions, command: Command): Promise<void> {
  const target = requireTarget(options, staffKinds);
  const { endpoint } = options;
  // `until` is computed before `since`: if `since` is `30d`, computing `until` later would make the period
  // longer than 30 days.
  const until = options.until === undefined ? new Date() : parseTime(options.until, command);
  const input = {
    endpointId: endpoint ?? null,
    installationId:
      endpoint === undefined ? (options.installation ?? (await findInstallation(target))) : null,
    since: parseTime(options.since, command).toISOString(),
    until: until.toISOString(),
    status: options.status.toUpperCase(),
    reason: options.reason.toUpperCase(),
  };
  const skipped: Record<string, number> = {};
  let replayed = 0;
  for (let after: string | null = null, hasMore = true; hasMore;) {
    const answer: ReplayAnswer = await graph(target, replayDocument, {
      key: randomUUID(),
      input: { ...input, after },
    });
    const page = answer.webhookDeliveriesReplay;
    replayed += page.replayed;
    for (const { reason, count } of page.skipped) {
      const name = reason.toLowerCase();
      skipped[name] = (skipped[name] ?? 0) + count;
    }
    ({ hasMore, endCursor: after } = page);
  }
  if (options.json === true) return printJson({ replayed, skipped });
  print(`${countOf(replayed, "delivery is", "deliveries are")} sent again.`);
  for (const [reason, count] of Object.entries(skipped))
    print(`${countOf(count, "delivery was", "deliveries were")} skipped: ${reason}.`);
}

interface InstallationsAnswer {
  readonly installations: {
    readonly edges: readonly {
      readonly node: {
        readonly id: string;
        readonly status: string;
        readonly app: { readonly name: string };
      };
    }[];
  };
}

/** Returns the id of the only active installation. Throws an error that lists them if there are several. */
async function findInstallation(target: Target): Promise<string> {
  const { installations } = await graph<InstallationsAnswer>(target, installationsDocument);
  const active = installations.edges.map(({ node }) => node).filter(({ status }) => status === "ACTIVE");
  const [first, second] = active;
  if (first === undefined) throw new CommandFailed("The merchant has no active installation.");
  if (second === undefined) return first.id;
  const names = active.map(({ id, app }) => `${id} (${app.name})`).join(", ");
  throw new CommandFailed(
    `The merchant has several installations: set --endpoint, or --installation to one of ${names}.`,
  );
}

async function printOpenApi(options: SharedOptions): Promise<void> {
  const { url } = findCredential(options, []);
  const { status, body } = await send(url, "/openapi.json");
  if (status !== 200)
    throw new CommandFailed(`The service at ${url} has no OpenAPI document (status ${status}).`);
  printJson(body);
}
