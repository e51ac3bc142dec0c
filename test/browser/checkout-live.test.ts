/**
 * A buyer of a live shop in Chromium: from the checkout page to the payment page of the fake Stripe, which is
 * on another site, and back; with and without a script, on a desktop and on a phone.
 */
import { mkdirSync } from "node:fs";
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type FakeStripe, startFakeStripe } from "#test/stripe/fake-stripe.ts";
import { expectUsable, typeGermanAddress, useCheckout } from "./checkout-setup.ts";
import type { OpenedCheckout } from "./checkout-shop.ts";

const liveKey = "sk_live_fakeAccountOne4242";

let stripe: FakeStripe;
beforeAll(async () => {
  stripe = await startFakeStripe({
    accounts: { [liveKey]: { id: "acct_one", name: "Lindenhof", isLive: true } },
  });
});
afterAll(() => stripe[Symbol.asyncDispose]());

const useIt = useCheckout(() => ({ STRIPE_API_BASE: stripe.url }));

beforeAll(async () => {
  const { app, shop } = useIt();
  await app.services.db.updateTable("merchant").set({ mode: "live" }).execute();
  await shop.ask(
    "mutation ($input: PaymentProviderConnectInput!) { paymentProviderConnect(input: $input) { id } }",
    { input: { secretKey: liveKey } },
    "admin",
  );
});

const views: readonly (BrowserContextOptions & { readonly name: string })[] = [
  { name: "desktop", locale: "en-GB", viewport: { width: 1200, height: 800 } },
  { name: "phone", locale: "de-DE", colorScheme: "dark", viewport: { width: 390, height: 844 } },
];

/** Takes a picture of the whole page if the environment variable SCREENSHOTS names a folder. */
async function takePicture(page: Page, name: string): Promise<void> {
  const folder = process.env["SCREENSHOTS"];
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: `${folder}/live-${name}.png`, fullPage: true });
}

interface LiveBuyer {
  readonly page: Page;
  readonly checkout: OpenedCheckout;
}

/** Comes from the shop, and enters an address and a delivery method. */
async function readyToPay(options: BrowserContextOptions): Promise<LiveBuyer> {
  const { shop, browser } = useIt();
  const checkout = await shop.openCheckout({ locale: options.locale ?? "en-GB" });
  const page = await (await browser.open(options)).newPage();
  await page.goto(`${shop.url}/cart`);
  await page.goto(checkout.url);
  await typeGermanAddress(page);
  await page.locator(".address button[value=address]:not(.unseen)").click();
  await page.locator("input[name=optionId]").first().click();
  await page.locator("#pay:enabled").waitFor();
  return { page, checkout };
}

