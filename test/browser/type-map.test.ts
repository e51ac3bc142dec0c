/** The type map as a person uses it who looks for a type: with the pointer, with the keyboard, and by a link. */
import { join } from "node:path";
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { axeFaults } from "./axe-faults.ts";
import { type DemoService, openDemoService } from "./demo-service.ts";
import { launchBrowser, type WatchedBrowser } from "./watched-browser.ts";

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

async function open(address = "", options?: BrowserContextOptions): Promise<Page> {
  const page = await (await browser.open({ viewport: { width: 1200, height: 900 }, ...options })).newPage();
  await page.goto(`${service.address}/graphql/map${address}`);
  await page.getByLabel("Token cit_…").fill(service.demo.tokens.analyst);
  await page.getByRole("button", { name: "Use it in this tab" }).click();
  await page.getByLabel("Find a type or a field").waitFor();
  return page;
}

const placeOf = (page: Page): Promise<string> => page.locator("h2").innerText();
const picture = (page: Page, name: string): ReturnType<Page["getByRole"]> =>
  page.getByRole("group", { name });

async function shoot(page: Page, name: string): Promise<void> {
  if (process.env["SCREENSHOTS"] !== undefined)
    await page.screenshot({ path: join(process.env["SCREENSHOTS"], `type-map-${name}.png`) });
}

it("the map of types asks for a token, and shows areas and their links as picture and list", async () => {
  const page = await open();
  expect(await placeOf(page)).toBe("All areas");
  const areas = await picture(page, "The areas and their connections").getByRole("link").count();
  expect(areas).toBe(12);
  expect(await page.locator(".areas a").allInnerTexts()).toEqual(
    expect.arrayContaining(["Identity", "Catalog", "Orders", "After-sales", "Webhooks", "Analytics"]),
  );
  expect(await page.locator(".areas a").count()).toBe(areas);
  await picture(page, "The areas and their connections")
    .getByRole("link", { name: /^Orders\s*\d/ })
    .click();
  await expect.poll(() => placeOf(page)).toBe("Orders");
  for (const title of ["Queries", "Mutations", "Subscriptions", "Objects", "Inputs", "Enums"])
    await page.getByRole("heading", { name: title, exact: true }).waitFor();
});

it("the map of types centers a chosen type between incoming and outgoing links, and goes back", async () => {
  const page = await open("?type=Return");
  expect(await placeOf(page)).toBe("Return");
  const drawn = picture(page, "Return: types that refer to it, and types that it refers to");
  const middleOf = async (name: RegExp): Promise<number> => {
    const box = await drawn.getByRole("link", { name }).first().boundingBox();
    return (box?.x ?? 0) + (box?.width ?? 0) / 2;
  };
  const canvas = await drawn.boundingBox();
  const middle = (canvas?.x ?? 0) + (canvas?.width ?? 0) / 2;
  expect(await middleOf(/^Order\b/)).toBeLessThan(middle);
  expect(await middleOf(/^ReturnStatus/)).toBeGreaterThan(middle);
  await drawn.getByRole("link", { name: /^ReturnStatus/ }).click();
  await expect.poll(() => placeOf(page)).toBe("ReturnStatus");
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("ReturnStatus");
  expect(await page.title()).toBe("ReturnStatus – Type map – Commerce Gateway");
  expect(new URL(page.url()).search).toBe("?type=ReturnStatus");
  await page.goBack();
  await expect.poll(() => placeOf(page)).toBe("Return");
  await page.goForward();
  await expect.poll(() => placeOf(page)).toBe("ReturnStatus");
});

