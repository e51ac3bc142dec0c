/**
 * The console's deliveries in Chromium: request and response, retry, bulk replay, and the overview's
 * problems.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { sql } from "kysely";
import { expect, it } from "vitest";
import {
  button,
  expectUsable,
  goTo,
  heading,
  picture,
  registerEndpoint,
  rows,
  signIn,
  useOffice,
} from "./console-office.ts";
import { views } from "./console-views.ts";

const office = useOffice();

/** Sets the waiting deliveries of all endpoints to be attempted in an hour. */
const postpone = (): Promise<unknown> =>
  sql`update webhook_delivery set next_attempt_at = now() + interval '1 hour'
    where status = 'retrying'`.execute(office().app.database.db);

it("the console shows an attempt's request and response, copies it as curl, and retries it now", async () => {
  const { receiver, browser } = office();
  receiver.status = 500;
  const page = await signIn(office(), "", { permissions: ["clipboard-read", "clipboard-write"] });
  await registerEndpoint(page, `${receiver.url}/shop's`);
  await rows(page).first().getByText("Retrying").waitFor();
  await postpone();
  await rows(page).first().getByRole("link", { name: "webhook.ping" }).click();
  await page.getByText("The last attempt failed; another attempt follows.").waitFor();

  await page.getByRole("tab", { name: "Request" }).waitFor();
  const { id } = receiver.arrived[0] ?? { id: "" };
  await page.locator(".headers").getByText(id, { exact: true }).waitFor();
  expect(await page.getByRole("region", { name: "Body of the request" }).innerText()).toContain(
    '"type": "webhook.ping"',
  );
  expect(await page.locator("main").innerText()).not.toMatch(/whsec_/);
  await button(page, "Copy as curl").click();
  await page.getByText(/^Copied\./).waitFor();
  const command = await page.evaluate(() => navigator.clipboard.readText());
  await promisify(execFile)("sh", ["-c", command]);
  expect(receiver.arrived.map((arrived) => arrived.id)).toEqual([id, id]);

  await page.getByRole("tab", { name: "Request" }).focus();
  await page.keyboard.press("ArrowRight");
  const panel = page.getByRole("tabpanel", { name: "Response" });
  await panel.getByText("Answered 500").waitFor();
  await panel.getByText(/^The receiver failed while it processed the event\./).waitFor();

  receiver.status = 204;
  await button(page, "Retry now").click();
  await page.getByText("The receiver accepted the delivery.").waitFor();
  expect(await rows(page).count()).toBe(2);
  expect(await button(page, "Retry now").count()).toBe(0);
  await page.getByRole("tabpanel", { name: "Request" }).waitFor();
  expect(receiver.arrived.map((arrived) => arrived.id)).toEqual([id, id, id]);
  expect(browser.outside).toEqual([]);
});

