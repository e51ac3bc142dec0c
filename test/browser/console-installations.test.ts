/** The console's installations and keys in Chromium: words for people, and first-run states that lead on. */
import { expect, it } from "vitest";
import { createId } from "#foundation/ids.ts";
import { createStaffAccount, validateStaffFieldsAndHashPassword } from "#access/people/staff.ts";
import { runInTransaction } from "#database/transaction.ts";
import {
  button,
  expectUsable,
  goTo,
  heading,
  type Office,
  picture,
  rows,
  signIn,
  useOffice,
} from "./console-office.ts";
import { views } from "./console-views.ts";

const office = useOffice();

/** Signs in as the first staff member of a new merchant, which has no app yet. */
async function newShop(slug: string): Promise<Office> {
  const { app, demo, ...rest } = office();
  const { db } = app.database;
  const merchant = await db
    .selectFrom("merchant")
    .selectAll()
    .where("id", "=", demo.merchants.first.id)
    .executeTakeFirstOrThrow();
  const now = new Date();
  const merchantId = createId("merchant", now.getTime());
  await db
    .insertInto("merchant")
    .values({ ...merchant, id: merchantId, slug, name: "New shop" })
    .execute();
  const staff = { email: `${slug}@shop.example`, password: "a long enough password" };
  const person = await validateStaffFieldsAndHashPassword({ ...staff, name: "Nora" });
  await runInTransaction(db, (transaction) =>
    createStaffAccount(transaction, { merchantId, now }, { merchantId, ...person }),
  );
  return { app, demo: { ...demo, staff }, ...rest };
}

it("the console leads a new shop from the first page to the installed app and its first key", async () => {
  const page = await signIn(await newShop("new-shop"), "/keys");
  await page.getByText("No app is installed yet").waitFor();
  await expectUsable(page);
  await picture(page, "first-keys");
  await page.getByRole("link", { name: "Install an app" }).click();
  await heading(page, "Installations").waitFor();
  await picture(page, "first-installations");
  await button(page, "Install the first app").click();
  const dialog = page.getByRole("dialog", { name: "Install an app" });
  const app = dialog.getByLabel("App").locator("option", { hasText: "Demo integration" });
  await dialog.getByLabel("App").selectOption((await app.getAttribute("value")) ?? "");
  await expectUsable(page);
  await picture(page, "install-app");
  await dialog.getByRole("button", { name: "Install the app" }).click();
  await heading(page, "Demo integration").waitFor();

  // The readiness check leads to the key.
  await page.getByRole("link", { name: "Create an API key" }).click();
  await heading(page, "API keys").waitFor();
  await button(page, "Create the first key").click();
  await page.getByLabel("Name", { exact: true }).fill("First");
  await button(page, "Create the key").click();
  await button(page, "I have stored it").click();
  await rows(page).filter({ hasText: "First" }).getByText("Read carts and orders").waitFor();
  for (const room of ["Carts", "Audit log", "Staff"]) {
    await goTo(page, room);
    await heading(page, room).waitFor();
    await expect.poll(() => page.locator("[aria-busy=true]").count()).toBe(0);
    await expectUsable(page);
    await picture(page, `first-${room.toLowerCase().replace(" ", "-")}`);
  }
});

it("the console resumes a suspended app from its readiness check", async () => {
  const page = await signIn(office(), "/installations");
  await page.getByRole("link", { name: "Demo integration" }).click();
  await button(page, "Suspend").click();
  await button(page, "Suspend the installation").click();
  await button(page, "Resume this app").click();
  await button(page, "Resume the installation").click();
  await page.locator(".facts").getByText("Active", { exact: true }).waitFor();
  expect(await button(page, "Resume this app").count()).toBe(0);
});

it.each(views)(
  "permissions and dates are in words, without accessibility faults: $name",
  async ({ name, options }) => {
    const page = await signIn(office(), "/installations", {
      ...options,
      locale: "de-DE",
      timezoneId: "Asia/Tokyo",
    });
    await page.getByRole("link", { name: "Demo integration" }).click();
    await page.locator(".facts").getByText("Manage webhooks webhooks:write").waitFor();
    await expect.poll(() => page.locator("[aria-busy=true]").count()).toBe(0);
    expect(await page.locator("main").innerText()).not.toMatch(/\bScopes\b|\bEnds\b/);
    await expectUsable(page);
    await picture(page, `installation-words-${name}`);
    await goTo(page, "API keys");
    await rows(page).first().waitFor();
    await expectUsable(page);
    await picture(page, `keys-words-${name}`);
    await button(page, "Create a key").click();
    await page.getByLabel("Manage webhooks (webhooks:write)").waitFor();
    await expectUsable(page);
    await picture(page, `key-create-${name}`);
    await page.goto(`${office().address}/console/carts/${office().demo.carts.revoked}`);
    // German order of day and month, in the time zone of Tokyo.
    await expect
      .poll(() => page.locator(".facts").innerText())
      .toMatch(/\d{1,2}\. \S+, \d\d:\d\d:\d\d GMT\+9/);
  },
);

it("the console uninstalls an app for good, after a confirmation that names what ends", async () => {
  const page = await signIn(await newShop("leaving-shop"), "/installations");
  await button(page, "Install the first app").click();
  await page.getByRole("dialog").getByRole("button", { name: "Install the app" }).click();
  await button(page, "Uninstall").click();
  await page.getByRole("dialog").getByText("This cannot be undone.").waitFor();
  await expectUsable(page);
  await button(page, "Uninstall the app").click();
  await page.locator(".facts").getByText("Uninstalled", { exact: true }).waitFor();
  expect(await button(page, "Change permissions").count()).toBe(0);
  // The app can be installed again.
  await goTo(page, "Installations");
  await button(page, "Install an app").click();
  await page.getByRole("dialog").getByRole("button", { name: "Install the app" }).click();
  await button(page, "Change permissions").waitFor();
});

it("the pages load nothing from other origins, and log no browser errors", () => {
  expect(office().browser.outside).toEqual([]);
  expect(office().browser.complaints).toEqual([]);
});
