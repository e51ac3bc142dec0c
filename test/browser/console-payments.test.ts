/** The console's page on which a merchant in live mode connects its Stripe account, in Chromium. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { type FakeStripe, startFakeStripe } from "#test/stripe/fake-stripe.ts";
import { button, expectUsable, goTo, heading, picture, rows, signIn, useOffice } from "./console-office.ts";
import { views } from "./console-views.ts";

const liveKey = "sk_live_fakeAccountOne4242";
const testKey = "sk_test_fakeAccountOne4242";
const nextLiveKey = "rk_live_fakeAccountOne9876";
const signingSecret = ["whsec", "fakeSigningSecretOfTheConsole"].join("_");

let stripe: FakeStripe;
beforeAll(async () => {
  const account = { id: "acct_1PgafTB7WZ01zgkW", name: "Lindenhof Handels GmbH", isLive: true };
  stripe = await startFakeStripe({
    accounts: { [liveKey]: account, [nextLiveKey]: account, [testKey]: { ...account, isLive: false } },
  });
});
afterAll(() => stripe[Symbol.asyncDispose]());

const office = useOffice(() => ({ STRIPE_API_BASE: stripe.url }));

/** Each test begins with a merchant in live mode that has connected no account. */
beforeEach(async () => {
  const { app, demo } = office();
  const { db } = app.services;
  await db.deleteFrom("paymentConnection").execute();
  await db.updateTable("merchant").set({ mode: "live" }).where("id", "=", demo.merchants.first.id).execute();
});

const typeKeys = async (page: Page, secretKey: string, secret = ""): Promise<void> => {
  await page.getByLabel("Secret key").fill(secretKey);
  await page.getByLabel("Signing secret of the webhook endpoint").fill(secret);
};

const connectionsOf = () =>
  office()
    .app.services.db.selectFrom("paymentConnection")
    .select(["id", "accountId", "keyHint", "hasSigningSecret", "disconnectedAt"])
    .execute();

it.each(views)(
  "a merchant corrects the key, connects the account, enters the signing secret, disconnects: $name",
  async ({ name, options }) => {
    const page = await signIn(office(), "", options);
    await goTo(page, "Installations");
    await rows(page).first().getByRole("link").first().click();
    await page.getByRole("listitem").filter({ hasText: "Payment provider" }).waitFor();
    await page.getByRole("link", { name: "Go to the payments" }).click();
    await heading(page, "Payments").waitFor();
    await page.getByText("No account is connected, so buyers cannot check out.").waitFor();
    await expectUsable(page);
    await picture(page, `payments-none-${name}`);

    for (const [key, fault] of [
      [testKey, "“Secret key” must be a key of the live mode, because the merchant is in live mode."],
      ["pk_live_publishableKey", "must be a secret key (sk_live_… or sk_test_…)"],
      ["sk_live_unknownToStripe1", "Stripe did not accept"],
    ] as const) {
      await typeKeys(page, key);
      await button(page, "Connect the account").click();
      await page.locator(".fault", { hasText: fault }).waitFor();
      // The focus moves to the refused key, and what was typed stays.
      await page.locator("[name=secretKey][aria-invalid=true]:focus").waitFor();
      expect(await page.locator("[name=secretKey]").inputValue()).toBe(key);
    }
    await expectUsable(page);
    await picture(page, `payments-refused-${name}`);
    expect(await connectionsOf()).toEqual([]);

    await typeKeys(page, liveKey);
    await button(page, "Connect the account").click();
    await page.getByText("Saved.", { exact: true }).waitFor();
    const account = page.getByRole("region", { name: "Connected account" });
    const text = (): Promise<string> => account.innerText();
    const [connected] = await connectionsOf();
    for (const part of [
      "Lindenhof Handels GmbH acct_1PgafTB7WZ01zgkW",
      "Live",
      "ends with 4242",
      `${office().address}/payments/stripe/${connected?.id}/events`,
      "checkout.session.completed",
      "Missing",
    ])
      expect(await text()).toContain(part);
    expect(await page.locator("[name=secretKey]").inputValue()).toBe("");
    await expectUsable(page);
    await picture(page, `payments-connected-${name}`);

    await typeKeys(page, nextLiveKey, signingSecret);
    await button(page, "Replace the keys").click();
    await expect.poll(text).toContain("ends with 9876");
    expect(await text()).toContain("Stored");
    await expectUsable(page);
    await picture(page, `payments-complete-${name}`);
    expect(await connectionsOf()).toEqual([{ ...connected, keyHint: "9876", hasSigningSecret: true }]);
    await page.reload();
    await expect.poll(text).toContain("ends with 9876");
    const shown = await page.content();
    for (const secret of [nextLiveKey, signingSecret]) expect(shown).not.toContain(secret);

    await button(page, "Disconnect the account").click();
    const dialog = page.getByRole("dialog", { name: "Disconnect the account?" });
    expect(await dialog.innerText()).toContain("buyers cannot check out until you connect an account again");
    await expectUsable(page);
    await picture(page, `payments-disconnect-${name}`);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    expect(await connectionsOf()).toMatchObject([{ disconnectedAt: null }]);
    await button(page, "Disconnect the account").click();
    await dialog.getByRole("button", { name: "Disconnect" }).click();
    await page.getByText("No account is connected, so buyers cannot check out.").waitFor();
    expect(await account.count()).toBe(0);
    expect(await connectionsOf()).toMatchObject([{ disconnectedAt: expect.any(Date) as Date }]);
  },
);

it("the payments page loads nothing from other origins", () => {
  expect(office().browser.outside).toEqual([]);
});