it("the console counts the deliveries of a bulk replay before it sends them, and shows the result", async () => {
  const { receiver, app } = office();
  const page = await signIn(office(), "/endpoints");
  await page.getByRole("link", { name: /shop's$/ }).click();
  const [before] = [receiver.arrived.length];
  for (let sent = 1; sent <= 2; sent += 1) {
    await button(page, "Send a test ping").click();
    await expect.poll(() => rows(page).filter({ hasText: "Succeeded" }).count()).toBe(sent + 1);
  }
  const endpointId = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  await sql`update webhook_delivery set status = 'exhausted'
    where endpoint_id = ${endpointId}`.execute(app.database.db);
  await button(page, "Replay several").click();
  const dialog = page.getByRole("dialog", { name: "Replay several deliveries" });
  await dialog
    .getByText(
      "Exactly 3 deliveries are sent again. One replay goes through at most 1,000 deliveries, the oldest first.",
    )
    .waitFor();
  await expectUsable(page);
  await dialog.getByLabel("Status of the deliveries").selectOption("Skipped: the endpoint was disabled");
  await dialog.getByText(/^No delivery can be replayed\./).waitFor();
  expect(await dialog.getByRole("button", { name: /^Replay/ }).count()).toBe(0);
  await dialog.getByLabel("Status of the deliveries").selectOption("Exhausted: all attempts failed");
  expect(receiver.arrived).toHaveLength(before + 2);
  await dialog.getByRole("button", { name: "Replay 3 deliveries" }).click();
  const result = page.getByRole("dialog", { name: "Deliveries are sent again" });
  await result.getByText("3 deliveries queued.").waitFor();
  await result.getByText("All of them were attempted.").waitFor();
  expect(receiver.arrived).toHaveLength(before + 5);
  await expectUsable(page);
  await picture(page, "replay-result");
  await button(page, "Close").click();
  await button(page, "Replay several").click();
  await dialog.getByText("3 deliveries are left out: a replay has already succeeded.").waitFor();
});

it("the overview lists what fails, with links, and an endpoint says until when it is paused", async () => {
  const { demo, app } = office();
  const page = await signIn(office());
  const failed = page
    .getByRole("listitem")
    .filter({ hasText: /^Failed1 delivery to .* failed and will not be retried/ });
  await failed.waitFor();
  expect(await page.getByText(/No problem was found/).count()).toBe(0);
  await failed.getByRole("link", { name: "See these deliveries" }).click();
  await expect.poll(() => new URL(page.url()).search).toBe("?status=exhausted");
  await expect.poll(() => rows(page).count()).toBe(1);
  await rows(page).getByRole("link").click();
  await expect
    .poll(() => new URL(page.url()).pathname)
    .toBe(`/console/deliveries/${demo.webhooks.deliveries.exhausted}`);
  await page.getByRole("link", { name: "Endpoint", exact: true }).click();
  const endpointId = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  const setPause = (interval: string): Promise<unknown> =>
    sql`update webhook_endpoint_health set consecutive_failures = 20,
      probe_at = now() + ${interval}::interval where endpoint_id = ${endpointId}`.execute(app.database.db);
  await setPause("10 minutes");
  await page.reload();
  await page
    .locator("dd")
    .getByText(/^Paused until .*, after 20 failures in a row$/)
    .waitFor();
  await goTo(page, "Overview");
  await page.getByRole("listitem").filter({ hasText: ": paused after 20 failures in a row" }).waitFor();
  await setPause("-1 minute");
  await page.reload();
  await page.getByText(/: 20 failures in a row; the next delivery is tried now/).waitFor();
});

it("an endpoint without deliveries offers a test event", async () => {
  const page = await signIn(office(), "/endpoints");
  await page.getByRole("link", { name: /shop's$/ }).click();
  const endpointId = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  await sql`delete from webhook_delivery where endpoint_id = ${endpointId}`.execute(office().app.database.db);
  await page.reload();
  await page.getByText("Nothing has been sent to this endpoint yet.").waitFor();
  await expectUsable(page);
  await button(page, "Send a test event").click();
  await rows(page).getByText("Succeeded").waitFor();
});

it.each(views)("the delivery pages have no accessibility faults: $name", async ({ name, options }) => {
  const page = await signIn(office(), "", options);
  await heading(page, "Overview").waitFor();
  await page.getByText(/will not be retried/).waitFor();
  await expect.poll(() => page.locator("[aria-busy=true]").count()).toBe(0);
  await expectUsable(page);
  await picture(page, `overview-${name}`);
  await page.getByRole("link", { name: "See these deliveries" }).first().click();
  await rows(page).first().waitFor();
  await expectUsable(page);
  await button(page, "Replay several").click();
  await page.getByText(/at most 1,000 deliveries/).waitFor();
  await expectUsable(page);
  await picture(page, `replay-several-${name}`);
  await button(page, "Close").or(button(page, "Cancel")).click();
  await rows(page).getByRole("link").first().click();
  await page.getByRole("tab", { name: "Request" }).waitFor();
  await expectUsable(page);
  await picture(page, `delivery-request-${name}`);
  await page.getByRole("tab", { name: "Response" }).click();
  await expectUsable(page);
  await picture(page, `delivery-response-${name}`);
});

it("the delivery pages load nothing from other origins, and log no browser errors", () => {
  expect(office().browser.outside).toEqual([]);
  expect(office().browser.complaints).toEqual([]);
});
