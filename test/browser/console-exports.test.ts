/** The console's exports in Chromium: creating, following, downloading, resuming and deleting. */
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { button, expectUsable, goTo, heading, picture, rows, signIn, useOffice } from "./console-office.ts";
import { views } from "./console-views.ts";

const office = useOffice();

async function createExport(page: Page, kind: string): Promise<void> {
  await button(page, "Create an export").click();
  const dialog = page.getByRole("dialog", { name: "Create an export" });
  await dialog.getByLabel("Rows").selectOption({ label: kind });
  await dialog.getByLabel("First day").fill("2020-01-01");
  await button(page, "Create the export").click();
  await dialog.waitFor({ state: "hidden" });
}

const newestRow = (page: Page) => rows(page).first();

it("the console creates an export, follows it to its end, and downloads and resumes its file", async () => {
  const page = await signIn(office());
  await goTo(page, "Exports");
  await heading(page, "Exports").waitFor();
  await page.getByText("There is no export.").waitFor();
  await createExport(page, "Orders");
  await newestRow(page)
    .getByText(/^Orders/)
    .waitFor();
  // The page reads the progress again by itself until the file is complete.
  const link = page.getByRole("link", { name: "Download the file of orders" });
  await link.waitFor({ timeout: 60_000 });
  const [, count = ""] = /([\d,]+) rows/.exec(await newestRow(page).innerText()) ?? [];
  const [download] = await Promise.all([page.waitForEvent("download"), link.click()]);
  expect(download.suggestedFilename()).toMatch(/^exp_\w+\.ndjson$/);
  const text = readFileSync(await download.path(), "utf8");
  const lines = text.trim().split("\n");
  expect(lines.length).toBe(Number(count.replaceAll(",", "")));
  expect(JSON.parse(lines[0] ?? "")).toHaveProperty("orderId");

  // A browser resumes a download with a range request and the session of the page.
  const url = new URL((await link.getAttribute("href")) ?? "", page.url()).href;
  const rest = await page.evaluate(async (address) => {
    const response = await fetch(address, { headers: { range: "bytes=100-" } });
    return { status: response.status, text: await response.text() };
  }, url);
  expect(rest).toEqual({ status: 206, text: Buffer.from(text).subarray(100).toString() });
});

it("the console cancels a waiting export, and deletes the file of a completed one", async () => {
  const page = await signIn(office(), "/exports");
  await createExport(page, "Products");
  await page.getByRole("link", { name: "Download the file of products" }).waitFor({ timeout: 60_000 });
  await button(page, "Delete the file of products").click();
  await page.getByRole("dialog", { name: "Delete this file?" }).waitFor();
  await button(page, "Delete the file").click();
  await newestRow(page).getByText("Canceled").waitFor();
  expect(await page.getByRole("link", { name: "Download the file of products" }).count()).toBe(0);

  // The answer of the service is replaced, because exports of the demo end before a person could cancel them.
  await page.route("**/graphql", async (route) => {
    const { query } = route.request().postDataJSON() as { query: string };
    if (!query.includes("ConsoleExports(")) return route.continue();
    const response = await route.fetch();
    const body = (await response.json()) as { data: { exports: { edges: { node: object }[] } } };
    Object.assign(body.data.exports.edges[0]?.node ?? {}, {
      status: "RUNNING",
      percent: 40,
      exportedRows: 400,
      totalRows: 1000,
    });
    return route.fulfill({ response, json: body });
  });
  await page.reload();
  await newestRow(page).getByText("40 %: 400 rows of 1,000").waitFor();
  expect(await page.getByRole("progressbar").getAttribute("value")).toBe("40");
  const canceling = page.waitForRequest((request) => request.postData()?.includes("exportCancel") === true);
  await button(page, "Cancel the export of products").click();
  await button(page, "Cancel the export").click();
  expect((await canceling).postDataJSON()).toMatchObject({
    variables: { input: { exportId: expect.stringMatching(/^exp_/) } },
  });
});

it("the console shows why an export was refused, and keeps the choices", async () => {
  const page = await signIn(office(), "/exports");
  await button(page, "Create an export").click();
  const dialog = page.getByRole("dialog", { name: "Create an export" });
  await dialog.getByLabel("First day").fill("2026-01-02");
  await dialog.getByLabel("Last day").fill("2026-01-01");
  await button(page, "Create the export").click();
  await expect.poll(() => dialog.locator("[aria-invalid=true]").count()).toBe(1);
  expect(await dialog.getByLabel("First day").inputValue()).toBe("2026-01-02");
  await expectUsable(page);
});

it.each(views)("the exports have no accessibility faults: $name", async ({ name, options }) => {
  const page = await signIn(office(), "/exports", options);
  await createExport(page, "Returns");
  await page.getByRole("link", { name: "Download the file of returns" }).first().waitFor({ timeout: 60_000 });
  await expectUsable(page);
  await picture(page, `exports-${name}`);
  await button(page, "Create an export").click();
  await expectUsable(page);
  await picture(page, `exports-create-${name}`);
});

it("the exports load nothing from other origins, and log no browser errors", () => {
  expect(office().browser.outside).toEqual([]);
  expect(office().browser.complaints).toEqual([]);
});
