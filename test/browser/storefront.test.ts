/**
 * The storefront of clients/storefront in Chromium: a buyer filters products, fills a cart, pays, and
 * requests a return. The page has no backend, only a publishable token.
 */
import { findFreePort } from "#foundation/free-port.ts";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { createServer, type ViteDevServer } from "vite";
import { afterAll, beforeAll, expect, it } from "vitest";
import { expectUsable, press, typeGermanAddress, typeTestCard } from "./checkout-setup.ts";
import { type DemoService, openDemoService } from "./demo-service.ts";
import { launchBrowser, type WatchedBrowser } from "./watched-browser.ts";

const folder = join(import.meta.dirname, "../../clients/storefront");
let service: DemoService;
let browser: WatchedBrowser;
let storefront: ViteDevServer;
let origin = "";

beforeAll(async () => {
  service = await openDemoService();
  browser = await launchBrowser();
  const port = await findFreePort();
  origin = `http://localhost:${port}`;
  const { value: token } = await askAsStaff<{ value: string }>(
    `mutation { internalTokenCreate(input: { name: "Storefront", role: BROWSER,
      allowedOrigins: ["${origin}"] }) { value } }`,
  );
  storefront = await createServer({
    root: folder,
    configFile: false,
    logLevel: "silent",
    server: { host: "localhost", port, strictPort: true },
    define: { settings: JSON.stringify({ url: service.address, token }) },
  });
  await storefront.listen();
});
afterAll(async () => {
  await storefront.close();
  await browser.close();
  await service[Symbol.asyncDispose]();
});

async function askAsStaff<Data>(query: string, variables: object = {}): Promise<Data> {
  const answer = await fetch(`${service.address}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${service.demo.tokens.admin}` },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = (await answer.json()) as { data: Record<string, Data>; errors?: unknown };
  if (errors !== undefined) throw new Error(JSON.stringify(errors));
  return Object.values(data)[0] as Data;
}

/** Ships and delivers the order, as the merchant's staff. */
async function deliver(number: string): Promise<void> {
  const { edges } = await askAsStaff<{ edges: { node: { id: string; lines: { id: string }[] } }[] }>(
    `{ orders(number: "${number}") { edges { node { id lines { id } } } } }`,
  );
  const [order] = edges.map(({ node }) => node);
  if (order === undefined) throw new Error(`There is no order ${number}.`);
  const lines = order.lines.map(({ id: lineId }) => ({ lineId, quantity: 1 }));
  const change = (field: string, target: string, id: string, type: string, input: object) =>
    askAsStaff<{ id: string }>(
      `mutation ($id: ID!, $key: String!, $input: ${type}!) {
        ${field}(${target}: $id, idempotencyKey: $key, input: $input) { id } }`,
      { id, key: randomUUID(), input },
    );
  await change("orderConfirm", "orderId", order.id, "OrderStepInput", {});
  const { id } = await change("fulfillmentCreate", "orderId", order.id, "FulfillmentCreateInput", {
    type: "SHIPPING",
    lines,
  });
  await change("fulfillmentPack", "fulfillmentId", id, "FulfillmentStepInput", {});
  await change("fulfillmentShip", "fulfillmentId", id, "FulfillmentShipInput", {});
  await change("fulfillmentDeliver", "fulfillmentId", id, "FulfillmentStepInput", {});
}

async function photograph(page: Page, name: string): Promise<void> {
  const photos = process.env["SCREENSHOTS"];
  if (photos !== undefined) await page.screenshot({ path: join(photos, `${name}.png`), fullPage: true });
}

it("a buyer filters, fills a cart, pays and requests a return, without a backend", async () => {
  const page = await (await browser.open({ locale: "en-GB" })).newPage();
  await page.goto(origin);
  const products = page.getByRole("list", { name: "Products" }).getByRole("listitem");
  await products.first().waitFor();
  const all = await products.count();
  await page.getByLabel("Search").fill("coffee");
  await expect.poll(() => products.count()).toBeLessThan(all);
  const brand = await page.locator("#brand option").nth(1).getAttribute("value");
  await page.getByLabel("Brand").selectOption(brand);
  await expect.poll(() => page.locator("#brand option").count()).toBeGreaterThan(1);
  await photograph(page, "storefront");
  await expectUsable(page);

  await products.first().getByRole("button", { name: "Add to cart" }).click();
  await page.getByRole("region", { name: "Cart" }).getByText(/^1 × /).waitFor();
  await page.reload();
  await page.getByRole("region", { name: "Cart" }).getByText(/^1 × /).waitFor();

  await Promise.all([
    page.waitForURL(/\/checkout\//),
    page.getByRole("button", { name: "Check out" }).click(),
  ]);
  await typeGermanAddress(page);
  await press(page, "Continue");
  await page.locator("input[name=optionId]").first().click();
  await page.locator("#pay:enabled").waitFor();
  await typeTestCard(page, "success");
  await page.locator("#pay").click();
  await page.getByRole("heading", { level: 1, name: "Thank you" }).waitFor();
  await page.goto(origin);
  const order = page.getByRole("region", { name: "Orders" }).getByRole("listitem");
  await order.getByText(/^Order /).waitFor();
  await page.getByText("The cart is empty.").waitFor();

  const [, number = ""] = /^Order (\S+)/.exec(await order.innerText()) ?? [];
  await deliver(number);
  await page.reload();
  await order.getByRole("button", { name: "Return" }).click();
  await expect
    .poll(async () => `${await order.innerText()} ${await page.getByRole("status").innerText()}`)
    .toMatch(/return (?:REQUESTED|APPROVED)/);
  await photograph(page, "storefront-return");

  // Another browser has another session, which finds no order of this buyer.
  const stranger = await (await browser.open()).newPage();
  await stranger.goto(origin);
  await stranger.getByText("The cart is empty.").waitFor();
  expect(await stranger.getByRole("region", { name: "Orders" }).getByRole("listitem").count()).toBe(0);
});

it("the storefront works on a phone, and says why a request failed", async () => {
  const context = await browser.open({ viewport: { width: 360, height: 740 } });
  const page = await context.newPage();
  await page.goto(origin);
  await page.getByRole("list", { name: "Products" }).getByRole("listitem").first().waitFor();
  await photograph(page, "storefront-phone");
  await expectUsable(page);
  await context.setOffline(true);
  await page.getByLabel("Search").fill("tent");
  await expect.poll(() => page.getByRole("status").innerText()).not.toBe("");
});
