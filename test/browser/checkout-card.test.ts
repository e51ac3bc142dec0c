/**
 * Paying by test card in Chromium: the card form, the bank's confirmation (3-D Secure), and a connection that
 * is lost while paying; in light and dark mode, and on a phone.
 */
import { join } from "node:path";
import type { BrowserContextOptions, Page } from "playwright-core";
import { expect, it } from "vitest";
import { expectUsable, typeGermanAddress, useCheckout } from "./checkout-setup.ts";
import type { OpenedCheckout } from "./checkout-shop.ts";

const useIt = useCheckout();

const waysOfLooking: readonly [name: string, options: BrowserContextOptions][] = [
  ["light", { colorScheme: "light" }],
  ["dark", { colorScheme: "dark" }],
  ["phone", { viewport: { width: 360, height: 740 } }],
];

const heading = (page: Page, name: string): Promise<void> =>
  page.getByRole("heading", { level: 1, name }).waitFor();

/** Opens a checkout with address and delivery method, ready to pay. */
async function readyToPay(options: BrowserContextOptions): Promise<{ page: Page; checkout: OpenedCheckout }> {
  const { shop, browser } = useIt();
  const checkout = await shop.openCheckout({ locale: "en-GB" });
  const page = await (await browser.open({ locale: "en-GB", ...options })).newPage();
  await page.goto(checkout.url);
  await typeGermanAddress(page);
  await page.locator(".address button[value=address]:not(.unseen)").click();
  const first = page.locator("input[name=optionId]").first();
  if (!(await first.isChecked())) await first.click();
  if (options.javaScriptEnabled === false)
    await Promise.all([page.waitForURL(/changed#pay/), page.locator("[data-delivery]").click()]);
  await page.locator("#pay:enabled").waitFor();
  return { page, checkout };
}

async function expectGood(page: Page, name: string): Promise<void> {
  const folder = process.env["SCREENSHOTS"];
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
  await expectUsable(page);
}

async function typeCard(page: Page, number: string): Promise<void> {
  await page.getByLabel("Card number").fill("");
  await page.getByLabel("Card number").pressSequentially(number);
  await page.getByLabel(/^Expiry/).fill("");
  await page.getByLabel(/^Expiry/).pressSequentially("1234");
  await page.getByLabel("Security code").fill("123");
  await page.getByLabel("Name on card").fill("Erika Mustermann");
}

const paymentsOf = ({ id }: OpenedCheckout) =>
  useIt().app.services.db.selectFrom("payment").select(["status"]).where("sessionId", "=", id).execute();

it.each(waysOfLooking)(
  "a buyer corrects the card, confirms with the bank, and pays: %s",
  async (name, options) => {
    const { page, checkout } = await readyToPay(options);
    await typeCard(page, "4111111111111111");
    expect(await page.getByLabel("Card number").inputValue()).toBe("4111 1111 1111 1111");
    expect(await page.getByLabel(/^Expiry/).inputValue()).toBe("12/34");
    await page.locator("#pay").click();
    await page.getByRole("alert").getByText("This is a test shop: use a test card number").waitFor();
    expect(await page.getByLabel("Card number").inputValue()).toBe("4111 1111 1111 1111");
    await expectGood(page, `card-refused-${name}`);

    await page.getByText("Test cards").click();
    await expectGood(page, `card-list-${name}`);
    await page.getByRole("button", { name: "Fill in 4000 0025 0000 3155" }).click();
    expect(await page.getByLabel("Card number").inputValue()).toBe("4000 0025 0000 3155");
    await page.locator("#pay").click();
    await heading(page, "Your bank asks you to confirm");
    await expectGood(page, `challenge-${name}`);
    await page.reload();
    await heading(page, "Your bank asks you to confirm");
    await page.goBack();
    await page.goto(checkout.url);
    await heading(page, "Your bank asks you to confirm");
    await page.getByRole("button", { name: "Fail the confirmation" }).click();
    await page.getByRole("alert").getByText("Your bank did not confirm the payment.").waitFor();

    await typeCard(page, "4000000000003220");
    await page.locator("#pay").click();
    await page.getByRole("button", { name: "Confirm the payment" }).dblclick();
    await heading(page, "Thank you");
    expect(await paymentsOf(checkout)).toEqual([{ status: "failed" }, { status: "authorized" }]);
  },
);

it("a buyer pays with a test card without a script", async () => {
  const { page, checkout } = await readyToPay({ javaScriptEnabled: false });
  await page.getByLabel("Card number").fill("4000-0000-0000-3220");
  await page.getByLabel(/^Expiry/).fill("12 / 2034");
  await page.getByLabel("Security code").fill("123");
  await page.getByLabel("Name on card").fill("Erika Mustermann");
  await page.locator("#pay").click();
  await heading(page, "Your bank asks you to confirm");
  await page.getByRole("button", { name: "Confirm the payment" }).click();
  await heading(page, "Thank you");
  expect(await paymentsOf(checkout)).toEqual([{ status: "authorized" }]);
});

it.each(waysOfLooking)(
  "a payment that goes offline is sent again by itself, once: %s",
  async (name, options) => {
    const { page, checkout } = await readyToPay(options);
    await typeCard(page, "4242424242424242");
    await page.context().setOffline(true);
    await page.locator("#pay").click();
    await page.getByText("You pay at most once.").waitFor();
    expect(await page.getByLabel("Card number").inputValue()).toBe("4242 4242 4242 4242");
    expect(await paymentsOf(checkout)).toEqual([]);
    await expectGood(page, `offline-${name}`);
    await page.context().setOffline(false);
    await heading(page, "Thank you");
    expect(await paymentsOf(checkout)).toEqual([{ status: "authorized" }]);
  },
);

it("a payment whose answer is lost is not paid twice", async () => {
  const { page, checkout } = await readyToPay({});
  await typeCard(page, "4242424242424242");
  let sent = 0;
  await page.route(checkout.url, async (route) => {
    if (route.request().method() !== "POST") return route.continue();
    sent += 1;
    // The service gets the payment, but the browser never gets the answer.
    await route.fetch({ maxRedirects: 0 });
    return route.abort("connectionreset");
  });
  await page.locator("#pay").click();
  await heading(page, "Thank you");
  expect([sent, await paymentsOf(checkout)]).toEqual([1, [{ status: "authorized" }]]);
});
