/**
 * GraphiQL's answers: as a table and as CSV, with explained errors, on a phone, and with links to the type
 * map.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { axeFaults } from "./axe-faults.ts";
import { type DemoService, openDemoService } from "./demo-service.ts";
import { launchBrowser, type WatchedBrowser } from "./watched-browser.ts";

/** Parts of GraphiQL's component, which has known faults such as buttons within its tabs (nested-interactive). */
const notOurs = [".graphiql-sidebar", ".graphiql-session-header", ".graphiql-editors", ".result-window"];

let service: DemoService;
let browser: WatchedBrowser;
beforeAll(async () => {
  [service, browser] = await Promise.all([openDemoService(), launchBrowser()]);
});
afterEach(() => browser.closeAll());
afterAll(async () => {
  await browser.close();
  await service[Symbol.asyncDispose]();
});

const screens: Readonly<Record<string, BrowserContextOptions>> = {
  light: { viewport: { width: 1400, height: 900 } },
  dark: { viewport: { width: 1400, height: 900 }, colorScheme: "dark" },
  phone: { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true },
};

/** Opens GraphiQL and chooses the demo's role in the token dialog. */
async function openAs(role: string, options?: BrowserContextOptions): Promise<Page> {
  const page = await (await browser.open(options ?? screens["light"])).newPage();
  await page.goto(`${service.address}/graphql`);
  await page.getByRole("dialog").getByRole("button", { name: role, exact: true }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.locator(".graphiql-query-editor .view-line").first().waitFor();
  return page;
}

async function runExample(page: Page, title: string): Promise<void> {
  await page.getByRole("button", { name: "Examples…" }).click();
  await page
    .getByRole("dialog")
    .getByRole("button", { name: new RegExp(`^${title} `) })
    .click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  // The editors take over the query and its variables one after the other, shortly after the dialog closed.
  const runAgain = async (): Promise<string> => {
    await run(page);
    return page.locator("#status").innerText();
  };
  await expect.poll(runAgain, { interval: 500 }).toMatch(/^Cost/);
}

const run = (page: Page): Promise<void> => page.getByRole("button", { name: /execute query/i }).click();

const putOperation = (page: Page, text: string): Promise<void> =>
  page.evaluate((typed) => {
    type Model = { uri: { path: string }; setValue(text: string): void };
    const { monaco } = globalThis as unknown as { monaco: { editor: { getModels(): Model[] } } };
    const models = monaco.editor.getModels();
    models.find(({ uri }) => uri.path.endsWith("operation.graphql"))?.setValue(typed);
  }, text);

async function look(page: Page, name: string): Promise<void> {
  expect(await axeFaults(page, notOurs)).toEqual([]);
  // A page that is too wide makes the window of a phone wider.
  const width = page.viewportSize()?.width;
  expect(await page.evaluate(() => [innerWidth, document.documentElement.scrollWidth])).toEqual([
    width,
    width,
  ]);
  if (process.env["SCREENSHOTS"] !== undefined)
    await page.screenshot({ path: join(process.env["SCREENSHOTS"], `graphiql-${name}.png`) });
}

it.each(Object.entries(screens))(
  "GraphiQL shows the lists of an answer as a table and saves them as CSV (%s)",
  async (name, options) => {
    const page = await openAs("analyst", options);
    await look(page, `query-${name}`);
    await runExample(page, "Orders");
    await look(page, `json-${name}`);
    await page.getByRole("tab", { name: "Table" }).click();
    const table = page.getByRole("region", { name: "Table of orders" });
    await table.waitFor();
    const columns = await table.getByRole("columnheader").allInnerTexts();
    expect(columns).toEqual(expect.arrayContaining(["number", "totals.total.amountMinor", "lines (count)"]));
    const count = await table.locator("tbody tr").count();
    expect(count).toBeGreaterThan(5);
    await look(page, `table-${name}`);
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download CSV" }).click(),
    ]);
    expect(saved.suggestedFilename()).toMatch(/^orders-\d{4}-\d\d-\d\d\.csv$/);
    const csv = await readFile(await saved.path(), "utf8");
    expect(csv.split("\r\n")).toHaveLength(count + 2);
    expect(csv.startsWith(columns.join(","))).toBe(true);
    await page.getByLabel("List", { exact: true }).selectOption("orders.lines");
    await page.getByRole("region", { name: "Table of orders.lines" }).waitFor();
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy CSV" }).click();
    await page.getByText(/^Copied \d+ rows?\.$/).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/^orders\.number,/);
    await look(page, `lines-${name}`);
  },
);

it("GraphiQL shows the table of the open tab's answer, and says if an answer has no list", async () => {
  const page = await openAs("analyst");
  await runExample(page, "Orders");
  await page.getByRole("tab", { name: "Table" }).click();
  await page.getByRole("region", { name: "Table of orders" }).waitFor();
  await runExample(page, "Who am I");
  await page.getByText("This answer has no list").waitFor();
  await page.getByLabel("Select active operation").getByRole("button", { name: "Orders" }).click();
  await page.getByRole("region", { name: "Table of orders" }).waitFor();
  expect(await page.getByText("This answer has no list").count()).toBe(0);
});

