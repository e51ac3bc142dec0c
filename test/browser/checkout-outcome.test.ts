/**
 * What a buyer sees of the own data, of the language, and after the end of a checkout, in Chromium: in light
 * and dark mode, on a phone and on a desktop.
 */
import { mkdirSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import {
  expectUsable,
  headingOf,
  press,
  typeGermanAddress,
  typeTestCard,
  useCheckout,
} from "./checkout-setup.ts";

const useIt = useCheckout();

/** Takes a picture of the whole page if the environment variable SCREENSHOTS names a folder. */
async function takePicture(page: Page, name: string): Promise<void> {
  const folder = process.env["SCREENSHOTS"];
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}

/** Opens a checkout, enters an address, and selects the first delivery option. */
async function readyToPay(page: Page): Promise<string> {
  const checkout = await useIt().shop.openCheckout({ locale: "en-GB", quantity: 2 });
  await page.goto(checkout.url);
  await typeGermanAddress(page);
  await page.locator(".address button[value=address]:not(.unseen)").click();
  await page.locator("input[name=optionId]").first().click();
  await page.locator("#pay:enabled").waitFor();
  return checkout.url;
}

const rooms = (["light", "dark"] as const).flatMap((colorScheme) =>
  [360, 1200].map((width) => ({ colorScheme, width })),
);

it.each(rooms)(
  "the buyer checks the own data, pays, and reads the order: $colorScheme, $width wide",
  async ({ colorScheme, width }) => {
    const locale = width === 360 ? "de-DE" : "en-GB";
    const context = await useIt().browser.open({ colorScheme, viewport: { width, height: 800 }, locale });
    const page = await context.newPage();
    const picture = (name: string): Promise<void> => takePicture(page, `${name}-${colorScheme}-${width}`);
    const url = await readyToPay(page);
    expect(await page.locator("address").innerText()).toContain("Heidestraße 17\n51147 Köln");
    await expectUsable(page);
    await picture("review");
    await page.goto(`${url}?edit=address`);
    expect(await page.locator("#address-line1").inputValue()).toBe("Heidestraße 17");
    await expectUsable(page);
    await picture("address");
    await page.goto(`${url}?edit=contact`);
    expect(await page.locator("#email").inputValue()).toBe("erika@example.com");
    await expectUsable(page);
    await page.goto(url);
    await typeTestCard(page, "success");
    await page.locator("#pay").click();
    await page.locator(".number").waitFor();
    await page.locator("[data-stay]").click();
    await expectUsable(page);
    await picture("thanks");
    const text = await page.locator("main").innerText();
    for (const part of ["Erika Mustermann", "51147 Köln", "erika@example.com"]) expect(text).toContain(part);
  },
);

it("the buyer stays on the page after the payment, also after loading it again", async () => {
  const context = await useIt().browser.open();
  const page = await context.newPage();
  await page.clock.install();
  const url = await readyToPay(page);
  await typeTestCard(page, "success");
  // From here on, the page's time passes only by runFor, however slow the machine is.
  await page.clock.pauseAt(Date.now() + 60_000);
  await page.locator("#pay").click();
  for (let tries = 0; tries < 60 && (await page.locator(".number").count()) === 0; tries += 1) {
    await page.clock.runFor(1000);
    await page.waitForTimeout(250);
  }
  // The last runFor of the loop may have run on this page already.
  const secondsLeft = async (): Promise<number> =>
    Number.parseInt(await page.locator("[data-seconds]").innerText());
  const before = await secondsLeft();
  expect(before).toBeGreaterThan(5);
  expect(before).toBeLessThanOrEqual(10);
  await page.clock.runFor(3000);
  expect(await secondsLeft()).toBeLessThanOrEqual(before - 3);
  await page.getByRole("link", { name: "Stay on this page" }).click();
  await page.clock.runFor(20_000);
  expect(page.url()).toBe(`${url}?stay`);
  await page.reload();
  await page.clock.runFor(20_000);
  expect([page.url(), await headingOf(page)]).toEqual([`${url}?stay`, "Thank you"]);
  expect(await page.getByRole("button", { name: "Print this page" }).isVisible()).toBe(true);
  await page.emulateMedia({ media: "print" });
  expect(await page.getByRole("link", { name: /^Go back to/ }).isVisible()).toBe(false);
  expect(await page.getByText("Expected delivery:").isVisible()).toBe(true);
  await takePicture(page, "thanks-print");
});

it.each([{ javaScriptEnabled: true }, { javaScriptEnabled: false }])(
  "the buyer changes the language without losing what was typed: %o",
  async ({ javaScriptEnabled }) => {
    const checkout = await useIt().shop.openCheckout({ locale: "en-GB" });
    const context = await useIt().browser.open({ javaScriptEnabled, locale: "en-GB" });
    const page = await context.newPage();
    await page.goto(checkout.url);
    await page.getByLabel("Full name").fill("Erika Mustermann");
    await page.getByRole("button", { name: "Deutsch" }).click();
    await page.getByRole("heading", { level: 1, name: "Kasse" }).waitFor();
    expect(await page.locator("html").getAttribute("lang")).toBe("de");
    expect(await page.getByLabel("Vor- und Nachname").inputValue()).toBe("Erika Mustermann");
    await typeGermanAddress(page);
    await page.keyboard.press("Enter");
    await page.getByText("Heidestraße 17").waitFor();
    await page.goto(checkout.url);
    expect(await headingOf(page)).toBe("Kasse");
  },
);

it("another browser with the same link sees neither address nor e-mail", async () => {
  const page = await (await useIt().browser.open()).newPage();
  const url = await readyToPay(page);
  const other = await (await useIt().browser.open()).newPage();
  for (const query of ["", "?edit=address", "?edit=contact"]) {
    await other.goto(`${url}${query}`);
    expect(await other.content()).not.toMatch(/Mustermann|Heidestra|51147|erika|E\. M\./);
  }
});

it.each(rooms)(
  "the page of a canceled checkout leads back to the shop: $colorScheme, $width wide",
  async ({ colorScheme, width }) => {
    const checkout = await useIt().shop.openCheckout({ locale: "en-GB" });
    const context = await useIt().browser.open({ colorScheme, viewport: { width, height: 800 } });
    const page = await context.newPage();
    await page.goto(checkout.url);
    await press(page, /^Cancel and go back/);
    await page.waitForURL(`${useIt().shop.url}/cart`);
    await page.goto(checkout.url);
    expect(await page.locator("main").innerText()).toContain("open your cart, and check out again.");
    await expectUsable(page);
    await takePicture(page, `canceled-${colorScheme}-${width}`);
    await page.getByRole("link", { name: /^Go back to/ }).click();
    await page.waitForURL(`${useIt().shop.url}/cart`);
  },
);
