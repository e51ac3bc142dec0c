/**
 * The TypeScript client as a package: types of the current contract, and the programs of its README, which
 * run against a service with the installed package.
 */
import { findFreePort } from "#foundation/free-port.ts";
import { randomUUID } from "node:crypto";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createCommerceClient } from "#client/index.ts";
import { temporaryFolderUntil } from "#test/support/process.ts";
import { askGraph } from "#test/operations/cart-calls.ts";
import { createWorld, type World } from "#test/support/world.ts";
import { startCuttingHttp } from "./cutting-http.ts";
import { type InstalledClient, installClient, plainEnvironment } from "./installed-client.ts";

const root = new URL("../../", import.meta.url).pathname;
const source = join(root, "clients/typescript/src");

it("the client's types equal the current output of the generator", () => {
  const [head = "", types = ""] = readFileSync(join(source, "schema.ts"), "utf8").split(/(?<= \*\/\n)([^]*)/);
  const written = [...head.matchAll(/sha256 of ([^:]+): ([0-9a-f]{64})/g)].map(([, what, hash]) => [
    what,
    hash,
  ]);
  const sha256 = (data: string | Buffer): string => createHash("sha256").update(data).digest("hex");
  expect(
    written,
    "Renew it: npm ci --prefix clients/typescript && npm run generate --prefix clients/typescript",
  ).toEqual([
    ["schema/openapi.json", sha256(readFileSync(join(root, "schema/openapi.json")))],
    ["scripts/generate.mjs", sha256(readFileSync(join(source, "../scripts/generate.mjs")))],
    ["what follows", sha256(types)],
  ]);
});

it("the README explains every environment variable that its programs read", () => {
  const text = readFileSync(join(source, "../README.md"), "utf8");
  const read = [...text.matchAll(/const \{ ([^}]+) \} = process\.env;/g)].flatMap(([, names = ""]) =>
    names.split(",").map((name) => name.replace(/=.*/, "").trim()),
  );
  expect(read).toContain("CART");
  expect(read.filter((name) => !new RegExp(`^\\| .*\`${name}\`.* \\|`, "m").test(text))).toEqual([]);
});

/** The compiler must accept the types of events in each branch, and refuse the marked line. */
const narrowing = `
import type { CommerceEvent } from "@commerce-gateway/client/webhooks";
export function summarize(event: CommerceEvent): string {
  switch (event.type) {
    case "order.placed":
      return "number" in event.data.object ? event.data.object.number : event.data.object.id;
    case "variant.low_stock":
      return event.subject.type satisfies "variant";
    case "unknown":
      return event.receivedType;
    default:
      // @ts-expect-error Only unknown events have a received type.
      return event.receivedType;
  }
}
`;

