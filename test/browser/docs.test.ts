/**
 * The documentation in Chromium: on a desktop and on a phone, in light and dark mode, with and without
 * scripts.
 */
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { axeFaults } from "./axe-faults.ts";
import { type DemoService, openDemoService } from "./demo-service.ts";
import { launchBrowser, type WatchedBrowser } from "./watched-browser.ts";

let service: DemoService;
let browser: WatchedBrowser;

beforeAll(async () => {
  [service, browser] = await Promise.all([openDemoService(), launchBrowser()]);
});

afterAll(async () => {
  await browser.close();
  await service[Symbol.asyncDispose]();
});

afterEach(() => browser.closeAll());

async function open(path: string, options: Parameters<WatchedBrowser["open"]>[0] = {}): Promise<Page> {
  const context = await browser.open({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  await page.goto(`${service.address}${path}`);
  return page;
}

const contentsOf = (page: Page) => page.getByRole("navigation", { name: "Documentation" });
const headingOf = (page: Page): Promise<string> => page.getByRole("heading", { level: 1 }).innerText();

describe("navigation", () => {
  it("leads from the first steps to an operation, its errors and a guide", async () => {
    const page = await open("/docs");
    expect(await headingOf(page)).toBe("Commerce Gateway API");
    await contentsOf(page).getByRole("link", { name: "Apply a promotion code" }).click();
    await page.waitForURL("**/docs/operations/applyPublicCartPromotion");
    expect(await headingOf(page)).toContain("Apply a promotion code");
    expect(await contentsOf(page).locator("[aria-current=page]").innerText()).toContain(
      "Apply a promotion code",
    );
    await page.getByRole("link", { name: "promotion_not_applicable", exact: true }).click();
    await page.waitForURL("**/docs/errors#promotion_not_applicable");
    expect(await page.locator("#promotion_not_applicable").isVisible()).toBe(true);
    await contentsOf(page).getByRole("link", { name: "Webhooks", exact: true }).first().click();
    await page.waitForURL("**/docs/guides/webhooks");
    await page
      .getByRole("main")
      .getByRole("link", { name: "Verify the signature", exact: true })
      .first()
      .click();
    await expect.poll(() => new URL(page.url()).hash).toBe("#verify-the-signature");
  });

  it("can be used by keyboard: skips the header, with visible focus", async () => {
    const page = await open("/docs/operations/getPublicCart");
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to the content");
    expect(await page.locator(".skip").evaluate((link) => link.getBoundingClientRect().left >= 0)).toBe(true);
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    const focused = await page.evaluate(() => {
      const element = document.activeElement as HTMLElement;
      return { isInText: element.closest("main") !== null, outline: getComputedStyle(element).outlineWidth };
    });
    expect(focused).toEqual({ isInText: true, outline: "3px" });
  });

  it("can be read without scripts, except for interactive parts", async () => {
    const page = await open("/docs", { javaScriptEnabled: false });
    await contentsOf(page).getByRole("link", { name: "Get a cart" }).click();
    await page.waitForURL("**/docs/operations/getPublicCart");
    expect([await page.locator("form").count(), await page.locator("button").count()]).toEqual([0, 0]);
    await page.getByText("JavaScript", { exact: true }).click();
    expect(await page.locator('pre[aria-label="JavaScript"]').isVisible()).toBe(true);
  });

  it("shows the current page in the table of contents", async () => {
    const page = await open("/docs/operations/replayInstallationWebhookDelivery");
    const current = contentsOf(page).locator("[aria-current=page]");
    expect(await current.evaluate((link) => link.getBoundingClientRect().bottom <= window.innerHeight)).toBe(
      true,
    );
    expect(await page.evaluate(() => window.scrollY)).toBe(0);
  });

  it("shows a page with a way back for an unknown address", async () => {
    const page = await open("/docs");
    const answer = await page.request.get(`${service.address}/docs/nothing`, {
      headers: { accept: "text/html" },
    });
    expect([answer.status(), (await answer.text()).includes("There is no such page")]).toEqual([404, true]);
  });
});

describe("trying an operation", () => {
  const send = async (page: Page): Promise<void> => {
    await page.getByRole("button", { name: "Send" }).click();
    await page.locator(".result pre").waitFor();
  };

  it("asks for a key, reports a wrong key, and keeps the key for the tab", async () => {
    const page = await open("/docs/operations/getPublicCart");
    await page.getByLabel("API key").fill("cpk_test_wrong");
    await send(page);
    expect(await page.locator(".result .status").innerText()).toBe("401 Unauthorized");
    expect(await page.locator(".result pre").innerText()).toContain('"code": "api_key_invalid"');

    await page.getByLabel("API key").fill(service.demo.keys.full);
    await send(page);
    await expect.poll(() => page.locator(".result .status").innerText()).toBe("200 OK");
    const answer = JSON.parse(await page.locator(".result pre").innerText()) as { data: { id: string } };
    expect(answer.data.id).toBe(service.demo.carts.active);
    const headers = await page.locator(".result dt").allInnerTexts();
    expect(headers).toEqual(expect.arrayContaining(["x-request-id", "x-api-stability", "etag", "ratelimit"]));

    await page.goto(`${service.address}/docs/operations/getApiKeyIdentity`);
    expect(await page.getByLabel("API key").inputValue()).toBe(service.demo.keys.full);
    await send(page);
    expect(await page.locator(".result .status").innerText()).toBe("200 OK");
    const stranger = await open("/docs/operations/getApiKeyIdentity");
    expect(await stranger.getByLabel("API key").inputValue()).toBe("");
  });

  it("sends parameters as they are typed, without a key if none is needed", async () => {
    const page = await open("/docs/operations/searchPublicProducts");
    expect(await page.getByLabel("API key").count()).toBe(0);
    await page.getByLabel("q", { exact: true }).fill("zelt & co");
    await page.getByLabel("sort", { exact: true }).selectOption("newest");
    const asked = page.waitForRequest((request) => request.url().includes("/api/v1/search"));
    await send(page);
    const { searchParams } = new URL((await asked).url());
    expect([
      searchParams.get("q"),
      searchParams.get("sort"),
      searchParams.get("locale"),
      searchParams.has("category"),
    ]).toEqual(["zelt & co", "newest", "en", false]);
    expect(await page.locator(".result .status").innerText()).toBe("200 OK");
  });

  it("sends a mutation with a new Idempotency-Key each time", async () => {
    const page = await open("/docs/operations/setPublicCartAddress");
    await page.getByLabel("API key").fill(service.demo.keys.full);
    const keys: string[] = [];
    for (let time = 0; time < 2; time += 1) {
      const asked = page.waitForRequest((request) => request.method() === "PUT");
      await send(page);
      keys.push((await asked).headers()["idempotency-key"] ?? "");
      await expect.poll(() => page.locator(".result .status").innerText()).toBe("200 OK");
    }
    expect(new Set(keys).size).toBe(2);
    expect(await page.locator(".result pre").innerText()).toContain('"addressToken": "adt_');
  });

  it("runs prerequisites first: the cart's code, then its version", async () => {
    const page = await open("/docs/operations/removePublicCartPromotion");
    await page.getByLabel("API key").fill(service.demo.keys.full);
    for (let time = 0; time < 2; time += 1) {
      await send(page);
      await expect.poll(() => page.locator(".result .status").innerText()).toBe("200 OK");
    }
    expect(await page.locator(".result pre").innerText()).toContain('"state": "none"');
  });

  it("fills in the demo's key at a loopback address", async () => {
    const page = await open("/docs/operations/getApiKeyIdentity");
    await page.getByRole("button", { name: "Use the demo's key" }).click();
    await expect.poll(() => page.getByLabel("API key").inputValue()).toBe(service.demo.keys.full);
    await send(page);
    expect(await page.locator(".result .status").innerText()).toBe("200 OK");
  });

  it("is not offered if a page cannot create the required proof", async () => {
    const page = await open("/docs/operations/describeOAuthAuthorization");
    expect(await page.locator(".try form").count()).toBe(0);
  });
});

it("the copy button of an example puts its text on the clipboard", async () => {
  const page = await open("/docs/operations/getPublicCart");
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: service.address });
  await page.getByRole("button", { name: "Copy: curl" }).click();
  await page.getByRole("button", { name: "Copy: curl" }).getByText("Copied").waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(
    `/carts/${service.demo.carts.active}`,
  );
});

