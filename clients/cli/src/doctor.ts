/** The command `doctor`: checks whether an integration can work, and says what to do if not. */
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import {
  addSharedOptions,
  allKinds,
  countOf,
  guarded,
  print,
  printJson,
  type SharedOptions,
} from "./command-context.ts";
import { type Credential, findCredential } from "./credentials.ts";
import { field, textOf } from "./json.ts";
import { graph, request, RequestFailed, send, type ServiceAnswer, type Target } from "./service.ts";

type CheckStatus = "ok" | "warning" | "failed";

export interface Check {
  readonly name: string;
  readonly status: CheckStatus;
  readonly message: string;
  /** Says what the person should do; null if the check is ok. */
  readonly remedy: string | null;
}

export function addDoctorCommand(program: Command): void {
  addSharedOptions(program.command("doctor"))
    .description(
      "Checks the connection, the credential, the readiness of the installation and its webhook endpoints. " +
        "The exit code is 1 if a check failed.",
    )
    .action(guarded(runDoctor));
}

async function runDoctor(options: SharedOptions): Promise<void> {
  const checks = await collectChecks(options);
  const isFailed = checks.some(({ status }) => status === "failed");
  if (isFailed) process.exitCode = 1;
  if (options.json === true) return printJson({ ok: !isFailed, checks });
  for (const { status, name, message, remedy } of checks)
    print(`${status.padEnd(8)} ${name.padEnd(26)} ${message}${remedy === null ? "" : ` ${remedy}`}`);
}

async function collectChecks(options: SharedOptions): Promise<Check[]> {
  const { url, credential } = findCredential(options, allKinds);
  const server = await checkServer(url);
  if (server.answer === undefined) return [server.check];
  const checks = [server.check, await checkReady(url), await checkVersion(url), checkClock(server.answer)];
  if (credential === undefined) {
    const remedy = "Sign in with `commerce login`, or set --key or COMMERCE_API_KEY.";
    return [...checks, { name: "credential", status: "failed", message: "There is no credential.", remedy }];
  }
  return [...checks, ...(await checkCredential({ url, credential }))];
}

const ok = (name: string, message: string): Check => ({ name, status: "ok", message, remedy: null });

async function checkServer(url: string): Promise<{ check: Check; answer?: ServiceAnswer }> {
  try {
    const answer = await send(url, "/healthz");
    if (field(answer.body, "status") === "ok") return { check: ok("server", `${url} answers.`), answer };
    const message = `${url} answers, but is not a Commerce Gateway.`;
    return { check: { name: "server", status: "failed", message, remedy: "Set --url or COMMERCE_URL." } };
  } catch (error) {
    if (!(error instanceof RequestFailed)) throw error;
    const message = `${url} does not answer.`;
    const remedy = "Start the service with `npm start`, or set --url or COMMERCE_URL.";
    return { check: { name: "server", status: "failed", message, remedy } };
  }
}

async function checkReady(url: string): Promise<Check> {
  const { status } = await send(url, "/readyz");
  if (status === 200) return ok("server_ready", "The service can serve requests.");
  const remedy = "Look at the service's log: its database may not answer.";
  return { name: "server_ready", status: "failed", message: "The service cannot serve requests.", remedy };
}

/** Compares the version of the service with the version of this program, because both are released together. */
async function checkVersion(url: string): Promise<Check> {
  const { body } = await send(url, "/openapi.json");
  const service = textOf(field(body, "info"), "version") ?? "–";
  const own = readOwnVersion();
  if (service === own) return ok("version", `The service and this command line have version ${own}.`);
  const message = `The service has version ${service}, this command line ${own}.`;
  return {
    name: "version",
    status: "warning",
    message,
    remedy: "Use the command line of the service's version.",
  };
}