/** Presses the pay button, and waits for the payment page. */
async function goToPaymentPage(page: Page): Promise<void> {
  await page.locator("#pay").click();
  await page.waitForURL(/\/c\/pay\//);
}

const heading = (page: Page, name: string | RegExp): Promise<void> =>
  page.getByRole("heading", { level: 1, name }).waitFor();
const pressAtStripe = (page: Page, name: string): Promise<void> =>
  page.getByRole("button", { name, exact: true }).click();

const paymentsOf = ({ checkout }: LiveBuyer) =>
  useIt()
    .app.services.db.selectFrom("payment")
    .select(["provider", "status"])
    .where("sessionId", "=", checkout.id)
    .orderBy("id")
    .execute();

it.each(views)("a buyer is declined, pays, and is thanked: $name", async ({ name, ...options }) => {
  const buyer = await readyToPay(options);
  const { page, checkout } = buyer;
  expect(await page.locator("#payment input").count()).toBe(0);
  await expectUsable(page);
  await takePicture(page, `ready-${name}`);
  await goToPaymentPage(page);
  await takePicture(page, `stripe-${name}`);
  await pressAtStripe(page, "Pay with a declined card");
  await page.getByRole("alert").getByText("The card was declined.").waitFor();
  await pressAtStripe(page, "Pay with a card that asks the bank");
  await pressAtStripe(page, "Confirm at the bank");
  await heading(page, /^(Thank you|Vielen Dank)$/);
  await page.locator("[data-stay]").click();
  await expectUsable(page);
  await takePicture(page, `thanks-${name}`);
  await page.reload();
  await heading(page, /^(Thank you|Vielen Dank)$/);
  expect(await paymentsOf(buyer)).toEqual([{ provider: "stripe", status: "authorized" }]);
  await page.goto(`${checkout.url}?returned=paid`);
  await heading(page, /^(Thank you|Vielen Dank)$/);
});

it.each(views)(
  "a buyer who comes back without paying opens the payment page again, or changes the order: $name",
  async ({ name, ...options }) => {
    const buyer = await readyToPay(options);
    const { page, checkout } = buyer;
    await goToPaymentPage(page);
    const first = page.url();
    await page.getByRole("link", { name: "Back without paying" }).click();
    await heading(page, /^(You have not paid yet|Sie haben noch nicht bezahlt)$/);
    await expectUsable(page);
    await takePicture(page, `left-${name}`);
    await page.getByRole("link", { name: /^(Open the payment page|Zahlungsseite öffnen)$/ }).click();
    await page.waitForURL(first);

    // The browser's Back button leads to the same choice, and not at once to the payment page again.
    await page.goBack();
    await heading(page, /^(You have not paid yet|Sie haben noch nicht bezahlt)$/);
    await page.getByRole("button", { name: /^(Back to the checkout|Zurück zur Kasse)$/ }).click();
    await heading(page, /^(Checkout|Kasse)$/);
    await takePicture(page, `again-${name}`);
    await goToPaymentPage(page);
    expect(page.url()).not.toBe(first);
    await pressAtStripe(page, "Pay");
    await heading(page, /^(Thank you|Vielen Dank)$/);
    expect(await paymentsOf(buyer)).toEqual([
      { provider: "stripe", status: "canceled" },
      { provider: "stripe", status: "authorized" },
    ]);
    await page.goto(first);
    await heading(page, "This page has expired");
    await page.goto(checkout.url);
    await heading(page, /^(Thank you|Vielen Dank)$/);
  },
);

it("the Back button leads from the payment page to a page that says that nothing is paid", async () => {
  const { page, checkout } = await readyToPay({});
  await goToPaymentPage(page);
  const url = page.url();
  await page.goBack();
  await heading(page, "You have not paid yet");
  expect(page.url()).toBe(`${checkout.url}?returned=canceled`);
  await page.reload();
  await heading(page, "You have not paid yet");
  await page.getByRole("button", { name: "Deutsch" }).click();
  await heading(page, "Sie haben noch nicht bezahlt");
  await page.getByRole("button", { name: "English" }).click();
  await page.getByRole("link", { name: "Open the payment page" }).click();
  await page.waitForURL(url);
});

it("a buyer who returns waits on the page until Stripe answers, also after reloading it", async () => {
  const buyer = await readyToPay({});
  const { page, checkout } = buyer;
  await goToPaymentPage(page);
  stripe.faultOf = ({ method }) => (method === "GET" ? { status: 503 } : undefined);
  await pressAtStripe(page, "Pay");
  await heading(page, "Your payment is being processed");
  await expectUsable(page);
  await takePicture(page, "waiting");
  // Neither a reload nor a link of the page leads to the payment page, which is paid, again.
  await page.reload();
  await heading(page, "Your payment is being processed");
  await page.getByRole("link", { name: "Check now" }).click();
  await heading(page, "Your payment is being processed");
  await page.getByRole("button", { name: "Deutsch" }).click();
  await heading(page, "Ihre Zahlung wird bearbeitet");
  expect(page.url()).toBe(`${checkout.url}?returned=paid`);
  expect(await paymentsOf(buyer)).toEqual([{ provider: "stripe", status: "pending" }]);
  stripe.faultOf = () => undefined;
  await page.reload();
  await heading(page, "Vielen Dank");
  expect(await paymentsOf(buyer)).toEqual([{ provider: "stripe", status: "authorized" }]);
});

it("a buyer pays without a script", async () => {
  const { shop, browser } = useIt();
  const checkout = await shop.openCheckout({ locale: "en-GB" });
  const page = await (await browser.open({ javaScriptEnabled: false })).newPage();
  await page.goto(checkout.url);
  await typeGermanAddress(page);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.locator("input[name=optionId]").first().check();
  await page.locator("[data-delivery]").click();
  await page.locator("#pay:enabled").click();
  await page.waitForURL(/\/c\/pay\//);
  await pressAtStripe(page, "Pay");
  await heading(page, "Thank you");
  expect(await paymentsOf({ page, checkout })).toEqual([{ provider: "stripe", status: "authorized" }]);
});