const pages = [
  "/docs",
  "/docs/errors",
  "/docs/events",
  "/docs/events/order.placed",
  "/docs/guides/webhooks",
  "/docs/guides/authentication",
  "/docs/operations/applyPublicCartPromotion",
  "/docs/operations/getStorefrontOrder",
  "/docs/operations/searchPublicProducts",
];

it.each([
  { colorScheme: "light", width: 1280 },
  { colorScheme: "dark", width: 1280 },
  { colorScheme: "light", width: 360 },
] as const)("the reference is accessible: $colorScheme, $width wide", async ({ colorScheme, width }) => {
  const page = await open("/docs", { colorScheme, viewport: { width, height: 800 } });
  for (const path of pages) {
    await page.goto(`${service.address}${path}`);
    await keepLook(page, `${path.split("/").at(-1)}-${colorScheme}-${width}`);
    expect([path, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([path, width]);
    expect([path, await axeFaults(page)]).toEqual([path, []]);
  }
});

async function keepLook(page: Page, name: string): Promise<void> {
  const folder = process.env["SCREENSHOTS"];
  if (folder !== undefined) await page.screenshot({ path: join(folder, `docs-${name}.png`), fullPage: true });
}

it("the documentation loads nothing from other origins, and logs only expected refusals", () => {
  expect(browser.outside).toEqual([]);
  expect(browser.complaints.filter((text) => !text.includes("401 (Unauthorized)"))).toEqual([]);
});
