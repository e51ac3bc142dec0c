/** The console's page with tax classes and tax rates, in Chromium. */
import { sql } from "kysely";
import type { Page } from "playwright-core";
import { afterEach, expect, it } from "vitest";
import { button, expectUsable, goTo, heading, picture, signIn, useOffice } from "./console-office.ts";
import { views } from "./console-views.ts";

const office = useOffice();

interface StoredRate {
  readonly taxClass: string;
  readonly basisPoints: number;
  readonly validFrom: string | null;
  readonly validTo: string | null;
}

const ratesOf = (country: string): Promise<StoredRate[]> =>
  office()
    .app.services.db.selectFrom("taxRate")
    .innerJoin("market", "market.id", "taxRate.marketId")
    .select(["taxRate.taxClass", "taxRate.basisPoints"])
    .select([
      sql<string | null>`tax_rate.valid_from::text`.as("validFrom"),
      sql<string | null>`tax_rate.valid_to::text`.as("validTo"),
    ])
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
    await classDialog
      .locator(".fault", { hasText: "The code must have 1 to 96 lower-case letters" })
      .waitFor();
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
    await rateDialog
      .locator(".fault", { hasText: "not a region of DE in ISO 3166-2, for example DE-" })
      .waitFor();
    await rateDialog.locator("[name=regionCode][aria-invalid=true]:focus").waitFor();
    await rateDialog.getByLabel("Region").fill("");
    await rateDialog.getByRole("button", { name: "Save the rate" }).click();
    await page.getByRole("row").filter({ hasText: "Books" }).filter({ hasText: "7.5" }).waitFor();
    const added = { taxClass: addedClass, basisPoints: 750, validFrom: null, validTo: null };
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

async function addBooksClass(page: Page): Promise<void> {
  await button(page, "Add a tax class").click();
  const classDialog = page.getByRole("dialog");
  await classDialog.getByLabel("Name").fill("Books");
  await classDialog.getByLabel("Code").fill(addedClass);
  await button(page, "Save the class").click();
  await page.getByRole("cell", { name: addedClass, exact: true }).waitFor();
}

/** Fills in a new rate of the class in Germany and sends the form. */
async function fillInRate(
  page: Page,
  percent: string,
  [firstDay, lastDay]: readonly string[],
): Promise<void> {
  const market = page.getByRole("region").filter({ hasText: "Prices in EUR" }).first();
  await market.getByRole("button", { name: /^Add a rate to / }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Country").selectOption("DE");
  await dialog.getByLabel("Tax class").selectOption(addedClass);
  await dialog.getByLabel("Rate in percent").fill(percent);
  await dialog.getByLabel("First day").fill(firstDay ?? "");
  await dialog.getByLabel("Last day").fill(lastDay ?? "");
  await dialog.getByRole("button", { name: "Save the rate" }).click();
}

const booksRates = async (): Promise<unknown[]> =>
  (await ratesOf("DE"))
    .filter(({ taxClass }) => taxClass === addedClass)
    .map(({ basisPoints, validFrom, validTo }) => [basisPoints, validFrom, validTo]);

it.each(views)(
  "a rate that changes other rates is saved only after a confirmation that names them: $name",
  async ({ name, options }) => {
    const page = await signIn(office(), "", options);
    await openTaxes(page);
    await addBooksClass(page);
    await fillInRate(page, "7", []);
    await page.getByRole("status").filter({ hasText: "The rate is saved." }).waitFor();
    await fillInRate(page, "5", ["2030-07-01", "2030-12-31"]);
    const question = page.getByRole("dialog", { name: "This changes other rates" });
    const split = "“VAT” 7%, valid always, is split: it stays valid until Jun 30, 2030 and from Jan 1, 2031.";
    await question.getByText(split).waitFor();
    await question.getByText("Placed orders do not change").waitFor();
    await expectUsable(page);
    await picture(page, `taxes-overlap-${name}`);
    await question.getByRole("button", { name: "Cancel" }).click();
    const dialog = page.getByRole("dialog", { name: /^Add a tax rate to / });
    expect(await dialog.getByLabel("Rate in percent").inputValue()).toBe("5");
    expect(await booksRates()).toEqual([[700, null, null]]);
    await dialog.getByRole("button", { name: "Save the rate" }).click();
    await question.getByRole("button", { name: "Save and change them" }).click();
    await page.getByRole("status").filter({ hasText: split }).waitFor();
    await fillInRate(page, "4", ["2032-01-01"]);
    await question.getByText("is shortened: it stays valid Jan 1, 2031 – Dec 31, 2031.").waitFor();
    await question.getByRole("button", { name: "Save and change them" }).click();
    await question.waitFor({ state: "detached" });
    await fillInRate(page, "6", []);
    await question.getByText("“VAT” 7%, valid until Jun 30, 2030, is replaced.").waitFor();
    await question.getByRole("button", { name: "Save and change them" }).click();
    await question.waitFor({ state: "detached" });
    expect(await booksRates()).toEqual([
      [600, null, "2030-06-30"],
      [500, "2030-07-01", "2030-12-31"],
      [700, "2031-01-01", "2031-12-31"],
      [400, "2032-01-01", null],
    ]);
  },
);

it.each(views)(
  "staff end a rate by its last day, make it valid without an end, and delete it: $name",
  async ({ name, options }) => {
    const page = await signIn(office(), "", options);
    await openTaxes(page);
    await addBooksClass(page);
    await fillInRate(page, "7", ["2027-06-01", "2028-06-30"]);
    const change = async (lastDay: string): Promise<void> => {
      await page
        .getByRole("button", { name: /^Change VAT of Books in Germany, (?:from )?Jun 1, 2027/ })
        .click();
      await page.getByRole("dialog").getByLabel("Last day").fill(lastDay);
      await page.getByRole("dialog").getByRole("button", { name: "Save the rate" }).click();
    };
    await change("2027-09-30");
    const notice = page.getByRole("status");
    await notice.filter({ hasText: "is valid Jun 1, 2027 – Sep 30, 2027." }).waitFor();
    expect(await booksRates()).toEqual([[700, "2027-06-01", "2027-09-30"]]);
    await change("2027-01-01");
    const fault = page.getByRole("dialog").locator(".fault");
    await fault.filter({ hasText: "The last day must not be before the first day." }).waitFor();
    await expectUsable(page);
    await picture(page, `taxes-last-day-${name}`);
    await button(page, "Cancel").click();
    await change("");
    await notice.filter({ hasText: "is valid from Jun 1, 2027." }).waitFor();
    await fillInRate(page, "5", ["2029-01-01"]);
    await button(page, "Save and change them").click();
    await notice.filter({ hasText: "is shortened" }).waitFor();
    await change("");
    await fault.filter({ hasText: "begins on 2029-01-01; the last day must be before this day" }).waitFor();
    await button(page, "Cancel").click();
    await button(page, "Delete VAT of Books in Germany, from Jan 1, 2029").click();
    const question = page.getByRole("dialog", { name: "Delete the tax rate" });
    await question.getByText("Placed orders do not change").waitFor();
    await expectUsable(page);
    await picture(page, `taxes-delete-${name}`);
    await question.getByRole("button", { name: "Delete the rate" }).click();
    await notice.filter({ hasText: "“VAT” 5%, valid from Jan 1, 2029, is deleted." }).waitFor();
    expect(await booksRates()).toEqual([[700, "2027-06-01", "2028-12-31"]]);
  },
);

it("the taxes page loads nothing from other origins", () => {
  expect(office().browser.outside).toEqual([]);
});
