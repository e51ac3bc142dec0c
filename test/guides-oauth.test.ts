/** The OAuth guide's app, as it is printed there, in a process of its own beside the service: a person of the demo lets it in, and it reads who it is. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createOauthClient } from "#access/oauth/oauth-clients.ts";
import { inTransaction } from "#database/transaction.ts";
import { createBrowser } from "#test/oauth/people.ts";
import { temporaryFolder } from "#test/support/process.ts";
import { createWorld, type World } from "#test/support/world.ts";

const root = new URL("../", import.meta.url).pathname;

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}

/** Gives all that it has printed. */
function startApp(environment: Readonly<Record<string, string>>): () => string {
  const [, program = ""] = /```js app\n([\s\S]+?)```/.exec(readFileSync(join(root, "docs/guides/oauth.md"), "utf8")) ?? [];
  const folder = temporaryFolder();
  writeFileSync(join(folder, "app.mjs"), program);
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const child: ChildProcess = spawn(process.execPath, ["app.mjs"], { cwd: folder, env: environment, stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  return () => output;
}

/** The demo's own has a port that may be taken here. */
const createClient = (world: World, redirectUri: string): Promise<string> =>
  inTransaction(world.database.db, async (transaction) => {
    const { appId } = await transaction
      .selectFrom("oauthClient")
      .select("appId")
      .where("id", "=", world.demo.oauthClient.clientId)
      .executeTakeFirstOrThrow();
    const input = { appId, redirectUris: [redirectUri], authMethod: "none", jwks: null } as const;
    return createOauthClient(transaction, { merchantId: null, now: world.clock.now() }, input);
  });

it("is let in by the demo's person and told who it is", async () => {
  const [PORT, callbackPort] = [String(await freePort()), await freePort()];
  await using world = await createWorld("pglite", { environment: { PORT, PUBLIC_URL: `http://127.0.0.1:${PORT}` } });
  // Its library looks at the real clock.
  world.clock.at = new Date();
  await world.app.listen();
  const REDIRECT = `http://127.0.0.1:${callbackPort}/callback`;
  const output = startApp({ API: `http://127.0.0.1:${PORT}`, REDIRECT, CLIENT: await createClient(world, REDIRECT) });
  await expect.poll(output, { timeout: 30_000, interval: 20 }).toMatch(/^Open \S+\n$/);

  const browser = createBrowser(world);
  const signIn = await browser.open(output().slice("Open ".length).trim());
  const { email, password } = world.demo.staff;
  const consent = await browser.submit(signIn, { email, password, action: "sign-in" });
  expect(consent.text).toContain("Demo integration");
  const answered = await browser.submit(consent, { action: "allow", scope: ["catalog:read", "webhooks:read"] });
  expect(await (await fetch(answered.url)).text()).toBe("Back to the terminal.");
  await expect.poll(output, { timeout: 30_000, interval: 20 }).toMatch(/credential: 'oauth'[\s\S]+name: 'Demo integration'[\s\S]+\n\}\n$/);
});
