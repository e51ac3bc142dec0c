/** The console's page with tax classes and tax rates, in Chromium. */
import type { Page } from "playwright-core";
import { afterEach, expect, it } from "vitest";
import { button, expectUsable, goTo, heading, picture, signIn, useOffice } from "./console-office.ts";
import { views } from "./console-views.ts";

const office = useOffice();

interface StoredRate {
  readonly taxClass: string;
  readonly basisPoints: number;
  readonly validFrom: unknown;
}

const ratesOf = (country: string): Promise<StoredRate[]> =>
  office()
    .app.services.db.selectFrom("taxRate")
    .innerJoin("market", "market.id", "taxRate.marketId")
    .select(["taxRate.taxClass", "taxRate.basisPoints", "taxRate.validFrom"])
    .where("taxRate.country", "=", country)
    .where("market.merchantId", "=", office().demo.merchants.first.id)
    .orderBy("taxRate.validFrom", (order) => order.asc().nullsFirst())
    .execute();

const addedClass = "books";
afterEach(async () => {
  const { db } = office().app.services;
  await db.deleteFrom("taxRate").where("taxClass", "=", addedClass).execute();
  await db.deleteFrom("taxClass").where("code", "=", addedClass).execute();
});

async function openTaxes(page: Page): Promise<void> {
  await goTo(page, "Taxes");
  await heading(page, "Taxes").waitFor();
  await page.getByRole("heading", { level: 2, name: "Tax classes" }).waitFor();
}

it.each(views)(
  "staff add a tax class and its rate, correct a wrong percentage, and change the rate later: $name",
  async ({ name, options }) => {
    const page = await signIn(office(), "", options);
    await openTaxes(page);
    await expectUsable(page);
    await picture(page, `taxes-${name}`);

    await button(page, "Add a tax class").click();
    const classDialog = page.getByRole("dialog", { name: "Add a tax class" });
    await classDialog.getByLabel("Name").fill("Books");
    await classDialog.getByLabel("Code").fill("Books & more");
    await classDialog.getByRole("button", { name: "Save the class" }).click();
    await classDialog.locator("[name=code][aria-invalid=true]:focus").waitFor();
    await classDialog.getByLabel("Code").fill(addedClass);
    await classDialog.getByRole("button", { name: "Save the class" }).click();
    await page.getByRole("cell", { name: addedClass, exact: true }).waitFor();

    const market = page.getByRole("region").filter({ hasText: "Prices in EUR" }).first();
    await market.getByRole("button", { name: /^Add a rate to / }).click();
    const rateDialog = page.getByRole("dialog", { name: /^Add a tax rate to / });
    await rateDialog.getByLabel("Country").selectOption("DE");
    await rateDialog.getByLabel("Tax class").selectOption(addedClass);
    const rateField = rateDialog.getByLabel("Rate in percent");
    for (const [typed, fault] of [
      ["seven", "Enter a percentage from 0 to 100 with at most two decimals"],
      ["7.125", "Enter a percentage from 0 to 100 with at most two decimals"],
      ["101", "Enter a percentage from 0 to 100 with at most two decimals"],
    ] as const) {
      await rateField.fill(typed);
      await rateDialog.getByRole("button", { name: "Save the rate" }).click();
      await rateDialog.locator(".fault", { hasText: fault }).waitFor();
      await rateDialog.locator("[name=basisPoints][aria-invalid=true]:focus").waitFor();
    }
    await expectUsable(page);
    await picture(page, `taxes-refused-${name}`);
    await rateField.fill("7,5 %");
    await rateDialog.getByLabel("Region").fill("FR-75");
    await rateDialog.getByRole("button", { name: "Save the rate" }).click();
    await rateDialog.locator(".fault", { hasText: "ISO 3166-2 code of the country" }).waitFor();
    await rateDialog.getByLabel("Region").fill("");
    await rateDialog.getByRole("button", { name: "Save the rate" }).click();
    await page.getByRole("row").filter({ hasText: "Books" }).filter({ hasText: "7.5" }).waitFor();
    const added = { taxClass: addedClass, basisPoints: 750, validFrom: null };
    expect((await ratesOf("DE")).filter(({ taxClass }) => taxClass === addedClass)).toEqual([added]);

    await page.getByRole("button", { name: "Change VAT of Books in Germany, always" }).click();
    const changeDialog = page.getByRole("dialog", { name: "Change the tax rate" });
    expect(await changeDialog.getByLabel("Rate in percent").inputValue()).toBe("7.5");
    await changeDialog.getByLabel("Rate in percent").fill("5");
    await expectUsable(page);
    await picture(page, `taxes-change-${name}`);
    await changeDialog.getByRole("button", { name: "Save the rate" }).click();
    await page.getByRole("row").filter({ hasText: "Books" }).filter({ hasText: "5%" }).waitFor();
    expect((await ratesOf("DE")).filter(({ taxClass }) => taxClass === addedClass)).toEqual([
      { ...added, basisPoints: 500 },
    ]);
  },
);

it("a rate that begins later ends the present rate the day before", async () => {
  const page = await signIn(office());
  await openTaxes(page);
  await button(page, "Add a tax class").click();
  const classDialog = page.getByRole("dialog");
  await classDialog.getByLabel("Name").fill("Books");
  await classDialog.getByLabel("Code").fill(addedClass);
  await button(page, "Save the class").click();
  await page.getByRole("cell", { name: addedClass, exact: true }).waitFor();
  const market = page.getByRole("region").filter({ hasText: "Prices in EUR" }).first();
  for (const [percent, firstDay] of [
    ["7", ""],
    ["5", "2028-01-01"],
  ] as const) {
    await market.getByRole("button", { name: /^Add a rate to / }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Country").selectOption("DE");
    await dialog.getByLabel("Tax class").selectOption(addedClass);
    await dialog.getByLabel("Rate in percent").fill(percent);
    await dialog.getByLabel("First day").fill(firstDay);
    await dialog.getByRole("button", { name: "Save the rate" }).click();
    await dialog.waitFor({ state: "detached" });
  }
  const begins = (await ratesOf("DE")).filter(({ taxClass }) => taxClass === addedClass);
  expect(begins.map(({ basisPoints }) => basisPoints)).toEqual([700, 500]);
  const books = page.getByRole("row").filter({ hasText: "Books" });
  await books.filter({ hasText: "7%" }).filter({ hasText: "until Dec 31, 2027" }).waitFor();
  await books.filter({ hasText: "5%" }).filter({ hasText: "from Jan 1, 2028" }).waitFor();
});

it("the taxes page loads nothing from other origins", () => {
  expect(office().browser.outside).toEqual([]);
});