it("the map of types has an address for each field, and returns to the position of the last page", async () => {
  const page = await open("?type=Order#timeline");
  const marked = page.locator("li.marked");
  await marked.waitFor();
  expect(await marked.locator("a.part").innerText()).toBe("timeline");
  expect(await marked.evaluate((item) => item === document.activeElement)).toBe(true);
  const isSeen = (): Promise<boolean> =>
    marked.evaluate((item) => {
      const { top, bottom } = item.getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight;
    });
  expect(await isSeen()).toBe(true);
  await page.getByRole("link", { name: "Link to Order.refunds" }).click();
  await expect.poll(() => marked.locator("a.part").innerText()).toBe("refunds");
  expect(page.url()).toMatch(/\?type=Order#refunds$/);
  const scrolled = await page.evaluate(() => scrollY);
  expect(scrolled).toBeGreaterThan(200);
  await marked
    .getByRole("link", { name: /RefundConnection|Refund/ })
    .last()
    .click();
  await expect.poll(() => placeOf(page)).toBe("Refund");
  expect(await page.evaluate(() => scrollY)).toBe(0);
  await page.goBack();
  await expect.poll(() => placeOf(page)).toBe("Order");
  await expect.poll(isSeen).toBe(true);
  await page.goto(`${service.address}/graphql/map#Refund`);
  await expect.poll(() => placeOf(page)).toBe("Refund");
});

it("the map of types describes the picture in words: fields, links, enums and inputs", async () => {
  const page = await open("?type=Query");
  const orders = page.locator(".parts > li").filter({ has: page.locator("a.part", { hasText: /^orders$/ }) });
  expect(await orders.getByRole("link").allInnerTexts()).toEqual(
    expect.arrayContaining(["OrderConnection!", "OrderStatus"]),
  );
  await orders.getByRole("link", { name: "OrderConnection!" }).click();
  // Connection types are skipped: the link leads to their nodes' type.
  await expect.poll(() => placeOf(page)).toBe("Order");
  expect(await page.locator(".references li").allInnerTexts()).toEqual(
    expect.arrayContaining(["Query.order", "Query.orders"]),
  );
  await page.goto(`${service.address}/graphql/map?type=ReturnRequestInput`);
  await expect
    .poll(() => page.locator(".references li").allInnerTexts())
    .toEqual(["Mutation.returnRequest(input)"]);
});

it("the map of types finds types and fields by name, by keyboard alone", async () => {
  const page = await open();
  const search = page.getByLabel("Find a type or a field");
  await search.focus();
  await page.keyboard.type("refund");
  const hits = page.locator(".hits a");
  await expect.poll(() => hits.first().innerText()).toBe("Refund");
  expect(await hits.allInnerTexts()).toContain("Order.refunds");
  await page.keyboard.press("Enter");
  await expect.poll(() => placeOf(page)).toBe("Refund");
  expect(await search.inputValue()).toBe("");
  await search.fill("nothing is called so");
  await page.getByText("No type or field has this name.").waitFor();
});

it("the map of types reports a link to a type that no longer exists", async () => {
  const page = await open("?type=Ordre");
  await page.getByText("The schema has no type of this name.").waitFor();
  await page.getByRole("link", { name: "All areas" }).click();
  await expect.poll(() => placeOf(page)).toBe("All areas");
});

it.each(["light", "dark"] as const)(
  "the map of types is readable and reachable in %s, also on a phone",
  async (colorScheme) => {
    const page = await open("", { colorScheme });
    for (const address of ["", "?type=Order", "?area=Promotions"]) {
      await page.goto(`${service.address}/graphql/map${address}`);
      await page.locator("h2").waitFor();
      for (const width of [1200, 360]) {
        await page.setViewportSize({ width, height: 900 });
        expect(await axeFaults(page)).toEqual([]);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
        await shoot(page, `${colorScheme}-${width}-${address.replace(/\W/g, "") || "overview"}`);
      }
    }
  },
);

it("the map of types links to GraphiQL and the API reference, and uses the tab's token", async () => {
  const page = await open();
  expect(await page.getByRole("link", { name: "Documentation", exact: true }).getAttribute("href")).toBe(
    "/docs",
  );
  await page.getByRole("link", { name: "GraphiQL", exact: true }).click();
  await page.getByRole("button", { name: /^Token… analyst, Lindenhof/ }).waitFor();
});

it("the map of types loads nothing from other origins, and logs no browser errors", () => {
  expect(browser.outside).toEqual([]);
  expect(browser.complaints).toEqual([]);
});
