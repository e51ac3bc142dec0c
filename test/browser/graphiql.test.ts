/** GraphiQL in Chromium as an analyst uses it: under its strict content policy, loading only from this server. */
import { join } from "node:path";
import type { BrowserContextOptions, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { initialExamples } from "#pages/graphiql/examples.ts";
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

async function open(options?: BrowserContextOptions): Promise<Page> {
  const page = await (await browser.open({ viewport: { width: 1400, height: 900 }, ...options })).newPage();
  await page.goto(`${service.address}/graphql`);
  return page;
}

async function giveToken(page: Page, token: string): Promise<void> {
  await page.getByLabel("Token cit_…").fill(token);
  await page.getByRole("button", { name: "Use it in this tab" }).click();
}

async function openWith(
  role: keyof DemoService["demo"]["tokens"],
  options?: BrowserContextOptions,
): Promise<Page> {
  const page = await open(options);
  await giveToken(page, service.demo.tokens[role]);
  await page.getByRole("dialog").waitFor({ state: "detached" });
  // GraphiQL shows its tabs first, and ignores clicks on them until its editor is loaded.
  await page.locator(".graphiql-query-editor .view-line").first().waitFor();
  return page;
}

const operationTabs = (page: Page): Locator => page.getByLabel("Select active operation").getByRole("tab");

async function pick(page: Page, title: string): Promise<void> {
  const before = await operationTabs(page).count();
  await page.getByRole("button", { name: "Examples…" }).click();
  await page.getByRole("dialog", { name: "Examples" }).getByRole("button", { name: title }).click();
  await expect.poll(() => operationTabs(page).count()).toBe(before + 1);
}

const run = (page: Page): Promise<void> => page.getByRole("button", { name: /execute query/i }).click();
const statusOf = (page: Page): Promise<string> => page.locator("#status").innerText();
/** Monaco writes non-breaking spaces. */
const textOf = async (page: Page, part: string): Promise<string> =>
  (await page.locator(part).innerText()).replaceAll("\u{a0}", " ");
const queryIn = (page: Page): Promise<string> => textOf(page, ".graphiql-query-editor .view-lines");
const answerIn = (page: Page): Promise<string> => textOf(page, ".result-window .view-lines");

const putInto = (page: Page, part: string, text: string): Promise<void> =>
  page.evaluate(
    ([name, typed]) => {
      type Model = { uri: { path: string }; setValue(text: string): void };
      const { monaco } = globalThis as unknown as { monaco: { editor: { getModels(): Model[] } } };
      monaco.editor
        .getModels()
        .find(({ uri }) => uri.path.endsWith(name))
        ?.setValue(typed);
    },
    [part, text] as const,
  );

async function picture(page: Page, name: string): Promise<void> {
  if (process.env["SCREENSHOTS"] !== undefined)
    await page.screenshot({ path: join(process.env["SCREENSHOTS"], `graphiql-${name}.png`) });
}

it("GraphiQL asks for a token, reports a wrong one, runs its first query and shows its cost", async () => {
  const page = await open();
  const dialog = page.getByRole("dialog", { name: "Internal token" });
  await dialog.waitFor();
  expect(await page.getByLabel("Token cit_…").evaluate((input) => input === document.activeElement)).toBe(
    true,
  );
  await giveToken(page, "cit_admin_nonsense");
  await dialog.getByRole("alert").filter({ hasText: "The internal token was mistyped or cut off" }).waitFor();
  expect(await axeFaults(page, notOurs)).toEqual([]);
  await giveToken(page, service.demo.tokens.admin);
  await dialog.waitFor({ state: "detached" });
  expect(await page.getByRole("button", { name: /^Token…/ }).innerText()).toMatch(/admin, Lindenhof/);
  await run(page);
  await expect.poll(() => answerIn(page)).toContain("totalItems");
  expect(await statusOf(page)).toMatch(/^Cost [\d,]+ of 20,000 · \d.* (?:ms|s) · [\d.]+ kB$/);
  await picture(page, "ran");
});

it("GraphiQL says that a quota is used up and when it can be used again, and how many points are left", async () => {
  const page = await open();
  await giveToken(page, service.demo.tokens.admin);
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const message = "At most 750000 points of cost, of which 750210 are used, in 60 s; try again in 12 s.";
  let left = 0;
  await page.route("**/graphql", async (route) => {
    const extensions = {
      cost: { requested: 210, limit: 20_000, throttleStatus: { currentlyAvailable: left } },
    };
    await (left === 0
      ? route.fulfill({
          status: 429,
          json: { errors: [{ message, extensions: { code: "rate_limited", message } }], extensions },
        })
      : route.fulfill({ json: { data: {}, extensions } }));
  });
  await run(page);
  await expect.poll(() => statusOf(page)).toContain(`Not run, because a quota is used up. ${message}`);
  expect(await page.locator("#status.fault").count()).toBe(1);
  left = 749_790;
  await run(page);
  await expect
    .poll(() => statusOf(page))
    .toContain("Cost 210 of 20,000 · 749,790 points left in this minute");
});

it("GraphiQL works without a token, asks for it on the next run, and forgets it on request", async () => {
  const page = await open();
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("button", { name: /^Token… none/ }).click();
  await giveToken(page, service.demo.tokens.analyst);
  await page.getByRole("button", { name: /^Token… analyst/ }).click();
  await page.getByRole("button", { name: "Forget the current token" }).click();
  await page.getByText("Every query needs an internal token.").waitFor();
  expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
  await page.keyboard.press("Escape");
  await run(page);
  await page.getByRole("dialog", { name: "Internal token" }).waitFor();
  await giveToken(page, service.demo.tokens.operator);
  await expect.poll(() => answerIn(page)).toContain("totalItems");
  await page.getByRole("button", { name: /^Token… operator, whole platform/ }).waitFor();
});

it("GraphiQL discards a query if the dialog is closed, and does not send it later", async () => {
  const page = await open();
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".graphiql-query-editor .view-line").first().waitFor();
  const sent: string[] = [];
  page.on("request", (request) => void (request.method() === "POST" && sent.push(request.postData() ?? "")));
  await run(page);
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await expect.poll(() => answerIn(page)).toContain("The operation was not sent, because no token was");
  await page.getByRole("button", { name: /^Token… none/ }).click();
  await giveToken(page, service.demo.tokens.analyst);
  // GraphiQL's introspection query did wait.
  await expect.poll(() => sent.some((body) => body.includes("IntrospectionQuery"))).toBe(true);
  expect(sent.filter((body) => !/IntrospectionQuery|WhoAmI/.test(body))).toEqual([]);
});

