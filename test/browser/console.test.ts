/**
 * The console in Chromium as staff members use it: from creating a key to revoking it, with a receiver of
 * webhooks.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import {
  button,
  callWith,
  copied,
  createKey,
  goTo,
  heading,
  picture,
  registerEndpoint,
  revokeCart,
  rows,
  signIn,
  useOffice,
} from "./console-office.ts";

const office = useOffice();

it("the console creates, uses and revokes a key, and shows a webhook, its replay and failure", async () => {
  const page = await signIn(office());
  await heading(page, "Overview").waitFor();
  // The demo has a delivery that failed.
  await page.getByText(/1 delivery to .* failed and will not be retried/).waitFor();

  // Creates a key, which is shown once with a command that uses it.
  await goTo(page, "API keys");
  await button(page, "Create a key").click();
  await page.getByLabel("Name", { exact: true }).fill("Shop search");
  await page.getByLabel("Expires").selectOption("In 90 days");
  await button(page, "Create the key").click();
  const key = await copied(page, "The key");
  const line = await copied(page, "A command to try the key");
  expect(key).toMatch(/^cpk_test_/);
  const { stdout } = await promisify(execFile)("sh", ["-c", `${line} --silent --fail`]);
  expect(JSON.parse(stdout)).toMatchObject({
    data: { apiKey: { name: "Shop search", scopes: ["catalog:read", "webhooks:read"] } },
  });
  await button(page, "I have stored it").click();
  const row = rows(page).filter({ hasText: "Shop search" });
  expect(await row.getByRole("cell").nth(1).innerText()).toBe("Active");
  expect(await page.content()).not.toContain(key);

  // Registers an endpoint, which gets a ping.
  await registerEndpoint(page, office().receiver.url);
  await page.getByText("Live", { exact: true }).waitFor();
  await expect.poll(() => office().receiver.arrived.map(({ type }) => type)).toEqual(["webhook.ping"]);
  await rows(page).filter({ hasText: "webhook.ping" }).getByText("Succeeded").waitFor();
  expect(await rows(page).count()).toBe(1);

  // The open page shows new deliveries without a reload.
  await page.evaluate(() => void Object.assign(window, { isStillHere: true }));
  await revokeCart(office(), key, office().demo.carts.activeSecond);
  const delivery = rows(page).filter({ hasText: "cart.revoked" });
  await delivery.getByText("Succeeded").waitFor();
  expect(office().receiver.arrived.map(({ type }) => type)).toEqual(["webhook.ping", "cart.revoked"]);
  expect(await rows(page).first().innerText()).toContain("cart.revoked");
  await expect.poll(() => page.getByRole("status").allInnerTexts()).toContain("cart.revoked: Succeeded.");

  // Replays the delivery by hand.
  await button(page, "Replay cart.revoked").click();
  await page.getByLabel("Reason").selectOption("To test the receiver");
  await button(page, "Replay").click();
  await expect.poll(() => office().receiver.arrived.length).toBe(3);
  expect(office().receiver.arrived[2]).toEqual(office().receiver.arrived[1]);
  await expect.poll(() => delivery.filter({ hasText: "Succeeded" }).count()).toBe(2);
  expect(await rows(page).first().innerText()).toContain("Replay");
  await picture(page, "endpoint-live");

  // The receiver fails.
  office().receiver.status = 500;
  await button(page, "Send a test ping").click();
  await rows(page).first().getByText("Answered 500").waitFor();
  expect(await rows(page).first().innerText()).toContain("Retrying");
  await page.getByText(/^Answered 500, /).waitFor();
  office().receiver.status = 204;
  expect(await page.evaluate(() => "isStillHere" in window)).toBe(true);

  // Revokes the key, which is then refused.
  await goTo(page, "API keys");
  await button(page, "Revoke Shop search").click();
  await page.getByRole("dialog", { name: "Revoke “Shop search”?" }).waitFor();
  await button(page, "Revoke the key").click();
  await row.getByText("Revoked", { exact: true }).waitFor();
  await expect.poll(async () => (await callWith(office(), key, "identity")).status).toBe(401);

  await button(page, "Sign out").click();
  await heading(page, "Sign in").waitFor();
  await page.goto(`${office().address}/console/keys`);
  await heading(page, "Sign in").waitFor();
});

it("the console shows each attempt of a delivery, and replays from there", async () => {
  const page = await signIn(office(), `/deliveries/${office().demo.webhooks.deliveries.exhausted}`);
  await page.getByText("Exhausted").first().waitFor();
  expect(
    await page.getByRole("table", { name: "Attempts, the first one first" }).locator("tbody tr").count(),
  ).toBe(10);
  await button(page, "Replay").click();
  await page.getByRole("dialog").getByRole("button", { name: "Replay", exact: true }).click();
  const all = page
    .getByRole("table", { name: "Deliveries of the event, the newest first" })
    .locator("tbody tr");
  // Nothing listens at that address.
  await all.filter({ hasText: "Replay" }).getByText("Retrying").waitFor();
  expect(await all.count()).toBe(2);
  await page.getByRole("link", { name: "Endpoint", exact: true }).click();
  await page.getByRole("table", { name: "Deliveries, the newest first" }).waitFor();
  await page.getByLabel("Status").selectOption("Exhausted");
  await expect.poll(() => rows(page).count()).toBe(1);
});

it("the console edits, rotates the secret of, disables, enables and deletes an endpoint", async () => {
  const page = await signIn(office());
  const url = `${office().receiver.url}/second`;
  await registerEndpoint(page, url);
  await button(page, "Change").click();
  await page.getByLabel("Description (optional)").fill("The warehouse");
  await page.getByLabel("All events").uncheck();
  await page.locator("summary", { hasText: /^Order / }).click();
  await page.getByLabel("All of order", { exact: true }).check();
  await page.getByLabel("Order of the deliveries").selectOption("SUBJECT");
  await button(page, "Add a filter").click();
  await page.getByLabel("Event", { exact: true }).selectOption("order.updated");
  const fields = page.getByLabel("Fields, separated by commas");
  await fields.fill("status, paymentStat");
  await button(page, "Save").click();
  await page.getByText("the nearest is paymentStatus.").waitFor();
  await picture(page, "field-filters");
  await fields.fill("status, paymentStatus");
  await button(page, "Save").click();
  await page.getByText("The warehouse").waitFor();
  await page.locator("dd", { hasText: "order.*" }).waitFor();
  await page.getByText("only if one of these fields has changed: status, paymentStatus").waitFor();
  await page.getByText("Deliveries about the same object are sent one after the other").waitFor();

  await button(page, "Change").click();
  expect(await fields.inputValue()).toBe("status, paymentStatus");
  await button(page, "Remove the filter for order.updated").click();
  await button(page, "Save").click();
  await expect.poll(() => page.getByText("only if one of these fields").count()).toBe(0);

  await button(page, "Rotate secret").click();
  await button(page, "Rotate the secret").click();
  expect(await copied(page, "Signing secret")).toMatch(/^whsec_/);
  // Chromium lets a page cancel only the first Escape.
  for (const press of ["Escape", "Escape"]) await page.keyboard.press(press);
  expect(await page.locator("dialog[open]").count()).toBe(1);
  await button(page, "I have stored it").click();
  await expect.poll(() => page.locator(".secret").count()).toBe(2);

  await button(page, "Disable").click();
  await page.getByRole("dialog").getByRole("button", { name: "Disable" }).click();
  // Both the status and the health are "Disabled": a disabled endpoint is never healthy.
  await expect.poll(() => page.locator("dd").getByText("Disabled", { exact: true }).count()).toBe(2);
  await button(page, "Enable").click();
  await page.locator("dd").getByText("Enabled", { exact: true }).waitFor();
  await button(page, "Delete").click();
  await button(page, "Delete the endpoint").click();
  await heading(page, "Webhooks").waitFor();
  await page.getByText("1 of 16 endpoints.").or(page.getByText("2 of 16 endpoints.")).waitFor();
  expect(await page.getByRole("link", { name: url, exact: true }).count()).toBe(0);
});

it("the console rotates a key: both keys work, and the old one shows its end", async () => {
  const page = await signIn(office());
  const before = await createKey(page, "Rotated");
  await button(page, "Rotate Rotated").click();
  await page.getByLabel("Hours during which both keys work").fill("2");
  await button(page, "Rotate the key").click();
  const after = await copied(page, "The key");
  await button(page, "I have stored it").click();
  expect(after).not.toBe(before);
  for (const key of [before, after]) expect((await callWith(office(), key, "identity")).status).toBe(200);
  await expect
    .poll(() => rows(page).filter({ hasText: "Rotated" }).getByRole("cell").nth(1).allInnerTexts())
    .toEqual(["Active"]);
  await expect
    .poll(() => rows(page).filter({ hasText: "Rotated" }).filter({ hasText: "Expiring" }).count())
    .toBe(1);
});

it("the console suspends and resumes an installation, and changes its permissions", async () => {
  const page = await signIn(office(), "/installations");
  await page.getByRole("link", { name: "Demo integration" }).click();
  await button(page, "Suspend").click();
  await button(page, "Suspend the installation").click();
  await page.locator("dd").getByText("Suspended").waitFor();
  await expect
    .poll(async () => (await callWith(office(), office().demo.keys.full, "catalog/products")).status)
    .toBe(401);
  await page.getByText("To be done").first().waitFor();
  await picture(page, "suspended");
  await button(page, "Resume").click();
  await button(page, "Resume the installation").click();
  await page.locator("dd").getByText("Active").waitFor();
  await button(page, "Change permissions").click();
  await page.getByLabel("checkout:quote").uncheck();
  await button(page, "Save").click();
  await expect.poll(() => page.locator(".facts").getByText("checkout:quote").count()).toBe(0);
  await button(page, "Change permissions").click();
  await page.getByLabel("checkout:quote").check();
  await button(page, "Save").click();
  await page.locator(".facts").getByText("checkout:quote").waitFor();
});

it("the console loads nothing from other origins, and logs no browser errors", () => {
  expect(office().browser.outside).toEqual([]);
  expect(office().browser.complaints.filter((text) => !text.includes("net::ERR_FAILED"))).toEqual([]);
});
