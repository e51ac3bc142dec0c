/** The console's pages: errors, keyboard use, contrast, phones, and expired sessions. */
import { expect, it } from "vitest";
import { insertGrant } from "#test/support/token-client.ts";
import {
  button,
  copied,
  expectUsable,
  goTo,
  heading,
  picture,
  registerEndpoint,
  revokeCart,
  rows,
  signIn,
  useOffice,
} from "./console-office.ts";
import { views } from "./console-views.ts";

const office = useOffice();

it("the console shows an error at its field, keeps the input, and repeats with the same key", async () => {
  const page = await signIn(office(), "/endpoints");
  await button(page, "Register an endpoint").click();
  const input = page.getByLabel("Address", { exact: true });
  await input.fill("ftp://nowhere");
  await page.getByLabel("Description (optional)").fill("Kept");
  await button(page, "Register").click();
  await expect.poll(() => input.getAttribute("aria-invalid")).toBe("true");
  await expect.poll(() => input.evaluate((element) => element === document.activeElement)).toBe(true);
  expect(await page.getByRole("alert").getByRole("link").getAttribute("href")).toBe(
    `${office().address}/docs/errors#webhook_url_not_allowed`,
  );
  expect(await page.getByRole("alert").innerText()).toMatch(/Request req_/);
  expect([await input.inputValue(), await page.getByLabel("Description (optional)").inputValue()]).toEqual([
    "ftp://nowhere",
    "Kept",
  ]);
  await picture(page, "refused");

  const keys: string[] = [];
  let isAway = true;
  await page.route("**/graphql", async (route) => {
    const { query, variables } = route.request().postDataJSON() as {
      query: string;
      variables: { idempotencyKey?: string };
    };
    if (!query.includes("mutation")) return route.continue();
    keys.push(variables.idempotencyKey ?? "");
    return isAway ? route.abort() : route.continue();
  });
  await input.fill(`${office().receiver.url}/third`);
  await button(page, "Register").click();
  await page.getByRole("alert").getByText("The service could not be reached.").waitFor();
  isAway = false;
  await button(page, "Register").click();
  await copied(page, "Signing secret");
  expect(keys.length).toBe(2);
  expect(keys[0]).toBe(keys[1]);
  expect(keys[0]).toMatch(/^[\da-f-]{36}$/);
});

it("the console creates a key by keyboard alone, and returns the focus", async () => {
  const page = await signIn(office(), "/keys");
  const opener = button(page, "Create a key");
  await opener.waitFor();
  const focused = (): Promise<string> =>
    page.evaluate(() => {
      const element = document.activeElement as HTMLInputElement | null;
      return (
        element?.getAttribute("aria-label") ?? element?.labels?.[0]?.textContent ?? element?.textContent ?? ""
      );
    });
  const tabTo = async (name: string): Promise<void> => {
    for (let presses = 0; presses < 40 && (await focused()) !== name; presses++)
      await page.keyboard.press("Tab");
    expect(await focused()).toBe(name);
  };
  await tabTo("Create a key");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await expect.poll(focused).toBe("Create a key");
  await page.keyboard.press("Enter");
  await tabTo("Name");
  await page.keyboard.type("By hand");
  await tabTo("See webhooks (webhooks:read)");
  await page.keyboard.press("Space");
  await tabTo("Create the key");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "The key “By hand” was created" }).waitFor();
  // Escape pressed too early does not close a dialog that shows a secret once.
  await page.keyboard.press("Escape");
  await tabTo("I have stored it");
  await page.keyboard.press("Enter");
  await expect.poll(focused).toBe("Create a key");
  await rows(page).filter({ hasText: "By hand" }).getByText("Read carts and orders").waitFor();
  expect(await rows(page).filter({ hasText: "By hand" }).innerText()).not.toContain("See webhooks");
});

it("the console has an address, title and heading for each page, and goes back to the position", async () => {
  const page = await signIn(office(), "/keys?installation=ins_nothing");
  expect([new URL(page.url()).pathname, await page.title()]).toEqual(["/console/keys", "API keys – Console"]);
  await goTo(page, "Installations");
  const name = page.getByRole("link", { name: "Demo integration" });
  await name.click();
  await heading(page, "Demo integration").waitFor();
  expect(await page.title()).toBe("Demo integration – Console");
  expect(await page.evaluate(() => document.activeElement?.localName)).toBe("h1");
  await page.goBack();
  await heading(page, "Installations").waitFor();
  await page.goto(`${office().address}/console/nowhere/at/all`);
  await heading(page, "This page does not exist").waitFor();
  await page.goto(`${office().address}/console/deliveries/whd_nothing`);
  await page.getByText("This delivery does not exist.").waitFor();
  await page.goto(`${office().address}/console/endpoints/whe_nothing`);
  await page.getByText("This endpoint does not exist or was deleted.").waitFor();
});

