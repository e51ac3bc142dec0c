/**
 * `npm run test:workflows`: runs the workflows of `schema/workflows.arazzo.yaml` with a third-party program.
 * A proxy validates every request and answer against the contract. Requests that the contract forbids go
 * directly to the service, since the proxy would answer them.
 */
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { type Service, startService } from "#soak/service.ts";
import { demoPlace } from "#test/support/copies.ts";
import { startContractProxy } from "./contract-proxy.ts";

const root = new URL("../../", import.meta.url).pathname;
const workflows = join(root, "schema/workflows.arazzo.yaml");
const refusedByContract = "what-the-contract-refuses";

interface Said {
  readonly code: number | string | null;
  readonly text: string;
}

function redocly(...args: readonly string[]): Promise<Said> {
  const { PATH, HOME } = process.env;
  // Disables telemetry and update checks.
  const env = { PATH, HOME, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  return new Promise((done) => {
    execFile(
      process.execPath,
      [join(root, "node_modules/.bin/redocly"), ...args],
      { cwd: root, env },
      (error, stdout, stderr) => done({ code: error?.code ?? 0, text: `${stdout}${stderr}` }),
    );
  });
}

interface Written {
  readonly components: {
    readonly inputs: {
      readonly demo: { readonly properties: Readonly<Record<string, { readonly description: string }>> };
    };
  };
  readonly workflows: readonly {
    readonly workflowId: string;
    readonly inputs: { readonly allOf: readonly { readonly required?: string[] }[] };
  }[];
}

const written = parse(readFileSync(workflows, "utf8")) as Written;

/** The inputs from the places in the demo that the document names; inputs without a place are new. */
function inputsOf(demo: unknown): Readonly<Record<string, string>> {
  const run = randomUUID();
  const properties = Object.entries(written.components.inputs.demo.properties);
  const found = properties.flatMap(([name, { description }]) => {
    const [, place] = /^`([\w.]+)` of demo\.json: /.exec(description) ?? [];
    return place === undefined ? [] : [[name, String(at(demo, place))] as const];
  });
  // A public host name without a server.
  return { ...Object.fromEntries(found), run, webhookUrl: `https://hooks.example.com/${run}` };
}

const at = (value: unknown, place: string): unknown =>
  place.split(".").reduce((within, name) => (within as Readonly<Record<string, unknown>>)[name], value);

describe.runIf(process.env["CONTRACT_PROXY"] === "1")("the workflows", () => {
  let service: Service;
  let inputs: Readonly<Record<string, string>>;
  beforeAll(async () => {
    service = await startService(await demoPlace("pglite"));
    inputs = inputsOf(JSON.parse(readFileSync(join(service.folder, "demo.json"), "utf8")));
  });
  afterAll(() => service[Symbol.asyncDispose]());

  type Run = { readonly inputs: Readonly<Record<string, string>>; readonly which: readonly string[] };
  const runAt = (origin: string, run: Run): Promise<Said> =>
    redocly(
      "respect",
      workflows,
      "--input",
      JSON.stringify(run.inputs),
      "--server",
      `gateway=${origin}`,
      ...run.which,
    );
  const direct = (): string => `http://127.0.0.1:${service.port}`;

  it("are valid Arazzo", async () => {
    const { code, text } = await redocly("lint", workflows);
    expect(code, text).toBe(0);
  });

  it.each(written.workflows)(
    "require the inputs that their steps use: $workflowId",
    ({ inputs: { allOf }, ...workflow }) => {
      const text = JSON.stringify(workflow).replaceAll("$components.parameters.authorization", "$inputs.key");
      const taken = new Set([...text.matchAll(/\$inputs\.(\w+)/g)].map(([, name]) => name));
      expect(new Set(allOf.flatMap(({ required = [] }) => required))).toEqual(taken);
    },
  );

  it("do not run without the required inputs", async () => {
    const { orderId: _, ...less } = inputs;
    const { code, text } = await runAt(direct(), { inputs: less, which: ["--workflow", "after-an-order"] });
    expect([code, text]).toEqual([1, expect.stringContaining("orderId")]);
  });

  it("run as described, with every step valid under the contract", async () => {
    await using proxy = await startContractProxy(service.port);
    const { code, text } = await runAt(proxy.origin, { inputs, which: ["--skip", refusedByContract] });
    expect(code, text).toBe(0);
    expect(text).toMatch(/Workflows: 5 passed, 5 total/);
  }, 180_000);

  it("are refused if they violate the contract", async () => {
    const { code, text } = await runAt(direct(), { inputs, which: ["--workflow", refusedByContract] });
    expect(code, text).toBe(0);
    expect(text).toMatch(/Workflows: 1 passed, 1 total/);
  });

  it("fail if an answer differs", async () => {
    const other = { ...inputs, orderId: "ord_00000000000000000000000000" };
    const { code, text } = await runAt(direct(), { inputs: other, which: ["--workflow", "after-an-order"] });
    expect([code, text]).toEqual([1, expect.stringContaining("Workflows: 1 failed, 1 total")]);
  });
});
