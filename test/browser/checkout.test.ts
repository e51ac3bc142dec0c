/**
 * Checking out in Chromium as a buyer: with and without scripts, in light and dark mode, on a phone and on a
 * desktop.
 */
import type { Locator, Page } from "playwright-core";
import { expect, it } from "vitest";
import {
  expectUsable,
  headingOf,
  press,
  typeGermanAddress,
  typeTestCard,
  useCheckout,
} from "./checkout-setup.ts";
import type { OpenedCheckout } from "./checkout-shop.ts";

const useIt = useCheckout();

async function orderOf({
  id,
}: OpenedCheckout): Promise<{ number: string; status: string; paymentStatus: string } | null> {
  const { hostedCheckoutSession: session } = await useIt().shop.ask<{
    hostedCheckoutSession: { orderId: string | null };
  }>("query ($id: ID!) { hostedCheckoutSession(id: $id) { orderId } }", { id });
  if (session.orderId === null) return null;
  const { order } = await useIt().shop.ask<{
    order: { number: string; status: string; paymentStatus: string };
  }>("query ($id: ID!) { order(id: $id) { number status paymentStatus } }", { id: session.orderId }, "admin");
  return order;
}

it.each([
  { how: "with a script", javaScriptEnabled: true },
  { how: "without a script", javaScriptEnabled: false },
])(
  "a buyer pays after a wrong address and a declined card, and returns to the shop: $how",
  async ({ javaScriptEnabled }) => {
    const checkout = await useIt().shop.openCheckout({ locale: "en-GB", quantity: 2 });
    const context = await useIt().browser.open({ javaScriptEnabled });
    const page = await context.newPage();
    await page.goto(checkout.url);
    expect(await headingOf(page)).toBe("Checkout");
    await typeGermanAddress(page);
    await page.getByLabel("Postal code").fill("1");
    await press(page, "Continue");
    const alert = page.getByRole("alert");
    expect(await alert.getByRole("link").allInnerTexts()).toEqual([
      "Check the postal code. An example for Germany: 10115.",
    ]);
    expect(await page.getByLabel("Street and house number").inputValue()).toBe("Heidestraße 17");
    await alert.getByRole("link").click();
    expect(await page.locator("#address-postalCode:focus").count()).toBe(1);
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.type("51147");
    await press(page, "Continue");
    await page.getByText("Heidestraße 17").waitFor();

    if (javaScriptEnabled) {
      await page.getByLabel(/Express/).click();
      await page.getByRole("button", { name: /^Pay / }).waitFor();
      expect(await page.getByLabel(/Express/).isChecked()).toBe(true);
    } else {
      await page.getByLabel(/Express/).check();
      await press(page, "Use this delivery method");
    }
    await typeTestCard(page, "decline");
    await page.locator("#pay").click();
    await page.getByRole("alert").getByText("The card was declined.").waitFor();
    await typeTestCard(page, "slow");
    await page.locator("#pay").click();
    await page.getByRole("heading", { name: "Your payment is being processed" }).waitFor();
    await page.getByRole("heading", { name: "Thank you" }).waitFor();
    const order = await orderOf(checkout);
    expect(order).toMatchObject({ status: "PENDING", paymentStatus: "AUTHORIZED" });
    expect(await page.locator("main").innerText()).toContain(`Your order ${order?.number} has been placed.`);
    await page.waitForURL(`${useIt().shop.url}/thanks`);
    expect(useIt().shop.visits.at(-1)).toEqual({ path: "/thanks", referrer: undefined });
    const events = await useIt()
      .app.services.db.selectFrom("event")
      .select("type")
      .where("subjectId", "=", checkout.id)
      .orderBy("id")
      .execute();
    expect(events.map(({ type }) => type)).toEqual([
      "checkout_session.created",
      "checkout_session.processing",
      "checkout_session.payment_failed",
      "checkout_session.processing",
      "checkout_session.completed",
    ]);
  },
);

it("the checkout page shows errors at fields, asks for another country's fields, and cancels", async () => {
  const checkout = await useIt().shop.openCheckout({ country: "US", locale: "en-US" });
  const page = await (await useIt().browser.open()).newPage();
  await page.goto(checkout.url);
  await page.getByLabel("Full name").fill("Ada Example");
  await page.getByLabel("Phone").fill("12");
  await page.keyboard.press("Tab");
  await page.getByText("Enter the phone number with + and the country code.").waitFor();
  expect(await page.getByLabel("Phone").getAttribute("aria-invalid")).toBe("true");
  await page.getByLabel("Phone").fill("+14155550100");
  await page.keyboard.press("Tab");
  await page.getByText("Enter the phone number with + and the country code.").waitFor({ state: "hidden" });
  await page.getByLabel("State").selectOption("US-CA");
  expect(await page.getByLabel("Full name").inputValue()).toBe("Ada Example");
  await press(page, /^Cancel and go back/);
  await page.waitForURL(`${useIt().shop.url}/cart`);
  expect(useIt().shop.visits.at(-1)).toEqual({ path: "/cart", referrer: undefined });
  await page.goto(checkout.url);
  expect(await headingOf(page)).toBe("This checkout was canceled");
});

async function addressed(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await typeGermanAddress(page);
  await press(page, "Continue");
}

/** Holds back answers until the returned function releases them. */
async function holdAnswers(page: Page, url: string): Promise<() => void> {
  let letGo = (): void => {};
  const isFree = new Promise<void>((resolve) => (letGo = resolve));
  await page.route(url, async (route) => {
    if (route.request().method() === "POST") await isFree;
    await route.continue().catch(() => {});
  });
  return letGo;
}

