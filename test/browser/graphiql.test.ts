/** GraphiQL as a person uses it: in Chromium, with nothing but this server to load from. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createApp, type App } from "#app/app.ts";
import { readSettings } from "#app/settings.ts";
import type { DemoFile } from "#demo/demo-file.ts";
import { prepareDemo } from "#demo/prepare-demo.ts";
import { createLog } from "#foundation/log.ts";
import { exampleQueries } from "#web/example-queries.ts";
import { launchChromium } from "./watched-browser.ts";

let dataDir: string;
let app: App;
let demo: DemoFile;
let address: string;
let browser: Browser;
const outside: string[] = [];
const complaints: string[] = [];

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "graphiql-"));
  app = await createApp({ settings: readSettings({ PORT: "0", DATA_DIR: dataDir }), log: createLog("silent") });
  const prepared = await prepareDemo(app.database, { ...app.services, dataDir, now: new Date() });
  if (prepared === undefined) throw new Error("There is no demo.");
  demo = prepared;
  address = await app.listen();
  browser = await launchChromium();
});

afterAll(async () => {
  await browser.close();
  await app.close();
  rmSync(dataDir, { recursive: true, force: true });
});

async function open(): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  page.on("request", (request) => {
    if (!request.url().startsWith(address) && !/^(data|blob):/.test(request.url())) outside.push(request.url());
  });
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.goto(`${address}/graphql`);
  return page;
}

it("asks for a token, says when it is wrong, and then runs what it opens with", async () => {
  const page = await open();
  const input = page.locator("#token-input");
  await input.waitFor();
  await input.fill("cit_admin_nonsense");
  await page.getByRole("button", { name: "Use it in this tab" }).click();
  await page.locator("#token-help", { hasText: "The internal token is not valid." }).waitFor();
  await input.fill(demo.tokens.admin);
  await page.getByRole("button", { name: "Use it in this tab" }).click();
  await input.waitFor({ state: "detached" });
  await page.getByRole("button", { name: /execute query/i }).click();
  await page.locator(".result-window", { hasText: "productSearch" }).waitFor();
  await expect.poll(() => page.locator(".result-window").innerText()).toContain("totalItems");
  if (process.env["SCREENSHOTS"] !== undefined) await page.screenshot({ path: join(process.env["SCREENSHOTS"], "graphiql.png") });
  await page.close();
});

it("opens with all the example queries, and remembers the token for the tab", async () => {
  const page = await open();
  await page.locator("#token-input").fill(demo.tokens.analyst);
  await page.getByRole("button", { name: "Use it in this tab" }).click();
  await expect.poll(() => page.getByRole("tab").count()).toBe(exampleQueries.length + 2);
  await page.reload();
  await page.getByRole("tab").first().waitFor();
  await page.getByRole("button", { name: /execute query/i }).click();
  await page.locator(".result-window", { hasText: "productSearch" }).waitFor();
  expect(await page.locator("#token-input").count()).toBe(0);
  await page.close();
});

it("loads nothing from anywhere else, and has nothing to complain about but the token it was told was wrong", () => {
  expect(outside).toEqual([]);
  expect(complaints.filter((text) => !text.includes("401"))).toEqual([]);
});
