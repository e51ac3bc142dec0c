/** The console's reports in Chromium: choosing a period once for all reports, and downloading them as CSV. */
import { readFileSync } from "node:fs";
import type { Locator } from "playwright-core";
import { expect, it } from "vitest";
import { button, expectUsable, goTo, heading, picture, signIn, useOffice } from "./console-office.ts";
import { views } from "./console-views.ts";

const office = useOffice();
const links = [
  "Sales",
  "Products",
  "From cart to order",
  "Promotions",
  "Buyers",
  "Returns",
  "Refunds",
  "Shipping",
  "Stock",
  "Searches",
];

it("the console shows each report for the period, time zone and currency that were chosen once", async () => {
  const page = await signIn(office());
  await goTo(page, "Reports");
  await heading(page, "Reports").waitFor();
  await page.getByRole("table", { name: "Totals in EUR" }).waitFor();
  await page.getByLabel("Time zone").selectOption("Asia/Tokyo");
  await button(page, "This year").click();
  await expect.poll(() => new URL(page.url()).searchParams.get("from")).toMatch(/^\d{4}-01-01$/);
  const chosen = new URL(page.url()).searchParams;
  expect(chosen.get("zone")).toBe("Asia/Tokyo");
  expect(await button(page, "This year").getAttribute("aria-pressed")).toBe("true");

  // Amounts are shown in the currency's form, with the minor units below.
  const gross = page.getByRole("table", { name: "Totals in EUR" }).getByRole("row", { name: /^Gross/ });
  const cell = gross.locator('td[data-title="Total"]');
  const [, major = "", minor = ""] = /^€([\d,.]+)\s+(\d+)$/.exec(await cell.innerText()) ?? [];
  expect(Number(major.replaceAll(/[,.]/g, ""))).toBe(Number(minor));
  expect(Number(minor)).toBeGreaterThan(0);

  await page.getByLabel("Currency").selectOption("JPY");
  await page.getByRole("table", { name: "Totals in JPY" }).waitFor();
  expect(await page.getByRole("table", { name: "Totals in EUR" }).count()).toBe(0);
  await page.getByLabel("Currency").selectOption("CHF");
  await page.getByText("No order was placed in this period in CHF.").waitFor();
  await page.getByLabel("Currency").selectOption("EUR");

  for (const name of links.slice(1)) {
    await page.getByRole("navigation", { name: "Reports" }).getByRole("link", { name }).click();
    await page.getByRole("heading", { level: 2, name }).waitFor();
    await expect.poll(() => page.locator("[aria-busy=true]").count()).toBe(0);
    const { searchParams } = new URL(page.url());
    expect([searchParams.get("from"), searchParams.get("zone"), searchParams.get("currency")]).toEqual([
      chosen.get("from"),
      "Asia/Tokyo",
      "EUR",
    ]);
  }
  await page.reload();
  await page.getByRole("heading", { level: 2, name: "Searches" }).waitFor();
});

it("the console shows refunds, buyers, shipments and stock with their figures", async () => {
  const page = await signIn(office(), "/reports?zone=UTC");
  await button(page, "This year").click();
  const open = async (name: string): Promise<void> => {
    await page.getByRole("navigation", { name: "Reports" }).getByRole("link", { name }).click();
    await page.getByRole("heading", { level: 2, name }).waitFor();
  };
  const numberIn = async (row: Locator, column: string): Promise<number> =>
    Number((await row.locator(`td[data-title="${column}"]`).innerText()).replaceAll(",", ""));

  await open("Refunds");
  const refund = page.getByRole("table", { name: "Refunds by reason" }).locator("tbody tr").first();
  expect(await numberIn(refund, "Refunds")).toBeGreaterThan(0);

  await open("Buyers");
  const facts = page.locator("dl.facts");
  await facts.waitFor();
  const [, buyers = "", , repeaters = ""] =
    /Buyers\s+([\d,]+)\s+New buyers\s+([\d,]+)\s+Buyers with several orders\s+([\d,]+)/.exec(
      await facts.innerText(),
    ) ?? [];
  expect(Number(buyers)).toBeGreaterThan(0);
  expect(Number(repeaters)).toBeLessThanOrEqual(Number(buyers));

  await open("Shipping");
  const parcels = page.getByRole("table", { name: "Parcels by carrier" }).locator("tbody tr").first();
  expect(await numberIn(parcels, "Parcels")).toBeGreaterThanOrEqual(await numberIn(parcels, "Delivered"));
  const waiting = page.getByRole("table", { name: /^Orders that wait for shipment/ });
  await waiting.getByRole("link").first().click();
  await page.getByRole("heading", { level: 1 }).waitFor();
  expect(new URL(page.url()).pathname).toMatch(/\/console\/orders\/ord_/);
  await page.goBack();

  await open("Stock");
  const stock = page.getByRole("table", { name: "Variants by the days that their stock lasts" });
  const days = await stock.locator('td[data-title="Lasts days"]').allInnerTexts();
  const numbers = days.map((text) => Number(text.replaceAll(",", "")));
  expect(numbers.length).toBeGreaterThan(0);
  expect(numbers).toEqual(numbers.toSorted((one, other) => one - other));
});

it("the console explains a period that no report can have, and offers no file for it", async () => {
  const page = await signIn(office(), "/reports?zone=UTC");
  await page.getByRole("link", { name: "Download as CSV" }).waitFor();
  await page.getByLabel("Last day").fill("2001-01-01");
  await page.getByRole("alert").getByText("The last day must not be before the first day.").waitFor();
  expect(await page.getByLabel("Last day").getAttribute("aria-invalid")).toBe("true");
  expect(await page.getByRole("link", { name: "Download as CSV" }).count()).toBe(0);
  await page.getByLabel("First day").fill("1998-01-01");
  await page
    .getByRole("alert")
    .getByText(/A report covers at most 731 days\./)
    .waitFor();
  await expectUsable(page);
  await button(page, "30 days").click();
  await page.getByRole("link", { name: "Download as CSV" }).waitFor();
});

it("the console downloads each report as CSV, with the session and no token", async () => {
  const page = await signIn(office(), "/reports?zone=UTC");
  await button(page, "This year").click();
  for (const name of links) {
    await page.getByRole("navigation", { name: "Reports" }).getByRole("link", { name }).click();
    await page.getByRole("heading", { level: 2, name }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Download as CSV" }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(
      name === "Stock" ? /^inventory[-\d]*\.csv$/ : /^[a-z]+-\d{4}-01-01-\d{4}-\d\d-\d\d\.csv$/,
    );
    const [header = "", ...rows] = readFileSync(await download.path(), "utf8")
      .trim()
      .split(/\r?\n/);
    expect(header.split(",").length).toBeGreaterThan(3);
    if (["Sales", "Refunds", "Shipping", "Stock"].includes(name)) expect(rows.length).toBeGreaterThan(0);
  }
});

it.each(views)("the reports have no accessibility faults: $name", async ({ name, options }) => {
  const page = await signIn(office(), "/reports?zone=UTC", options);
  await button(page, "This year").click();
  for (const report of links) {
    await page.getByRole("navigation", { name: "Reports" }).getByRole("link", { name: report }).click();
    await page.getByRole("heading", { level: 2, name: report }).waitFor();
    await expect.poll(() => page.locator("[aria-busy=true]").count()).toBe(0);
    await expectUsable(page);
    await picture(page, `report-${report.toLowerCase().replaceAll(" ", "-")}-${name}`);
  }
});

it("the reports load nothing from other origins, and log no browser errors", () => {
  expect(office().browser.outside).toEqual([]);
  expect(office().browser.complaints).toEqual([]);
});
