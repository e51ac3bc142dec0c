/**
 * The documentation's search and its code examples in several languages, in light and dark mode and on a
 * phone.
 */
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { axeFaults } from "./axe-faults.ts";
import { type DemoService, openDemoService } from "./demo-service.ts";
import { launchBrowser, type WatchedBrowser } from "./watched-browser.ts";

let service: DemoService;
let browser: WatchedBrowser;
beforeAll(async () => {
  service = await openDemoService();
  browser = await launchBrowser();
});
afterEach(() => browser.closeAll());
afterAll(async () => {
  await browser.close();
  await service[Symbol.asyncDispose]();
});

const screens: Readonly<Record<string, BrowserContextOptions>> = {
  light: { viewport: { width: 1440, height: 900 } },
  dark: { viewport: { width: 1440, height: 900 }, colorScheme: "dark" },
  phone: { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true },
};

async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await (await browser.open(options)).newPage();
  await page.goto(`${service.address}${path}`);
  return page;
}

const dialogOf = (page: Page) => page.getByRole("dialog", { name: "Search the documentation" });
const resultsOf = (page: Page) => dialogOf(page).getByRole("link");

it.each(Object.entries(screens))(
  "finds guides, operations, fields, errors and events, and opens them (%s)",
  async (_name, options) => {
    const page = await open("/docs", options);
    await page.getByRole("button", { name: "Search" }).click();
    const input = dialogOf(page).getByRole("searchbox");
    for (const [query, title, url] of [
      ["set address", "Set a cart's address", "/docs/operations/setPublicCartAddress"],
      ["setPublicCartAddress", "Set a cart's address", "/docs/operations/setPublicCartAddress"],
      ["carts/{cartId}/promotion put", "Apply a promotion code", "/docs/operations/applyPublicCartPromotion"],
      ["cart_locked", "cart_locked", "/docs/errors#cart_locked"],
      ["order.placed", "order.placed", "/docs/events/order.placed"],
      ["verify signature", "Verify the signature", "/docs/guides/webhooks#verify-the-signature"],
      ["totalItemsRelation", "meta.totalItemsRelation", "/docs/operations/searchPublicProducts#answer"],
    ] as const) {
      await input.fill(query);
      const found = resultsOf(page).filter({ hasText: title });
      await expect.poll(() => found.first().getAttribute("href"), { message: query }).toBe(url);
    }
    await input.fill("idempotncy");
    await resultsOf(page).filter({ hasText: "Idempotency" }).first().waitFor();
    expect(await axeFaults(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(
      0,
    );
    await input.fill("zzzz");
    await dialogOf(page).getByText("Nothing was found for “zzzz”.").waitFor();
    await input.fill("cart_locked");
    await resultsOf(page).filter({ hasText: "cart_locked" }).first().waitFor();
    await resultsOf(page).filter({ hasText: "cart_locked" }).first().click();
    await page.waitForURL("**/docs/errors#cart_locked");
    expect([browser.outside, browser.complaints]).toEqual([[], []]);
  },
);

it("opens with Ctrl-K and /, moves with arrow keys, opens the first result with Enter and closes with Escape", async () => {
  const page = await open("/docs/errors");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("revoke cart");
  await resultsOf(page).first().waitFor();
  await page.keyboard.press("ArrowDown");
  expect(await page.evaluate(() => document.activeElement?.localName)).toBe("a");
  await page.keyboard.press("ArrowUp");
  expect(await page.evaluate(() => document.activeElement?.localName)).toBe("input");
  await page.keyboard.press("Escape");
  expect(await dialogOf(page).isVisible()).toBe(false);
  await page.keyboard.press("/");
  await page.keyboard.type("revoke cart");
  await resultsOf(page).filter({ hasText: "Revoke a cart" }).first().waitFor();
  const first = await resultsOf(page).first().getAttribute("href");
  await page.keyboard.press("Enter");
  await page.waitForURL(`**${first ?? ""}`);
});

it("says that the search could not be loaded, and loads it at the next attempt", async () => {
  const page = await open("/docs");
  await page.route("**/docs/search.json", (route) => route.abort());
  await page.getByRole("button", { name: "Search" }).click();
  await dialogOf(page).getByText("The search could not be loaded.").waitFor();
  await page.keyboard.press("Escape");
  await page.unroute("**/docs/search.json");
  await page.getByRole("button", { name: "Search" }).click();
  await dialogOf(page).getByRole("searchbox").fill("webhooks");
  await expect.poll(() => resultsOf(page).count()).toBeGreaterThan(0);
});

it.each(Object.entries(screens))(
  "shows examples in the language that was chosen before, on every page (%s)",
  async (_name, options) => {
    const page = await open("/docs/operations/applyPublicCartPromotion", options);
    const tab = (name: string) => page.getByRole("tab", { name, exact: true });
    expect(await page.getByRole("tab").allInnerTexts()).toEqual([
      "curl",
      "JavaScript",
      "TypeScript",
      "Python",
      "PHP",
      "Go",
      "Ruby",
    ]);
    await tab("Python").click();
    expect(await page.getByRole("tabpanel").innerText()).toContain("urlopen(");
    await page.keyboard.press("ArrowRight");
    expect(await tab("PHP").getAttribute("aria-selected")).toBe("true");
    await page.goto(`${service.address}/docs/operations/getPublicCart`);
    expect(await tab("PHP").getAttribute("aria-selected")).toBe("true");
    expect(await page.getByRole("tabpanel").innerText()).toContain("<?php");
    expect(await axeFaults(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(
      0,
    );
  },
);
