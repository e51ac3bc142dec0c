/** The landing page in Chromium: its links lead to pages that work, and its values can be copied. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContextOptions } from "playwright-core";
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
  light: { viewport: { width: 1200, height: 900 } },
  dark: { viewport: { width: 1200, height: 900 }, colorScheme: "dark" },
  phone: { viewport: { width: 360, height: 740 }, isMobile: true },
};

it.each(Object.entries(screens))(
  "leads to docs, console, GraphiQL and a checkout, and is accessible (%s)",
  async (name, options) => {
    const context = await browser.open({ ...options, permissions: ["clipboard-read", "clipboard-write"] });
    const page = await context.newPage();
    const home = `${service.address}/`;
    await page.goto(home);
    expect(await axeFaults(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(
      0,
    );
    const folder = process.env["SCREENSHOTS"];
    if (folder !== undefined) {
      mkdirSync(folder, { recursive: true });
      await page.screenshot({ path: join(folder, `landing-${name}.png`), fullPage: true });
    }
    await page.getByRole("button", { name: "Copy: Console: password" }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(service.demo.staff.password);
    for (const [link, heading] of [
      ["Make the first request", "Getting started"],
      ["Open a demo checkout", "Checkout"],
    ] as const) {
      await page.goto(home);
      await page.getByRole("link", { name: link }).click();
      await page.getByRole("heading", { level: 1, name: heading }).waitFor();
    }
    for (const [link, title] of [
      ["Documentation", "Commerce Gateway API"],
      ["Console", "Sign in – Console"],
      ["GraphiQL", "GraphiQL"],
    ] as const) {
      await page.goto(home);
      await page.getByRole("main").getByRole("link", { name: link, exact: true }).click();
      await expect.poll(() => page.title()).toContain(title);
    }
    expect([browser.outside, browser.complaints]).toEqual([[], []]);
  },
);
