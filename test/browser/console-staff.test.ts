/** The console's staff and audit pages in Chromium: inviting, passwords, disabling, and who did what. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import {
  button,
  callWith,
  copied,
  createKey,
  expectUsable,
  goTo,
  heading,
  type Office,
  picture,
  revokeCart,
  rows,
  signIn,
  useOffice,
} from "./console-office.ts";
import { views } from "./console-views.ts";

const office = useOffice();

async function invite(page: Page, name: string, email: string): Promise<string> {
  await goTo(page, "Staff");
  await button(page, "Invite a colleague").click();
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByLabel("E-mail address", { exact: true }).fill(email);
  await button(page, "Create the account").click();
  await page.getByRole("dialog", { name: `${name} can sign in now` }).waitFor();
  const password = await copied(page, "Password");
  await button(page, "I have stored it").click();
  await rows(page).filter({ hasText: email }).waitFor();
  return password;
}

const signInAs = (email: string, password: string, path = ""): Promise<Page> => {
  const { demo, ...rest } = office();
  const other: Office = { ...rest, demo: { ...demo, staff: { email, password } } };
  return signIn(other, path);
};

it("the console invites a colleague, who signs in, and explains a bad or used e-mail address", async () => {
  const page = await signIn(office(), "/staff");
  // With a single account, the console refuses to lock everyone out.
  await page.getByRole("button", { name: /^Disable / }).click();
  await page.getByRole("dialog", { name: "This is the only admin" }).waitFor();
  await expectUsable(page);
  await button(page, "Keep the account").click();
  await page.getByRole("button", { name: /^Role / }).click();
  await page.getByRole("dialog", { name: "This is the only admin" }).waitFor();
  await expectUsable(page);
  await button(page, "Keep the role").click();

  await button(page, "Invite a colleague").click();
  await page.getByLabel("Name", { exact: true }).fill("Grace Holm");
  const email = page.getByLabel("E-mail address", { exact: true });
  await email.fill("grace at shop");
  await button(page, "Create the account").click();
  await page.getByText("The e-mail address must have the form name@domain.example").waitFor();
  await expect.poll(() => email.evaluate((element) => element === document.activeElement)).toBe(true);
  await email.fill(office().demo.staff.email);
  await button(page, "Create the account").click();
  await page.getByText("Another account has this e-mail address.").waitFor();
  expect(await email.getAttribute("aria-invalid")).toBe("true");
  await picture(page, "staff-refused");
  await button(page, "Cancel").click();

  const password = await invite(page, "Grace Holm", "grace@shop.example");
  expect(password.length).toBeGreaterThanOrEqual(12);
  expect(await page.content()).not.toContain(password);
  const hers = await signInAs("grace@shop.example", password, "/staff");
  await rows(hers).filter({ hasText: "Grace Holm" }).getByText("You", { exact: true }).waitFor();
});

it("the console makes a colleague an analyst, who sees only the reports, exports and the branding", async () => {
  const page = await signIn(office(), "/staff");
  const password = await invite(page, "Ada Ruiz", "ada@shop.example");
  const hers = await signInAs("ada@shop.example", password);
  await button(page, "Role Ada Ruiz").click();
  await page.getByRole("combobox", { name: "Role" }).selectOption("ANALYST");
  await expectUsable(page);
  await picture(page, "staff-role");
  await button(page, "Save the role").click();
  await rows(page).filter({ hasText: "Ada Ruiz" }).getByText("Analyst").waitFor();
  await hers.reload();
  await heading(hers, "Sign in").waitFor();

  const analyst = await signInAs("ada@shop.example", password);
  await heading(analyst, "Reports").waitFor();
  await analyst.getByRole("table", { name: "Totals in EUR" }).waitFor();
  const links = analyst.getByRole("navigation", { name: "Console" }).getByRole("link");
  expect(await links.allInnerTexts()).toEqual(["Reports", "Exports", "Branding"]);
  expect(await analyst.getByRole("searchbox").count()).toBe(0);
  await expectUsable(analyst);
  await picture(analyst, "analyst");
  await goTo(analyst, "Branding");
  await analyst.getByAltText("Logo of Lindenhof").waitFor();
  const fields = analyst.getByRole("main").getByRole("textbox");
  expect(await fields.count()).toBe(8);
  expect(await analyst.locator("main input:not([readonly])").count()).toBe(0);
  expect(await analyst.getByRole("main").getByRole("button").count()).toBe(0);
  await expectUsable(analyst);
  await picture(analyst, "analyst-branding");
  await analyst.goto(`${office().address}/console/orders`);
  await heading(analyst, "Your role has no access to this page").waitFor();
  await analyst.getByRole("link", { name: "Go to the reports" }).click();
  await heading(analyst, "Reports").waitFor();
});

it("the console sets a colleague's password, which ends the sessions and on request the grants", async () => {
  const page = await signIn(office(), "/staff");
  const old = await invite(page, "Alan Reed", "alan@shop.example");
  const his = await signInAs("alan@shop.example", old);
  await button(page, "New password Alan Reed").click();
  const typed = page.getByLabel("Password (optional)");
  await typed.fill("short");
  await button(page, "Set the password").click();
  await page.getByText("The password must have 12 to 256 characters.").waitFor();
  await typed.fill("");
  await page.getByLabel("Also take back the access that Alan Reed gave to apps").check();
  await expectUsable(page);
  await button(page, "Set the password").click();
  const next = await copied(page, "Password");
  expect(next).not.toBe(old);
  await button(page, "I have stored it").click();
  await his.reload();
  await heading(his, "Sign in").waitFor();
  await his.getByLabel("E-mail address").fill("alan@shop.example");
  await his.getByLabel("Password").fill(old);
  await button(his, "Sign in").click();
  await his.getByText("The e-mail address or the password is wrong.").first().waitFor();
  await signInAs("alan@shop.example", next);
});

it("the console disables and enables an account, and warns before the own account is disabled", async () => {
  const page = await signIn(office(), "/staff");
  const password = await invite(page, "Lin Moe", "lin@shop.example");
  const row = rows(page).filter({ hasText: "Lin Moe" });
  await button(page, "Disable Lin Moe").click();
  await button(page, "Disable the account").click();
  await row.getByText("Disabled", { exact: true }).waitFor();
  await button(page, "Enable Lin Moe").click();
  await button(page, "Enable the account").click();
  await row.getByText("Active", { exact: true }).waitFor();

  const hers = await signInAs("lin@shop.example", password, "/staff");
  await button(hers, "Disable Lin Moe").click();
  await hers.getByText("This is your own account.").waitFor();
  await expectUsable(hers);
  await button(hers, "Disable my account").click();
  await heading(hers, "Sign in").waitFor();
  await page.reload();
  await row.getByText("Disabled", { exact: true }).waitFor();
});

it("the console shows a new password for oneself before the session ends", async () => {
  const page = await signIn(office(), "/staff");
  const password = await invite(page, "Kim Dahl", "kim@shop.example");
  const own = await signInAs("kim@shop.example", password, "/staff");
  await button(own, "New password Kim Dahl").click();
  await own.getByText("You are signed out everywhere, also here").waitFor();
  await button(own, "Set the password").click();
  const next = await copied(own, "Password");
  expect(next).not.toBe(password);
  await button(own, "I have stored it").click();
  await heading(own, "Sign in").waitFor();
  await signInAs("kim@shop.example", next);
});

const entriesOf = (page: Page) =>
  page.getByRole("list", { name: "Audit entries, the newest first" }).locator(":scope > li");

it("the audit log says who did what, and filters by actor, action and day in the address", async () => {
  const { demo } = office();
  const page = await signIn(office());
  const key = await createKey(page, "Audited key");
  await revokeCart(office(), key, demo.carts.activeSecond);
  await goTo(page, "Audit log");
  const entries = entriesOf(page);
  await entries
    .filter({ hasText: /^.*Demo integration, with the key “Audited key” \(….{4}\), revoked the cart cart_/s })
    .waitFor();
  const created = entries.filter({ hasText: "created the API key" }).first();
  await created.getByText("Details").click();
  await created.getByText("apiKeyCreate").waitFor();
  await created.getByLabel("Recorded details").getByText('"fields"').waitFor();

  await page.getByLabel("Did what").selectOption("created the API key");
  await expect.poll(() => new URL(page.url()).search).toBe("?action=apiKeyCreate");
  await expect
    .poll(() => entries.allInnerTexts())
    .toSatisfy(
      (texts: string[]) => texts.length > 0 && texts.every((text) => text.includes("created the API key")),
    );
  await page.getByLabel("Did what").selectOption("");
  await page.getByLabel("Who").selectOption(await optionWith(page, "Audited key"));
  await expect.poll(() => entries.count()).toBe(1);
  await page.reload();
  await expect.poll(() => entries.count()).toBe(1);

  // Days are those of the reader. Nothing can have happened tomorrow.
  await page.goto(`${office().address}/console/audit`);
  await entries.first().waitFor();
  const day = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  await page.getByLabel("From").fill(day(0));
  await entries.first().waitFor();
  await page.getByLabel("From").fill(day(2));
  await page.getByText("No entry matches these filters.").waitFor();
  await button(page, "Clear the filters").click();
  await entries.first().waitFor();
  expect(new URL(page.url()).search).toBe("");

  // The actor's name leads to everything that the actor did.
  await entries
    .filter({ hasText: "Audited key" })
    .getByRole("link", { name: "“Audited key”" })
    .first()
    .click();
  await expect.poll(() => entries.count()).toBe(1);
  const { status } = await callWith(office(), key, "identity");
  expect(status).toBe(200);
});

const optionWith = async (page: Page, text: string): Promise<string> =>
  (await page.getByLabel("Who").locator("option", { hasText: text }).getAttribute("value")) ?? "";

it("the audit log has pages", async () => {
  const { app, demo } = office();
  const rowsOf = Array.from({ length: 25 }, (_, index) => ({
    id: `aud_${String(index).padStart(26, "0")}`,
    merchantId: demo.merchants.first.id,
    at: new Date(0),
    actor: "system" as const,
    actorId: null,
    action: "stockAdjust",
    targetId: null,
    details: "{}",
  }));
  await app.database.db.insertInto("auditEntry").values(rowsOf).execute();
  const page = await signIn(office(), "/audit?action=stockAdjust&by=system");
  await expect.poll(() => entriesOf(page).count()).toBe(20);
  await button(page, "Older").click();
  await expect.poll(() => entriesOf(page).count()).toBe(5);
  expect(await entriesOf(page).last().innerText()).toContain("The service adjusted the stock.");
  await button(page, "Newer").click();
  await expect.poll(() => entriesOf(page).count()).toBe(20);
});

it.each(views)("the staff and audit pages have no accessibility faults: $name", async ({ name, options }) => {
  const page = await signIn(office(), "/staff", options);
  await rows(page).first().waitFor();
  await expectUsable(page);
  await picture(page, `staff-${name}`);
  await button(page, "Invite a colleague").click();
  await expectUsable(page);
  await picture(page, `staff-invite-${name}`);
  await button(page, "Cancel").click();
  await goTo(page, "Audit log");
  await entriesOf(page).first().waitFor();
  await entriesOf(page).first().getByText("Details").click();
  await expectUsable(page);
  await picture(page, `audit-${name}`);
});

it("the staff and audit pages load nothing from other origins, and log no browser errors", () => {
  expect(office().browser.outside).toEqual([]);
  expect(office().browser.complaints).toEqual([]);
});
