/** The console in Chromium, with a service, a webhook receiver and an app of a separate merchant. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import axe from "axe-core";
import type { BrowserContextOptions, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { type Receiver, startReceiver } from "./console-receiver.ts";
import { type DemoService, openDemoService } from "./demo-service.ts";
import { launchBrowser, type WatchedBrowser } from "./watched-browser.ts";

export interface Office extends DemoService {
  readonly receiver: Receiver;
  readonly browser: WatchedBrowser;
}

/**
 * Creates one office for a whole test file; every test opens separate browsers. `environment` is called when
 * the service starts.
 */
export function useOffice(environment: () => Record<string, string> = () => ({})): () => Office {
  let office: Office | undefined;
  beforeAll(async () => {
    office = {
      ...(await openDemoService(environment())),
      receiver: await startReceiver(),
      browser: await launchBrowser(),
    };
  });
  afterEach(() => office?.browser.closeAll());
  afterAll(async () => {
    await office?.browser.close();
    await office?.receiver[Symbol.asyncDispose]();
    await office?.[Symbol.asyncDispose]();
  });
  return () => {
    if (office === undefined) throw new Error("The office is there for tests, not for their collection.");
    return office;
  };
}

export const heading = (page: Page, name: string): Locator =>
  page.getByRole("heading", { level: 1, name, exact: true });
export const button = (page: Page, name: string): Locator => page.getByRole("button", { name, exact: true });
/** Returns the table's rows without the header. */
export const rows = (page: Page): Locator => page.getByRole("table").first().locator("tbody tr");

export async function signIn(
  { browser, address, demo }: Office,
  path = "",
  options: BrowserContextOptions = {},
): Promise<Page> {
  const page = await (await browser.open(options)).newPage();
  await page.goto(`${address}/console${path}`);
  await page.getByLabel("E-mail address").fill(demo.staff.email);
  await page.getByLabel("Password").fill(demo.staff.password);
  await button(page, "Sign in").click();
  await page.getByRole("navigation", { name: "Console" }).waitFor();
  return page;
}

export const goTo = (page: Page, room: string): Promise<void> =>
  page.getByRole("navigation", { name: "Console" }).getByRole("link", { name: room }).click();

/** Returns the secret that the dialog shows once. */
export const copied = async (page: Page, label: string): Promise<string> =>
  (await page.getByLabel(label, { exact: true }).innerText()).trim();

export async function createKey(page: Page, name: string): Promise<string> {
  await goTo(page, "API keys");
  await button(page, "Create a key").click();
  await page.getByLabel("Name", { exact: true }).fill(name);
  await button(page, "Create the key").click();
  const key = await copied(page, "The key");
  await button(page, "I have stored it").click();
  return key;
}

export async function registerEndpoint(page: Page, url: string): Promise<void> {
  await goTo(page, "Webhooks");
  await button(page, "Register an endpoint").click();
  await page.getByLabel("Address", { exact: true }).fill(url);
  await button(page, "Register").click();
  expect(await copied(page, "Signing secret")).toMatch(/^whsec_/);
  await button(page, "I have stored it").click();
  await heading(page, url.replace("http://", "")).waitFor();
}

export const callWith = ({ address }: Office, key: string, path: string, body?: unknown): Promise<Response> =>
  fetch(`${address}/api/v1/open/${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "idempotency-key": crypto.randomUUID(),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

export async function revokeCart(office: Office, key: string, cartId: string): Promise<void> {
  const { data } = (await (await callWith(office, key, `storefront/carts/${cartId}`)).json()) as {
    data: { version: number };
  };
  expect(
    (await callWith(office, key, `storefront/carts/${cartId}/revoke`, { expectedVersion: data.version }))
      .status,
  ).toBe(200);
}

export async function expectUsable(page: Page): Promise<void> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() =>
    (window as unknown as { axe: typeof axe }).axe.run(document, { resultTypes: ["violations"] }),
  );
  expect(
    violations.map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes.map(({ html }) => html).join(" ")}`),
  ).toEqual([]);
  const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  expect(wide).toBe(room);
}

export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env["SCREENSHOTS"];
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `console-${name}.png`), fullPage: true });
}
