/**
 * Runs the OAuth guide's app as printed in a separate process beside the service: a person of the demo
 * consents, and the app reads its identity.
 */
import { findFreePort } from "#foundation/free-port.ts";
import { expect, it } from "vitest";
import { createOauthClient } from "#access/oauth/oauth-clients.ts";
import { runInTransaction } from "#database/transaction.ts";
import { createBrowser } from "#test/oauth/people.ts";
import { startGuideProgram } from "#test/support/guide-program.ts";
import { createWorld, type World } from "#test/support/world.ts";

/** Creates another client, because the port of the demo's client may be in use. */
const createClient = (world: World, redirectUri: string): Promise<string> =>
  runInTransaction(world.database.db, async (transaction) => {
    const { appId } = await transaction
      .selectFrom("oauthClient")
      .select("appId")
      .where("id", "=", world.demo.oauthClient.clientId)
      .executeTakeFirstOrThrow();
    const input = { appId, redirectUris: [redirectUri], authMethod: "none", jwks: null } as const;
    return createOauthClient(transaction, { merchantId: null, now: world.clock.now() }, input);
  });

it("the guide's app gets consent from the demo's person and reads its identity", async () => {
  const [PORT, callbackPort] = [String(await findFreePort("127.0.0.1")), await findFreePort("127.0.0.1")];
  await using world = await createWorld("postgres", {
    environment: { PORT, PUBLIC_URL: `http://127.0.0.1:${PORT}` },
  });
  // The app's library uses the real clock.
  world.clock.at = new Date();
  await world.app.listen();
  const REDIRECT = `http://127.0.0.1:${callbackPort}/callback`;
  const output = startGuideProgram(
    { guide: "oauth.md", name: "app" },
    { API: `http://127.0.0.1:${PORT}`, REDIRECT, CLIENT: await createClient(world, REDIRECT) },
  );
  await expect.poll(output, { timeout: 30_000, interval: 20 }).toMatch(/^Open \S+\n$/);

  const browser = createBrowser(world);
  const signIn = await browser.open(output().slice("Open ".length).trim());
  const { email, password } = world.demo.staff;
  const consent = await browser.submit(signIn, { email, password, action: "sign-in" });
  expect(consent.text).toContain("Demo integration");
  const answered = await browser.submit(consent, {
    action: "allow",
    scope: ["catalog:read", "webhooks:read"],
  });
  expect(await (await fetch(answered.url)).text()).toBe("Back to the terminal.");
  await expect
    .poll(output, { timeout: 30_000, interval: 20 })
    .toMatch(/credential: 'oauth'[\s\S]+name: 'Demo integration'[\s\S]+\n\}\n$/);
});
