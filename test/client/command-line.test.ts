/** The command line for integrators, packed and installed into an empty folder, against a running service. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { buildSchema, parse, validate } from "graphql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installationsDocument, replayDocument } from "#integrator/deliveries.ts";
import { staffDoctorDocument, toEndpointCheck } from "#integrator/doctor.ts";
import { whoAmIDocument } from "#integrator/login.ts";
import type { Target } from "#integrator/service.ts";
import { recipes } from "#integrator/trigger-recipes.ts";
import * as steps from "#integrator/trigger-steps.ts";
import { triggerEvent } from "#integrator/trigger.ts";
import { eventTypes } from "#webhooks/event-types.ts";
import { demoPlace, toEnvironment } from "#test/support/copies.ts";
import { runHere, temporaryFolderUntil, useService } from "#test/support/process.ts";
import {
  type CommandLine,
  type CommandResult,
  type DemoSecrets,
  installCommandLine,
  readDemoSecrets,
  runCommerce,
  startCommerce,
  startProxy,
  startReceiver,
} from "./command-line-calls.ts";

const folder = temporaryFolderUntil(afterAll);
const place = await demoPlace("postgres");
const environment = { ...toEnvironment(place), DEMO: "1" };
const service = useService({ ...environment, RATE_LIMIT_SCALE: "0" });
let line: CommandLine;
let demo: DemoSecrets;

beforeAll(async () => {
  const installed = join(folder, "installed");
  mkdirSync(installed);
  const program = await installCommandLine(installed);
  demo = readDemoSecrets(place.folder);
  line = {
    program,
    folder,
    environment: { HOME: folder, XDG_CONFIG_HOME: join(folder, "config"), COMMERCE_URL: service().address },
  };
}, 180_000);

const withKey = (key = demo.keys["full"] ?? ""): CommandLine => ({
  ...line,
  environment: { ...line.environment, COMMERCE_API_KEY: key },
});
const withToken = (): CommandLine => withKey(demo.tokens["admin"]);
const run = (...args: string[]): Promise<CommandResult> => runCommerce(withKey(), ...args);
const read = (result: CommandResult): unknown => {
  expect(result).toMatchObject({ code: 0, stderr: "" });
  return JSON.parse(result.stdout);
};
const trigger = async (type: string): Promise<string> =>
  (read(await runCommerce(withToken(), "trigger", type, "--json")) as { id: string }).id;

describe("listen", () => {
  it("forwards signed webhooks, loses none while the connection breaks, and ends with Ctrl-C", async () => {
    const secret = (await run("listen", "--print-secret")).stdout.trim();
    const receiver = await startReceiver(secret);
    const proxy = await startProxy(service().address);
    const listening = startCommerce(
      withKey(),
      "listen",
      "--url",
      proxy.url,
      "--events",
      "cart.created",
      "--forward-to",
      receiver.url,
    );
    await expect.poll(listening.output).toContain("Ready. Webhooks of Demo integration");
    await expect.poll(listening.output).toContain(`Your webhook signing secret is ${secret} (^C to quit)`);
    const before = await trigger("cart.created");
    await expect.poll(() => receiver.events.length).toBe(1);
    proxy.cut();
    const during = [await trigger("cart.created"), await trigger("cart.created")];
    await expect.poll(listening.output).toContain("Connection lost, reconnecting: ");
    proxy.restore();
    await expect.poll(() => receiver.events.length).toBe(3);
    await expect.poll(listening.output).toContain("Connected again. No event was lost.");
    expect(receiver.events.map(({ id }) => id)).toEqual([before, ...during]);
    expect(await listening.interrupt()).toBe(0);
    expect(receiver.refused()).toBe(0);
    expect(receiver.events[0]?.headers).toMatchObject({
      "user-agent": "CommerceGateway-Webhooks/1",
      "webhook-id": before,
      "webhook-event-type": "cart.created",
      "webhook-attempt": "1",
      "webhook-replay": "false",
      "webhook-delivery-id": before.replace("evt_", "whd_"),
      traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/) as string,
    });
    expect(listening.output()).toMatch(new RegExp(`--> cart\\.created \\[${before}\\]\\n`));
    expect(listening.output()).toMatch(new RegExp(`<-- \\[200\\] POST ${receiver.url} \\[${before}\\]`));
    expect(listening.output()).toContain("Stopped. 3 events, 0 of them not accepted by the receiver.");
    // Nothing was created for the listener.
    const { endpoints } = (await readKey("/api/v1/open/webhooks/endpoints")) as { endpoints: unknown[] };
    expect(endpoints).toHaveLength(1);
  }, 180_000);

  it("prints the answer of a receiver that refuses webhooks, and a receiver that is not there", async () => {
    await trigger("cart.created");
    const receiver = await startReceiver(`whsec_${Buffer.alloc(32).toString("base64")}`);
    const args = ["listen", "--events", "cart.*", "--since", "1h", "--count", "1", "--forward-to"];
    expect((await run(...args, receiver.url)).stdout).toContain(`<-- [400] POST ${receiver.url}`);
    const { code, stdout } = await run(...args, "http://127.0.0.1:1024/");
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringContaining("<-- [ERROR ECONNREFUSED] POST http://127.0.0.1:1024/") as string,
    });
  });

  it("is refused without the scope webhooks:write", async () => {
    const { code, stderr } = await runCommerce(withKey(demo.keys["webhooksRead"]), "listen");
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: "The API key must have the scope webhooks:write. (scope_missing)\n",
    });
  });

  it("refuses unknown event types", async () => {
    for (const args of [
      ["listen", "--events", "cart.nonsense"],
      ["events", "tail", "--types", "cart.nonsense"],
    ]) {
      const { code, stderr } = await run(...args);
      expect(code).toBe(2);
      expect(stderr).toContain("(unknown_event_type)");
    }
  });
});

async function readKey(path: string): Promise<unknown> {
  const headers = { authorization: `Bearer ${demo.keys["full"]}` };
  return ((await (await fetch(`${service().address}${path}`, { headers })).json()) as { data: unknown }).data;
}

describe("trigger", () => {
  it("lists all event types except those that need time, a buyer, a failure or another installation", async () => {
    const names = read(await run("trigger", "--list", "--json")) as string[];
    expect(names).toEqual([...recipes.keys()]);
    const missing = Object.keys(eventTypes).filter((type) => !names.includes(type));
    expect(missing).toEqual([
      "cart.expired",
      "checkout_session.expired",
      "order.cancellation_requested",
      "order.cancellation_declined",
      "payment.refund_required",
      "refund.failed",
      "installation.scopes_changed",
      "installation.suspended",
      "installation.resumed",
      "installation.uninstalled",
      "api_key.expiring",
      "webhook_endpoint.degraded",
      "webhook_endpoint.auto_disabled",
    ]);
    expect(names.length + missing.length).toBe(Object.keys(eventTypes).length);
  });

  it("refuses an API key that --key names, and uses no other credential instead", async () => {
    const { code, stderr } = await run("trigger", "cart.created", "--key", demo.keys["otherMerchant"] ?? "");
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^--key is an API key, but this command needs /),
    ]);
  });

  it("makes every listed event happen", async () => {
    const value = demo.tokens["admin"] ?? "";
    const target: Target = { url: service().address, credential: { kind: "token", value, source: "demo" } };
    const createSignal = (): AbortSignal => new AbortController().signal;
    for (const [type, recipe] of recipes)
      expect({ type, event: await triggerEvent(target, { type, recipe, createSignal }) }).toMatchObject({
        type,
        event: { type, subject: { type: eventTypes[type as keyof typeof eventTypes].subject } },
      });
  }, 900_000);

  it("needs more than an API key", async () => {
    const { code, stdout, stderr } = await run("trigger", "order.completed");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("This command needs a login, or an internal token");
  });

  it("refuses a merchant in live mode, before it changes anything", async () => {
    const created = await runHere(
      [
        "merchant",
        "create",
        "--slug",
        "live",
        "--name",
        "Live",
        "--mode",
        "live",
        "--locale",
        "de-DE",
        "--market",
        "DE",
        "--json",
      ],
      environment,
    );
    const { id } = JSON.parse(created.stdout) as { id: string };
    const token = await runHere(
      ["token", "create", "--role", "admin", "--name", "x", "--merchant", id, "--json"],
      environment,
    );
    const live = withKey((JSON.parse(token.stdout) as { token: string }).token);
    expect(await runCommerce(live, "trigger", "product.created")).toEqual({
      code: 1,
      stdout: "Triggering product.created …\n",
      stderr: "trigger works only in test mode, but the merchant is in live mode. Nothing was done.\n",
    });
  });
});

describe("the other commands", () => {
  it("events tail prints earlier events, and follows new ones until Ctrl-C", async () => {
    const earlier = await trigger("cart.created");
    const shown = await run("events", "tail", "--types", "cart.created", "--since", "1h", "--no-follow");
    expect(shown.stdout).toMatch(new RegExp(`^\\S+Z {2}cart\\.created +cart_\\w+ v1 {2}${earlier}$`, "m"));
    const tail = startCommerce(withKey(), "events", "tail", "--json");
    // The feed begins when the command starts, so events are triggered until one is seen.
    await expect
      .poll(
        async () => {
          await trigger("cart.created");
          return tail.output();
        },
        { timeout: 60_000, interval: 100 },
      )
      .toContain('"type":"cart.created"');
    expect(await tail.interrupt()).toBe(0);
  });

  it("deliveries replay sends unsuccessful deliveries again", async () => {
    const result = read(await runCommerce(withToken(), "deliveries", "replay", "--since", "30d", "--json"));
    expect(result).toMatchObject({ replayed: expect.any(Number) as number, skipped: {} });
    expect((result as { replayed: number }).replayed).toBeGreaterThan(0);
  });

  it("openapi prints the document of the service", async () => {
    const { stdout } = await run("openapi");
    expect(JSON.parse(stdout)).toEqual(await (await fetch(`${service().address}/openapi.json`)).json());
  });

  it("refuse a URL without a scheme", async () => {
    const wrong = { ...line.environment, COMMERCE_URL: "127.0.0.1:4711" };
    const { code, stderr } = await runCommerce({ ...line, environment: wrong }, "whoami");
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^COMMERCE_URL must be a URL such as http:/)]);
  });

  it("whoami shows the owner of the credential", async () => {
    expect(read(await run("whoami", "--json"))).toMatchObject({
      url: service().address,
      credential: "key",
      source: "COMMERCE_API_KEY",
      name: "Demo: full",
      mode: "test",
    });
    expect(read(await runCommerce(withToken(), "whoami", "--json"))).toMatchObject({ role: "admin" });
  });

  it("doctor ends with 0 if no check failed, and with 1 and a remedy otherwise", async () => {
    const { ok, checks } = read(await run("doctor", "--json")) as {
      ok: boolean;
      checks: { name: string; status: string; message: string }[];
    };
    const statuses = Object.fromEntries(checks.map(({ name, status }) => [name, status]));
    expect({ ok, statuses }).toMatchObject({
      ok: true,
      statuses: {
        server: "ok",
        server_ready: "ok",
        version: "ok",
        clock: "ok",
        credential: "ok",
        mode: "ok",
        scopes: "ok",
        merchant_active: "ok",
      },
    });
    expect(checks.find(({ name }) => name === "webhook_delivery_healthy")?.message).toMatch(
      /^(?:Waiting for a retry after a failed attempt: \d+ deliver(?:y|ies) to|Deliveries fail to) the webhook endpoint whe_/,
    );
    expect(checks.filter(({ name }) => name.startsWith("endpoint "))).toHaveLength(1);
    expect((await runCommerce(withToken(), "doctor")).code).toBe(0);
    const lacking = await runCommerce(withKey(demo.keys["webhooksRead"]), "doctor");
    expect(lacking.stdout).toMatch(/^warning +scopes +The key has webhooks:read; it lacks catalog:read, /m);
    const revoked = await runCommerce(withKey(demo.keys["revoked"]), "doctor");
    expect(revoked.code).toBe(1);
    expect(revoked.stdout).toMatch(
      /^failed +credential .*\(api_key_revoked\) Replace the API key from COMMERCE_API_KEY/m,
    );
    const none = await runCommerce(line, "doctor");
    expect(none.code).toBe(1);
    expect(none.stdout).toMatch(
      /^failed +credential +There is no credential\. Sign in with `commerce login`/m,
    );
    const absent = await runCommerce(withKey(), "doctor", "--url", "http://127.0.0.1:1024");
    expect(absent.code).toBe(1);
    expect(absent.stdout).toMatch(
      /^failed +server +http:\/\/127\.0\.0\.1:1024 does not answer\. Start the service/m,
    );
  });

  it.each([
    ["healthy", 0, "ok", /is healthy\.$/],
    ["unknown", 0, "ok", /no delivery to it has succeeded yet\. Send a test event/],
    ["healthy", 1, "warning", /1 attempt in a row failed\.$/],
    ["degraded", 12, "warning", /is degraded: 12 attempts in a row failed\.$/],
  ])(
    "doctor explains an endpoint with the state %s and %i failures",
    (state, consecutiveFailures, status, text) => {
      const endpoint = { id: "whe_1", url: "https://shop.example", status: "enabled" };
      expect(toEndpointCheck({ ...endpoint, health: { state, consecutiveFailures } })).toMatchObject({
        status,
        message: expect.stringMatching(text) as string,
      });
    },
  );

  it.concurrent.each([
    ["no command", [], "Usage: commerce"],
    ["an unknown command", ["nonsense"], "error: unknown command 'nonsense'"],
    [
      "an unknown event",
      ["trigger", "order.complete"],
      "error: 'order.complete' cannot be triggered. Did you mean order.completed? --list shows",
    ],
    [
      "an event like no other",
      ["trigger", "nonsense"],
      "error: 'nonsense' cannot be triggered. --list shows",
    ],
    ["no event", ["trigger"], "error: missing required argument 'event'"],
    ["a wrong URL", ["listen", "--forward-to", "localhost"], "error: --forward-to must be a URL"],
    ["a wrong time", ["events", "tail", "--since", "yesterday"], "error: 'yesterday' is not a time."],
    ["a wrong count", ["listen", "--count", "0"], "error: --count must be an integer"],
    ["a missing period", ["deliveries", "replay"], "error: required option '--since <time>' not specified"],
    [
      "a wrong status",
      ["deliveries", "replay", "--since", "1d", "--status", "none"],
      "error: option '--status <status>'",
    ],
  ])("the exit code is 2 for %s", async (_name, args, message) => {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
  });

  it("every command has --help, --json, --url and --key, also under npm run commerce", async () => {
    for (const command of [
      "login",
      "logout",
      "whoami",
      "listen",
      "trigger",
      "events tail",
      "deliveries replay",
      "openapi",
      "doctor",
    ]) {
      const { code, stdout } = await runHere([...command.split(" "), "--help"]);
      expect({ command, code }).toEqual({ command, code: 0 });
      for (const option of ["--json", "--url", "--key"]) expect(stdout).toContain(option);
    }
  });

  it("has valid GraphQL documents", () => {
    const schema = buildSchema(readFileSync(new URL("../../schema/schema.graphql", import.meta.url), "utf8"));
    const { mutationNames, createMutationDocument, step: _step, waitFor: _wait, ...queries } = steps;
    const documents = [
      ...mutationNames.map(createMutationDocument),
      ...Object.values(queries).filter((value) => typeof value === "string"),
      replayDocument,
      installationsDocument,
      staffDoctorDocument,
      whoAmIDocument,
    ];
    for (const document of documents) expect(validate(schema, parse(document))).toEqual([]);
  });
});