it("GraphiQL sends a typed authorization header unchanged, and keeps its own token", async () => {
  const page = await openWith("analyst");
  await putInto(page, "headers.json", '{ "Authorization": "Bearer cit_admin_typed" }');
  const asked = page.waitForRequest(
    (request) =>
      request.method() === "POST" && request.headers()["authorization"]?.endsWith("typed") === true,
  );
  await run(page);
  expect((await asked).headers()["authorization"]).toBe("Bearer cit_admin_typed");
  await expect.poll(() => answerIn(page)).toContain("The internal token was mistyped or cut off");
  expect(await page.getByRole("dialog").count()).toBe(0);
  expect(await page.evaluate(() => sessionStorage.length)).toBe(1);
});

it("GraphiQL opens several tabs, and restores token, tabs and the active tab after a reload", async () => {
  const page = await openWith("analyst");
  expect(await operationTabs(page).count()).toBe(initialExamples.length);
  // GraphiQL ignores a click on a tab while its editors are loading, so the test clicks again like a person.
  const choose = async (): Promise<string> => {
    await page.getByRole("button", { name: "WhoAmI" }).click();
    return queryIn(page);
  };
  await expect.poll(choose).toContain("viewer");
  // GraphiQL saves its tabs half a second later.
  await expect
    .poll(() => page.evaluate(() => localStorage.getItem("graphiql:tabState")))
    .toContain('"activeTabIndex":1');
  await page.reload();
  await operationTabs(page).first().waitFor();
  await run(page);
  await expect.poll(() => answerIn(page)).toContain("analyst");
  expect(await page.getByRole("dialog").count()).toBe(0);
  expect(await operationTabs(page).count()).toBe(initialExamples.length);
});

