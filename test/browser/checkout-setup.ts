/** A service with the demo, a shop and a browser, for the tests of the checkout page. */
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { axeFaults } from "./axe-faults.ts";
import { type Shop, startShop } from "./checkout-shop.ts";
import { type DemoService, openDemoService } from "./demo-service.ts";
import { launchBrowser, type WatchedBrowser } from "./watched-browser.ts";

export interface CheckoutSetup extends DemoService {
  readonly shop: Shop;
  readonly browser: WatchedBrowser;
}

/**
 * Creates one service for a whole test file; every test opens separate browsers. `environment` is called when
 * the service starts.
 */
export function useCheckout(environment: () => Record<string, string> = () => ({})): () => CheckoutSetup {
  let setup: CheckoutSetup | undefined;
  beforeAll(async () => {
    const service = await openDemoService(environment());
    const { app, address, demo } = service;
    const { id } = await app.services.db
      .selectFrom("variant")
      .select("id")
      .where("sku", "=", "KIT-KVERN")
      .executeTakeFirstOrThrow();
    setup = { ...service, shop: await startShop(address, demo, id), browser: await launchBrowser() };
  });
  afterEach(() => setup?.browser.closeAll());
  afterAll(async () => {
    await setup?.browser.close();
    await setup?.shop[Symbol.asyncDispose]();
    await setup?.[Symbol.asyncDispose]();
  });
  return () => {
    if (setup === undefined) throw new Error("The service is there for tests, not for their collection.");
    return setup;
  };
}

export const headingOf = (page: Page): Promise<string> => page.getByRole("heading", { level: 1 }).innerText();

/** Presses a button and waits for the page to which it leads. */
export const press = async (page: Page, name: string | RegExp): Promise<void> =>
  void (await Promise.all([page.waitForEvent("load"), page.getByRole("button", { name }).click()]));

/** Types an address of Germany with an e-mail, in any language of the page. */
export async function typeGermanAddress(page: Page): Promise<void> {
  for (const [name, value] of [
    ["recipientName", "Erika Mustermann"],
    ["line1", "Heidestraße 17"],
    ["postalCode", "51147"],
    ["city", "Köln"],
    ["email", "erika@example.com"],
  ] as const)
    await page.locator(`#address-${name}`).fill(value);
}

/** The numbers of test cards, by what the test provider answers. */
export const testCardNumbers = {
  success: "4242 4242 4242 4242",
  decline: "4000 0000 0000 0002",
  slow: "4000 0000 0000 7726",
  lateSuccess: "4000 0000 0000 5126",
} as const;

/** Types a test card, in any language of the page. */
export async function typeTestCard(page: Page, answer: keyof typeof testCardNumbers): Promise<void> {
  for (const [name, value] of [
    ["cardNumber", testCardNumbers[answer]],
    ["cardExpiry", "12/34"],
    ["cardCvc", "123"],
    ["cardName", "Erika Mustermann"],
  ] as const)
    await page.locator(`[name=${name}]`).fill(value);
}

/** Expects no accessibility fault and no horizontal overflow. */
export async function expectUsable(page: Page): Promise<void> {
  expect(await axeFaults(page)).toEqual([]);
  const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  expect(wide).toBe(room);
}