it.each(Object.entries(screens))(
  "GraphiQL explains an error with its place, its reason and a link to its code (%s)",
  async (name, options) => {
    const page = await openAs("analyst", options);
    await putOperation(page, "query Wrong { orders(first: 5) { edges { node { nubmer } } } }");
    // GraphiQL sends the name of the operation that its tab shows.
    await page.getByRole("tab", { name: "Wrong" }).waitFor();
    await run(page);
    const card = page.getByRole("article").first();
    await card.getByText("malformed_request", { exact: true }).first().waitFor();
    expect(await card.innerText()).toMatch(/Cannot query field "nubmer".*At line 1, column \d+/s);
    await card.getByText("Why this happens, and what to do").click();
    await card.getByText("The document cannot be parsed, does not match the schema").waitFor();
    const link = card.getByRole("link", { name: "malformed_request in the documentation" });
    expect(await link.getAttribute("href")).toBe("/docs/errors#malformed_request");
    await look(page, `error-${name}`);
  },
);

it("GraphiQL says in words that the service cannot be reached, and runs the operation again afterwards", async () => {
  const page = await openAs("analyst");
  await page.route("**/graphql", (route) => route.abort("internetdisconnected"));
  await run(page);
  await page.getByRole("article").getByText("The service could not be reached.").waitFor();
  await page.unroute("**/graphql");
  await run(page);
  await expect.poll(() => page.locator(".result-window").innerText()).toContain("totalItems");
  expect(await page.getByRole("article").count()).toBe(0);
  await page.route("**/graphql", (route) => route.fulfill({ status: 502, body: "<html>Bad gateway</html>" }));
  await run(page);
  await page.getByText("The service sent no GraphQL answer (status 502).").first().waitFor();
});

it("GraphiQL on a phone shows one part at a time, the run button in each, and the docs as a sheet", async () => {
  const page = await openAs("analyst", screens["phone"]);
  const widthOf = async (part: string): Promise<number> =>
    (await page.locator(part).boundingBox())?.width ?? 0;
  expect(await widthOf(".graphiql-query-editor .monaco-editor")).toBeGreaterThan(340);
  const play = page.getByRole("button", { name: /execute query/i });
  await page.getByRole("tab", { name: "Variables" }).click();
  await page.locator(".graphiql-editor-tool .monaco-editor").first().waitFor();
  expect(await widthOf(".graphiql-editor-tool")).toBeGreaterThan(340);
  expect(await page.locator(".graphiql-query-editor .monaco-editor").isVisible()).toBe(false);
  await look(page, "phone-variables");
  await play.click();
  await expect.poll(() => page.locator(".result-window").innerText()).toContain("totalItems");
  expect(await page.getByRole("tab", { name: "Result" }).getAttribute("aria-selected")).toBe("true");
  expect(await widthOf(".result-window")).toBeGreaterThan(330);
  await page.getByRole("tab", { name: "Result" }).press("ArrowLeft");
  expect(await page.getByRole("tab", { name: "Variables" }).getAttribute("aria-selected")).toBe("true");
  await page.getByRole("button", { name: "Show Documentation Explorer" }).click();
  await page.getByRole("region", { name: "Documentation Explorer" }).waitFor();
  expect(await widthOf(".graphiql-plugin")).toBe(360);
  await look(page, "phone-docs");
  await page.getByRole("button", { name: "Hide Documentation Explorer" }).click();
  await expect.poll(() => page.getByRole("region", { name: "Documentation Explorer" }).count()).toBe(0);
});

it("GraphiQL links a list's type and the documentation's heading to the type map", async () => {
  const page = await openAs("analyst");
  await runExample(page, "Orders");
  await page.getByRole("tab", { name: "Table" }).click();
  const [map] = await Promise.all([
    page.waitForEvent("popup"),
    page.locator(".list-view").getByRole("link", { name: "Order", exact: true }).click(),
  ]);
  await map.getByRole("heading", { level: 2, name: "Order" }).waitFor();
  expect(new URL(map.url()).search).toBe("?type=Order");
  await page.getByRole("button", { name: "Show Documentation Explorer" }).click();
  const docs = page.getByRole("region", { name: "Documentation Explorer" });
  await docs.getByRole("link", { name: "Query", exact: true }).click();
  const link = docs.getByRole("link", { name: "Show in the type map" });
  expect(await link.getAttribute("href")).toBe("/graphql/map?type=Query");
  await docs.getByRole("link", { name: "orders", exact: true }).first().click();
  await expect.poll(() => link.getAttribute("href")).toBe("/graphql/map?type=Query#orders");
});

it("GraphiQL runs queries with the reader's session at the console, without a token", async () => {
  const page = await (await browser.open(screens["light"])).newPage();
  await page.goto(`${service.address}/graphql`);
  const dialog = page.getByRole("dialog", { name: "Internal token" });
  await dialog.getByRole("button", { name: "Use my console session" }).click();
  await dialog.getByRole("alert").filter({ hasText: "Sign in again" }).waitFor();
  await dialog.getByRole("link", { name: "sign in to the console" }).click();
  await page.getByLabel("E-mail address").fill(service.demo.staff.email);
  await page.getByLabel("Password").fill(service.demo.staff.password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("navigation", { name: "Console" }).waitFor();
  await page.goto(`${service.address}/graphql`);
  await dialog.getByRole("button", { name: "Use my console session" }).click();
  await page.getByRole("button", { name: /^Token… console session, Lindenhof/ }).waitFor();
  await runExample(page, "Keys and tokens");
  await expect.poll(() => page.locator(".result-window").innerText()).toContain("internalTokens");
});

it("GraphiQL loads nothing from other origins, and logs only refused and failed requests", () => {
  expect(browser.outside).toEqual([]);
  const expected = /status of (?:401|502)|ERR_INTERNET_DISCONNECTED/;
  expect(browser.complaints.filter((text) => !expected.test(text))).toEqual([]);
});