export const readOwnVersion = (): string =>
  textOf(JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")), "version") ?? "–";

/**
 * The largest tolerated clock difference in seconds. Webhook receivers refuse a webhook whose timestamp
 * differs more from their own clock.
 */
const skewSecondsMax = 300;
const skewSecondsNoted = 30;

function checkClock({ headers }: ServiceAnswer): Check {
  const server = Date.parse(headers.get("date") ?? "");
  const skew = Math.round(Math.abs(Date.now() - server) / 1000);
  const name = "clock";
  if (skew <= skewSecondsNoted) return ok(name, "The clocks of this machine and of the service agree.");
  const status = skew > skewSecondsMax ? "failed" : "warning";
  const message = `The clock of this machine differs from the service's clock by ${skew} s.`;
  return { name, status, message, remedy: "Set the clock of this machine, for example with NTP." };
}

async function checkCredential(target: Target): Promise<Check[]> {
  const { credential } = target;
  try {
    return credential.kind === "key" ? await checkKey(target) : await checkStaff(target);
  } catch (error) {
    if (!(error instanceof RequestFailed)) throw error;
    const remedy = `Replace the ${nameOf(credential)} from ${credential.source}, or sign in with \`commerce login\`.`;
    return [{ name: "credential", status: "failed", message: error.message, remedy }];
  }
}

const nameOf = ({ kind }: Credential): string =>
  ({ key: "API key", token: "internal token", session: "login" })[kind];

interface ReadinessView {
  readonly missingScopes: readonly string[];
  readonly checks: readonly {
    readonly code: string;
    readonly status: string;
    readonly severity: string;
    readonly message: string;
    readonly remedy: string | null;
  }[];
}

interface EndpointView {
  readonly id: string;
  readonly url: string;
  readonly status: string;
  readonly health: { readonly state: string; readonly consecutiveFailures: number };
}

async function checkKey(target: Target): Promise<Check[]> {
  const identity = field(await request(target, "/api/v1/open/identity"), "data");
  const key = field(identity, "apiKey");
  const scopes = field(key, "scopes") as readonly string[];
  const merchant = textOf(field(identity, "merchant"), "name") ?? "";
  const checks = [
    ok("credential", `The API key "${textOf(key, "name") ?? ""}" of ${merchant} is valid.`),
    ok("mode", `The key works in ${textOf(key, "mode") ?? ""} mode.`),
  ];
  const readiness = field(
    await request(target, "/api/v1/open/installation/readiness"),
    "data",
  ) as ReadinessView;
  const missing = allScopes.filter((scope) => !scopes.includes(scope));
  return [
    ...checks,
    checkScopes(scopes, missing),
    ...readiness.checks.flatMap(toReadinessCheck),
    ...(scopes.includes("webhooks:read") ? await checkEndpoints(target) : []),
  ];
}

const allScopes = ["catalog:read", "checkout:quote", "webhooks:read", "webhooks:write"];

function checkScopes(scopes: readonly string[], missing: readonly string[]): Check {
  if (missing.length === 0) return ok("scopes", `The key has all scopes: ${scopes.join(", ")}.`);
  const message = `The key has ${scopes.join(", ") || "no scope"}; it lacks ${missing.join(", ")}.`;
  const remedy = "Create a key with these scopes if your integration needs them.";
  return { name: "scopes", status: "warning", message, remedy };
}

/**
 * Converts a readiness check of the service to a check of this command. A failed check that is only advisory
 * becomes a warning.
 */
function toReadinessCheck({
  code,
  status,
  severity,
  message,
  remedy,
}: ReadinessView["checks"][number]): Check[] {
  const state = status.toLowerCase();
  if (state === "skipped") return [];
  const isFailed = state === "fail" && severity.toLowerCase() === "blocking";
  return [
    {
      name: code.toLowerCase(),
      status: state === "pass" ? "ok" : isFailed ? "failed" : "warning",
      message,
      remedy,
    },
  ];
}

async function checkEndpoints(target: Target): Promise<Check[]> {
  const list = field(await request(target, "/api/v1/open/webhooks/endpoints"), "data");
  return (field(list, "endpoints") as readonly EndpointView[]).map(toEndpointCheck);
}

export function toEndpointCheck({ id, url, status, health }: EndpointView): Check {
  const name = `endpoint ${id.slice(-6)}`;
  const { consecutiveFailures } = health;
  const warn = (message: string, remedy: string): Check => ({ name, status: "warning", message, remedy });
  if (status.toLowerCase() !== "enabled")
    return warn(
      `${url} is ${status.toLowerCase()}.`,
      "Enable the endpoint in the console if it should receive events.",
    );
  const isRetried = /^(?:healthy|unknown)$/i.test(health.state);
  if (consecutiveFailures > 0 || !isRetried)
    return warn(
      `${url} is ${health.state.toLowerCase()}: ${countOf(consecutiveFailures, "attempt")} in a row failed.`,
      isRetried
        ? "Repair the receiver; the service then delivers the events by itself."
        : "Repair the receiver, then run `commerce deliveries replay --since 7d`.",
    );
  return ok(
    name,
    health.state.toLowerCase() === "healthy"
      ? `${url} is healthy.`
      : `${url} is enabled, but no delivery to it has succeeded yet. Send a test event from its page in the console.`,
  );
}

export const staffDoctorDocument = `query Doctor {
  viewer { role merchant { name mode } staff { name } }
  installations(first: 5) {
    edges {
      node {
        id status
        readiness { checks { code status severity message remedy } }
        webhookEndpointList { endpoints { id url status health { state consecutiveFailures } } }
      }
    }
  }
}`;

interface StaffDoctorAnswer {
  readonly viewer: {
    readonly role: string;
    readonly merchant: { readonly name: string; readonly mode: string } | null;
    readonly staff: { readonly name: string } | null;
  };
  readonly installations: {
    readonly edges: readonly {
      readonly node: {
        readonly status: string;
        readonly readiness: Pick<ReadinessView, "checks">;
        readonly webhookEndpointList: { readonly endpoints: readonly EndpointView[] };
      };
    }[];
  };
}

async function checkStaff(target: Target): Promise<Check[]> {
  const { viewer, installations } = await graph<StaffDoctorAnswer>(target, staffDoctorDocument);
  const { role, merchant, staff } = viewer;
  const who = staff === null ? "The internal token" : `The login of ${staff.name}`;
  const active = installations.edges.map(({ node }) => node).filter(({ status }) => status === "ACTIVE");
  return [
    ok("credential", `${who} is valid, with the role ${role} of ${merchant?.name ?? "the platform"}.`),
    ...(merchant === null ? [] : [ok("mode", `The merchant is in ${merchant.mode.toLowerCase()} mode.`)]),
    ...active.flatMap(({ readiness }) => readiness.checks.flatMap(toReadinessCheck)),
    ...active.flatMap(({ webhookEndpointList }) => webhookEndpointList.endpoints.map(toEndpointCheck)),
  ];
}
