/** The commands `listen` and `events tail`. */
import type { Command } from "commander";
import {
  addSharedOptions,
  allKinds,
  countOf,
  createStopSignal,
  guarded,
  parseTime,
  print,
  printError,
  requireTarget,
  type SharedOptions,
  splitList,
} from "./command-context.ts";
import { type ListenPage, listenToEvents, type SignedRequest } from "./listen.ts";
import { field, textOf } from "./json.ts";

interface ListenCommandOptions extends SharedOptions {
  readonly forwardTo?: string;
  readonly events: string;
  readonly since?: string;
  readonly installation?: string;
  readonly count?: string;
  readonly printSecret?: boolean;
}

export function addListenCommands(program: Command): void {
  addSharedOptions(program.command("listen"))
    .description(
      "Receives the webhooks of an installation on this machine, without a public address, and forwards them " +
        "to a local receiver.",
    )
    .option("--forward-to <url>", "URL of the local receiver; without it, events are only printed")
    .option("--events <list>", "comma-separated event types, groups such as order.*, or *", "*")
    .option("--since <time>", "also forward earlier events from this time on (RFC 3339, or 10m, 2h)")
    .option("--installation <id>", "the installation, if a login can see several (ins_…)")
    .option("--count <n>", "end after this number of events")
    .option("--print-secret", "print only the signing secret, and end")
    .action(guarded(runListen));
  addSharedOptions(program.command("events").description("Shows events.").command("tail"))
    .description("Prints the events of an installation as they occur.")
    .option("--types <list>", "comma-separated event types, groups such as order.*, or *", "*")
    .option("--since <time>", "begin with events from this time on (RFC 3339, or 10m, 2h)")
    .option("--installation <id>", "the installation, if a login can see several (ins_…)")
    .option("--count <n>", "end after this number of events")
    .option("--no-follow", "end after the events that exist now")
    .action(guarded(runTail));
}

async function runListen(options: ListenCommandOptions, command: Command): Promise<void> {
  const { forwardTo, events, json, printSecret } = options;
  if (forwardTo !== undefined && !isHttpUrl(forwardTo))
    command.error("error: --forward-to must be a URL such as http://127.0.0.1:3000/webhooks.", {
      exitCode: 2,
    });
  const target = requireTarget(options, allKinds);
  const max = parseCount(options.count, command);
  const signal = createStopSignal();
  const tally = { forwarded: 0, failed: 0 };
  const pages = listenToEvents(target, {
    eventTypes: splitList(events),
    since: options.since === undefined ? undefined : parseTime(options.since, command),
    installationId: options.installation,
    signal,
  });
  let isReady = false;
  for await (const page of pages) {
    if (printSecret === true) return print(page.secret);
    if (!isReady) printReady(page, options);
    isReady = true;
    await forwardAll(page.requests.slice(0, max === undefined ? undefined : max - tally.forwarded), {
      options,
      signal,
      tally,
    });
    if (tally.forwarded === max) break;
  }
  if (json !== true)
    print(
      `Stopped. ${countOf(tally.forwarded, "event")}, ${tally.failed} of them not accepted by the receiver.`,
    );
}

interface Forwarding {
  readonly options: ListenCommandOptions;
  readonly signal: AbortSignal;
  readonly tally: { forwarded: number; failed: number };
}

/** Forwards webhook requests one after the other, in the order of their events, and prints each of them. */
async function forwardAll(
  requests: readonly SignedRequest[],
  { options: { forwardTo, json }, signal, tally }: Forwarding,
): Promise<void> {
  for (const signed of requests) {
    if (signal.aborted) return;
    const result = forwardTo === undefined ? null : await forward(signed, forwardTo, signal);
    tally.forwarded += 1;
    if (result !== null && !result.isDelivered) tally.failed += 1;
    printForwarded(signed, { result, forwardTo, isJson: json === true });
  }
}

function printReady({ installation, secret }: ListenPage, { json, forwardTo }: ListenCommandOptions): void {
  const { id, mode, appName } = installation;
  if (json === true) return printError(JSON.stringify({ ready: true, installation, secret }));
  const where = forwardTo === undefined ? "printed here" : `forwarded to ${forwardTo}`;
  print(`Ready. Webhooks of ${appName} (${id}, ${mode} mode) are ${where}.`);
  print(`Your webhook signing secret is ${secret} (^C to quit)`);
}

interface ForwardResult {
  readonly isDelivered: boolean;
  readonly status: number | null;
  readonly error: string | null;
  readonly durationMs: number;
}

/**
 * Milliseconds that the receiver has for its answer: the same time limit as for the webhooks that the service
 * sends.
 */
const forwardMsMax = 15_000;

async function forward(
  { headers, body }: SignedRequest,
  url: string,
  stop: AbortSignal,
): Promise<ForwardResult> {
  const startedAt = performance.now();
  const durationMs = (): number => Math.round(performance.now() - startedAt);
  try {
    const response = await fetch(url, {
      method: "POST",
      headers,
      body,
      redirect: "manual",
      signal: AbortSignal.any([stop, AbortSignal.timeout(forwardMsMax)]),
    });
    await response.body?.cancel();
    return { isDelivered: response.ok, status: response.status, error: null, durationMs: durationMs() };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const reason = textOf(cause, "code") ?? (cause instanceof Error ? cause.message : "no answer");
    return { isDelivered: false, status: null, error: reason, durationMs: durationMs() };
  }
}

interface Printing {
  readonly result: ForwardResult | null;
  readonly forwardTo: string | undefined;
  readonly isJson: boolean;
}

function printForwarded(
  { event, headers, body }: SignedRequest,
  { result, forwardTo, isJson }: Printing,
): void {
  if (isJson) return print(JSON.stringify({ event, headers, body, receiver: result }));
  print(`${event.occurredAt}  --> ${event.type} [${event.id}]`);
  if (result === null || forwardTo === undefined) return;
  const answer = result.status === null ? `ERROR ${result.error ?? ""}` : String(result.status);
  print(`${event.occurredAt}  <-- [${answer}] POST ${forwardTo} [${event.id}] ${result.durationMs} ms`);
}

interface TailOptions extends SharedOptions {
  readonly types: string;
  readonly since?: string;
  readonly installation?: string;
  readonly count?: string;
  readonly follow: boolean;
}

async function runTail(options: TailOptions, command: Command): Promise<void> {
  const target = requireTarget(options, allKinds);
  const max = parseCount(options.count, command);
  let count = 0;
  const pages = listenToEvents(target, {
    eventTypes: splitList(options.types),
    since: options.since === undefined ? undefined : parseTime(options.since, command),
    installationId: options.installation,
    isOnce: !options.follow,
    signal: createStopSignal(),
  });
  for await (const { requests } of pages)
    for (const { event, body } of requests) {
      const subject = field(JSON.parse(body), "subject");
      const about = `${textOf(subject, "id") ?? "–"} v${String(field(subject, "version"))}`;
      print(
        options.json === true ? body : `${event.occurredAt}  ${event.type.padEnd(30)} ${about}  ${event.id}`,
      );
      count += 1;
      if (count === max) return;
    }
}

function parseCount(text: string | undefined, command: Command): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,6}$/.test(text))
    command.error("error: --count must be an integer from 1 to 9999999.", { exitCode: 2 });
  return Number(text);
}

const isHttpUrl = (text: string): boolean => /^https?:$/.test(URL.parse(text)?.protocol ?? "");