describe("the installed package", () => {
  const endings: (() => unknown)[] = [];
  const folder = (): string => temporaryFolderUntil((end) => void endings.push(end));
  let world: World;
  let installed: InstalledClient;
  let port = 0;
  beforeAll(async () => {
    world = await createWorld("postgres", { environment: { PORT: "0" } });
    // The installed programs use the real clock.
    world.clock.at = new Date();
    await world.app.listen();
    ({ port } = world.app.server.server.address() as AddressInfo);
    installed = await installClient({ folder: folder(), workspace: folder() }, { "narrowing.ts": narrowing });
  }, 300_000);
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    for (const end of endings) end();
  });
  const inputs = (origin = `http://127.0.0.1:${port}`): Record<string, string> => ({
    API: origin,
    KEY: world.demo.keys.full,
  });

  it("has only the compiled client, and sends a request from plain JavaScript", async () => {
    const files = readdirSync(join(installed.folder, "node_modules/@commerce-gateway/client"));
    expect(files.toSorted()).toEqual(["README.md", "dist", "package.json"]);
    expect(await installed.run("start.js", inputs())).toMatch(/^\S+ [a-z:]+( [a-z:]+)+\n$/);
  });

  it("changes a cart once, although the connection is cut before the answer arrives", async () => {
    const cutting = await startCuttingHttp(port);
    const { carts, promotionCodes } = world.demo;
    const readVersion = async (): Promise<number> => {
      const client = createCommerceClient({
        baseUrl: `http://127.0.0.1:${port}`,
        apiKey: world.demo.keys.full,
      });
      const params = { path: { cartId: carts.active } };
      return (await client.get("/api/v1/open/storefront/carts/{cartId}", { params })).data.version;
    };
    const before = await readVersion();
    cutting.cutNext("head", "/promotion");
    const cart = { CART: carts.active, CODE: promotionCodes.percentage };
    expect(await installed.run("purchase.js", { ...inputs(cutting.origin), ...cart })).toMatch(/^\d+ EUR\n$/);
    const [address, read, first, second, ...others] = cutting.keys;
    expect([read, second, others]).toEqual(["undefined", first, []]);
    expect(first).not.toBe(address);
    // The address and the promotion each changed the cart once.
    expect(await readVersion()).toBe(before + 2);
  });

  it("reads every list, some over several pages", async () => {
    const lines = (await installed.run("lists.js", inputs())).split("\n");
    const count = (kind: string): number => lines.filter((line) => line.startsWith(`${kind} `)).length;
    expect([count("product"), count("event"), count("found")]).toEqual([3, 5, 25]);
    expect(count("endpoint")).toBeGreaterThan(0);
    const pages = lines.filter((line) => line.startsWith("page "));
    expect(pages.length).toBeGreaterThan(2);
    expect(pages).toEqual(
      pages.map((_, index) => expect.stringMatching(`^page ${index + 1} of ${pages.length} has \\d+$`)),
    );
    const resumed = (await installed.run("lists.js", { ...inputs(), PAGE: "3" })).split("\n");
    expect(resumed.filter((line) => line.startsWith("page "))).toEqual(pages.slice(2));
  });

  it("verifies the service's webhooks, and refuses a changed one", async () => {
    const client = createCommerceClient({
      baseUrl: `http://127.0.0.1:${port}`,
      apiKey: world.demo.keys.full,
    });
    const PORT = String(await findFreePort("127.0.0.1"));
    const url = `http://127.0.0.1:${PORT}/`;
    const { data: created } = await client.post("/api/v1/open/webhooks/endpoints", {
      body: { url, eventTypes: ["order.placed"] },
    });
    const { endpoint } = created;
    const output = startReceiver({ PORT, SECRET: created.secret.value });

    const { data: fixture } = await client.get("/api/v1/open/webhooks/endpoints/{id}/signature-fixture", {
      params: { path: { id: endpoint.id } },
    });
    const { headers, bodyUtf8: body } = fixture.live.request;
    const send = (text: string): Promise<number | undefined> =>
      fetch(url, { method: "POST", headers: headers as Record<string, string>, body: text }).then(
        ({ status }) => status,
        () => undefined,
      );
    await expect.poll(() => send(body)).toBe(204);
    await expect.poll(output).toContain("not known to this client: fixture.signature\n");
    expect(await send(`${body} `)).toBe(400);

    // The first delivery of the ping fails if it was sent before the receiver started.
    const deliveries: string[] = [];
    for await (const event of client.webhookEvents())
      for (const { id, endpointId } of event.deliveries) if (endpointId === endpoint.id) deliveries.push(id);
    expect(deliveries).toHaveLength(1);
    // If the first attempt failed, the delivery waits for its next attempt, which "Retry now" makes at once.
    const id = deliveries[0] ?? "";
    const retryNow = (): Promise<unknown> =>
      askGraph(
        world,
        `mutation ($id: ID!, $key: String!) {
          webhookDeliveryRetry(deliveryId: $id, idempotencyKey: $key, input: { expectedAttemptCount: 1 }) { id }
        }`,
        { id, key: randomUUID() },
        { token: "admin" },
      );
    const receivesPing = async (): Promise<boolean> => {
      // The endpoint's allowed requests grow with the time.
      world.clock.at = new Date();
      if (!output().includes(`ping of ${endpoint.id}\n`)) await retryNow();
      return output().includes(`ping of ${endpoint.id}\n`);
    };
    await expect.poll(receivesPing, { timeout: 30_000, interval: 1_000 }).toBe(true);
  });

  function startReceiver(environment: Readonly<Record<string, string>>): () => string {
    const child = spawn("node", ["webhooks.js"], {
      cwd: installed.folder,
      env: plainEnvironment(environment),
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = once(child, "exit");
    onTestFinished(async () => {
      child.kill("SIGKILL");
      await ended;
    });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
    return () => output;
  }
});