it("the checkout page applies the last of several quick choices, and loses no input", async () => {
  const checkout = await useIt().shop.openCheckout({ locale: "en-GB", quantity: 2 });
  const page = await (await useIt().browser.open()).newPage();
  await addressed(page, checkout.url);
  await page.getByLabel(/Standard/).click();
  await page.locator("#pay:enabled").waitFor();
  await page.getByLabel("Promotion code").fill("LATER");
  const letGo = await holdAnswers(page, checkout.url);
  await page.getByLabel(/Express/).click();
  expect(await page.locator("#pay").isDisabled()).toBe(true);
  await typeTestCard(page, "slow");
  await page.getByLabel(/Pick up/).click();
  letGo();
  await page.locator("#pay:enabled").waitFor();
  expect(await page.getByLabel(/Pick up/).isChecked()).toBe(true);
  expect(await page.getByLabel("Promotion code").inputValue()).toBe("LATER");
  expect(await page.locator("[name=cardName]").inputValue()).toBe("Erika Mustermann");
  await page.locator("#pay").click();
  await page.getByRole("heading", { name: "Your payment is being processed" }).waitFor();
});

it("the checkout page keeps a name that is typed while another country is requested", async () => {
  const checkout = await useIt().shop.openCheckout({ locale: "en-GB" });
  const page = await (await useIt().browser.open()).newPage();
  await page.goto(checkout.url);
  const letGo = await holdAnswers(page, checkout.url);
  await page.getByLabel("Country").selectOption("AT");
  await page.getByLabel("Full name").fill("Erika Mustermann");
  const answered = page.waitForResponse((response) => response.request().method() === "POST");
  letGo();
  await (await answered).finished();
  await page.locator("main:not([data-held])").waitFor();
  expect(await page.getByLabel("Country").inputValue()).toBe("AT");
  expect(await page.getByLabel("Full name").inputValue()).toBe("Erika Mustermann");
});

it("the checkout page lets a buyer give up a slow payment without reloading by hand", async () => {
  const checkout = await useIt().shop.openCheckout({ locale: "en-GB" });
  const page = await (await useIt().browser.open()).newPage();
  await addressed(page, checkout.url);
  await page.getByLabel(/Standard/).click();
  await page.locator("#pay:enabled").waitFor();
  await typeTestCard(page, "lateSuccess");
  await page.locator("#pay").click();
  await page.locator(".waiting").waitFor();
  const submittedAt = new Date(Date.now() - 57_000);
  await useIt()
    .app.services.db.updateTable("hostedCheckoutSession")
    .set({ submittedAt })
    .where("id", "=", checkout.id)
    .execute();
  await page.reload();
  await page.getByRole("button", { name: "Stop waiting" }).click();
  expect(await page.locator("#faults").innerText()).toContain("You stopped waiting for the payment.");
});

it("the checkout page does not lead forward again after Back", async () => {
  const checkout = await useIt().shop.openCheckout({ locale: "en-GB" });
  const page = await (await useIt().browser.open()).newPage();
  await page.goto(checkout.url);
  await press(page, /^Cancel and go back/);
  await page.waitForURL(`${useIt().shop.url}/cart`);
  await page.goBack();
  expect([page.url(), await headingOf(page)]).toEqual([checkout.url, "This checkout was canceled"]);
});

const fillOf = (button: Locator): Promise<string> =>
  button.evaluate((element) => getComputedStyle(element).backgroundColor);

const rooms = (["light", "dark"] as const).flatMap((colorScheme) =>
  [360, 1200].map((width) => ({ colorScheme, width })),
);

it.each(rooms)(
  "the checkout page is accessible: $colorScheme, $width wide",
  async ({ colorScheme, width }) => {
    const checkout = await useIt().shop.openCheckout({
      locale: width === 360 ? "de-DE" : "en-GB",
      quantity: 3,
    });
    const locale = width === 360 ? "de-DE" : "en-GB";
    const context = await useIt().browser.open({ colorScheme, viewport: { width, height: 800 }, locale });
    const page = await context.newPage();
    await page.goto(checkout.url);
    await expectUsable(page);
    expect(await page.locator("#order-fold .lines").isVisible()).toBe(width > 360);
    await page.locator(".address button[value=address]:not(.unseen)").click();
    await page.locator("#faults").waitFor();
    await expectUsable(page);
    await typeGermanAddress(page);
    await page.locator(".address button[value=address]:not(.unseen)").click();
    const disabledColor = await fillOf(page.locator("#pay:disabled"));
    await page.locator("input[name=optionId]").first().click();
    await page.locator("#pay:enabled").waitFor();
    await expectUsable(page);
    expect(await fillOf(page.locator("#pay"))).toBe("rgb(122, 62, 29)");
    expect(disabledColor).not.toBe("rgb(122, 62, 29)");
    await typeTestCard(page, "lateSuccess");
    await page.locator("#pay").click();
    await page.locator(".waiting").waitFor();
    await expectUsable(page);
    await page.goto(checkout.url.replace(/[\w-]+$/, "A".repeat(43)));
    await expectUsable(page);
  },
);

it("the checkout page loads nothing from other origins, and logs no browser errors", () => {
  expect(useIt().browser.outside).toEqual([]);
  const isRefusal = (text: string): boolean =>
    /^Failed to load resource: the server responded with a status of (404|410)/.test(text);
  expect(useIt().browser.complaints.filter((text) => !isRefusal(text))).toEqual([]);
});