it("the console revokes the grant of an OAuth client", async () => {
  const { app, demo } = office();
  const { clientId, staffId } = await insertGrant({
    database: app.database,
    demo,
    clock: app.services.clock,
  });
  const page = await signIn(office(), "/installations");
  await page.getByRole("link", { name: "Demo integration" }).click();
  const grant = page
    .getByRole("table", { name: "OAuth grants, the newest first" })
    .getByRole("row")
    .filter({ hasText: clientId });
  const { name } = await app.database.db
    .selectFrom("staffAccount")
    .select("name")
    .where("id", "=", staffId)
    .executeTakeFirstOrThrow();
  expect(await grant.innerText()).toContain(name);
  await button(page, `Revoke the grant of Demo integration, allowed by ${name}`).click();
  await page.getByRole("dialog", { name: "Revoke the grant of Demo integration?" }).waitFor();
  await expectUsable(page);
  await button(page, "Revoke the grant").click();
  await grant.getByText("Revoked", { exact: true }).waitFor();
  expect(await grant.getByRole("button").count()).toBe(0);
});

it("the console marks its background requests, which do not extend the session", async () => {
  const page = await signIn(office());
  await registerEndpoint(page, `${office().receiver.url}/quiet`);
  await page.getByText("Live", { exact: true }).waitFor();
  await rows(page).filter({ hasText: "webhook.ping" }).getByText("Succeeded").waitFor();
  const marks = new Set<string>();
  page.on(
    "request",
    (request) =>
      request.url().endsWith("/graphql") && marks.add(request.headers()["x-commerce-console"] ?? "none"),
  );
  await revokeCart(office(), office().demo.keys.full, office().demo.carts.activeSecond);
  await rows(page).filter({ hasText: "cart.revoked" }).getByText("Succeeded").waitFor();
  await expect.poll(() => [...marks]).toEqual(["background"]);
});

it.each(views)("the console has no accessibility faults: $name", async ({ name, options }) => {
  const page = await signIn(office(), "", options);
  const settle = async (what: string): Promise<void> => {
    await expect.poll(() => page.locator("[aria-busy=true]").count()).toBe(0);
    await expectUsable(page);
    await picture(page, `${what}-${name}`);
  };
  await page.getByText("As a table").first().click();
  await page
    .getByText(/checks (?:more )?passed/)
    .first()
    .click();
  await settle("overview");
  for (const room of ["Installations", "API keys", "Webhooks"]) {
    await goTo(page, room);
    await heading(page, room).waitFor();
    await settle(room.toLowerCase().replace(" ", "-"));
  }
  await button(page, "Register an endpoint").click();
  await page.getByLabel("All events").uncheck();
  await page.locator("summary", { hasText: /^Cart / }).click();
  await button(page, "Add a filter").click();
  await button(page, "Register").click();
  await page.getByRole("alert").waitFor();
  await settle("register");
  await button(page, "Cancel").click();
  await goTo(page, "Installations");
  await page.getByRole("link", { name: "Demo integration" }).click();
  await heading(page, "Demo integration").waitFor();
  await settle("installation");
  await page.goto(`${office().address}/console/endpoints/${office().demo.webhooks.endpoint}`);
  await page.getByText("Live", { exact: true }).waitFor();
  await settle("endpoint");
  await page.goto(`${office().address}/console/deliveries/${office().demo.webhooks.deliveries.exhausted}`);
  await page.getByText("Live", { exact: true }).waitFor();
  await settle("delivery");
});

it("the console loads nothing from other origins, and logs no browser errors", () => {
  expect(office().browser.outside).toEqual([]);
  expect(office().browser.complaints.filter((text) => !text.includes("net::ERR_FAILED"))).toEqual([]);
});

it("the console redirects to the sign-in after the session's end, and then back to the page", async () => {
  const page = await signIn(office(), "/keys");
  await heading(page, "API keys").waitFor();
  await rows(page).first().waitFor();
  await page.context().clearCookies();
  await button(page, "Create a key").click();
  await page.getByLabel("Name", { exact: true }).fill("Too late");
  await button(page, "Create the key").click();
  await heading(page, "Sign in").waitFor();
  await page.getByLabel("E-mail address").fill(office().demo.staff.email);
  await page.getByLabel("Password").fill(office().demo.staff.password);
  await button(page, "Sign in").click();
  await heading(page, "API keys").waitFor();
  expect(new URL(page.url()).pathname).toBe("/console/keys");
});

it("the console redirects to the sign-in if the session ends during a stream", async () => {
  const page = await signIn(office(), `/endpoints/${office().demo.webhooks.endpoint}`);
  await page.getByText("Live", { exact: true }).waitFor();
  await office().app.database.db.deleteFrom("staffSession").execute();
  await heading(page, "Sign in").waitFor();
  expect(new URL(page.url()).pathname).toBe(`/console/endpoints/${office().demo.webhooks.endpoint}`);
});