it("GraphiQL offers only the examples that the token's role may run, which open in a new tab and run", async () => {
  const page = await open();
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  const picker = page.getByRole("dialog", { name: "Examples" });
  const groups = picker.getByRole("heading", { level: 2 });
  await page.getByRole("button", { name: "Examples…" }).click();
  await picker.getByText("no example runs without one").waitFor();
  expect(await groups.count()).toBe(0);
  await picker.getByRole("button", { name: "Enter a token" }).click();
  await giveToken(page, service.demo.tokens.storefront);
  await page.getByRole("button", { name: "Examples…" }).click();
  await expect
    .poll(() => groups.allInnerTexts())
    .toEqual(["Start here", "Pages of a storefront", "Step by step: a purchase"]);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: /^Token…/ }).click();
  await giveToken(page, service.demo.tokens.analyst);
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Examples…" }).click();
  await expect
    .poll(() => groups.allInnerTexts())
    .toEqual([
      "Start here",
      "Reports",
      "Orders, carts and promotions",
      "Catalog and integrations",
      "Pages of a storefront",
    ]);
  expect(await axeFaults(page, notOurs)).toEqual([]);
  await picture(page, "picker");
  await picker.getByLabel("Find an example").fill("returns restocked");
  expect(await picker.getByRole("listitem").count()).toBe(1);
  await picker.getByRole("button", { name: "Returns of orders" }).click();
  await expect.poll(() => queryIn(page)).toContain("query ReturnsOfOrders");
  // The editors take over the query and its variables one after the other.
  const answerAfterRun = async (): Promise<string> => {
    await run(page);
    return answerIn(page);
  };
  await expect.poll(answerAfterRun, { interval: 500 }).toContain('"orders"');
  await expect.poll(() => statusOf(page)).toMatch(/^Cost/);
  await pick(page, "Product page");
  await expect
    .poll(() => textOf(page, ".graphiql-editor-tool .view-lines >> nth=0"))
    .toContain("sund-4-family-tent");
});

it("GraphiQL shows by how much a query exceeds the limit, and the errors of an invalid query", async () => {
  const page = await openWith("analyst");
  await page.getByRole("button", { name: "New tab" }).click();
  const put = (text: string): Promise<void> => putInto(page, "operation.graphql", text);
  const list =
    "orders(first: 100) { edges { node { lines { title } returns { lines { quantity } } timeline { at " +
    "type } } } }";
  await put(`query TooMuch { one: ${list} two: ${list} three: ${list} four: ${list} five: ${list} }`);
  await page.getByRole("tab", { name: "TooMuch" }).waitFor();
  await run(page);
  await expect
    .poll(() => statusOf(page))
    .toMatch(/^Too costly: [\d,]+ of 20,000\. It was not run; ask for fewer items or fields/);
  await picture(page, "too-costly");
  await put("query Unknown { nothingOfThatName }");
  await page.getByRole("tab", { name: "Unknown" }).waitFor();
  await run(page);
  await expect.poll(() => statusOf(page)).toMatch(/^\d errors?, nothing was run · /);
});

it("GraphiQL links to the type map and the API reference", async () => {
  const page = await openWith("analyst");
  expect(await page.getByRole("link", { name: "Documentation", exact: true }).getAttribute("href")).toBe(
    "/docs",
  );
  await page.getByRole("link", { name: "Type map" }).click();
  await page.getByRole("heading", { name: "All areas" }).waitFor();
});

it("GraphiQL loads nothing from other origins, and logs only the refused token and the used-up quota", () => {
  expect(browser.outside).toEqual([]);
  expect(browser.complaints.filter((text) => !/\b(?:401|429)\b/.test(text))).toEqual([]);
});
