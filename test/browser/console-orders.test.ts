/** The console's orders in Chromium: finding an order, reading it, refunding an amount, and canceling it. */
import { expect, it } from "vitest";
import { button, expectUsable, goTo, heading, picture, rows, signIn, useOffice } from "./console-office.ts";
import { views } from "./console-views.ts";

const office = useOffice();

/** An order that the merchant has not shipped, and one that was delivered. */
const orderOf = (scenario: string): string => {
  const { orders } = office().demo;
  return (orders as Readonly<Record<string, string>> | undefined)?.[scenario] ?? expect.fail(scenario);
};

it("the console finds an order by its number, its id, its status and its day", async () => {
  const page = await signIn(office());
  await goTo(page, "Orders");
  await heading(page, "Orders").waitFor();
  await rows(page).first().waitFor();
  const all = await rows(page).count();
  const number = await rows(page).nth(1).getByRole("link").innerText();
  const field = page.getByLabel("Order number or id");
  await field.fill(` ${number.toLowerCase()} `);
  await page.keyboard.press("Enter");
  await expect.poll(() => rows(page).count()).toBe(1);
  await rows(page).getByRole("link", { name: number }).click();
  await heading(page, `Order ${number}`).waitFor();
  const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  await goTo(page, "Orders");
  await page.getByLabel("Order number or id").fill(`see ${id} please`);
  await button(page, "Find").click();
  await heading(page, `Order ${number}`).waitFor();

  await page.goto(`${office().address}/console/orders?number=none`);
  await page.getByText("No order with the number “none”").waitFor();
  await page.getByRole("link", { name: "Show all orders" }).click();
  await expect.poll(() => rows(page).count()).toBe(all);
  await page.getByLabel("Status").selectOption("Canceled");
  await expect.poll(() => new URL(page.url()).search).toBe("?status=canceled");
  const states = rows(page).locator('td[data-title="Status"]');
  await expect.poll(async () => [...new Set(await states.allInnerTexts())]).toEqual(["Canceled"]);

  await page.goto(`${office().address}/console/orders?from=2001-01-01&to=2001-01-31`);
  await page.getByText("was placed in these days").waitFor();
  await page.getByLabel("Placed until").fill("2000-12-31");
  await page.getByText("The last day must not be before the first day.").waitFor();
  for (const unknown of ["ord_00000000000000000000000000", "nothing"]) {
    await page.goto(`${office().address}/console/orders/${unknown}`);
    await page.getByText("Your shop has no order with the id").waitFor();
  }
});

it("the console refunds an amount of an order, at most what was paid", async () => {
  const page = await signIn(office(), `/orders/${orderOf("delivered")}`);
  await button(page, "Refund").click();
  const dialog = page.getByRole("dialog", { name: "Refund an amount?" });
  for (const wrong of ["", "0", "abc", "999999", "1.234"]) {
    await dialog.getByLabel(/^Amount in/).fill(wrong);
    await dialog.getByRole("button", { name: "Refund" }).click();
    await dialog
      .getByText(/^Enter an amount up to/)
      .first()
      .waitFor();
  }
  await expectUsable(page);
  await dialog.getByLabel(/^Amount in/).fill("1,50");
  await dialog.getByLabel("Reason").selectOption("The item was damaged");
  await dialog.getByLabel("Note (optional)").fill("A scratch");
  await dialog.getByRole("button", { name: "Refund" }).click();
  await dialog.waitFor({ state: "detached" });
  const refund = page.getByRole("table", { name: "Refunds" }).getByRole("row", { name: /A scratch/ });
  await refund.getByText(/1\.50/).waitFor();
  // The page shows the outcome of the refund without being loaded again.
  await refund.getByText("Succeeded").waitFor();
  await page.getByText("Still to be refunded").waitFor({ state: "detached" });
  expect(await page.getByText("Not paid yet").count()).toBe(0);
  await page
    .getByRole("list", { name: "Audit entries, the newest first" })
    .getByRole("listitem")
    .first()
    .waitFor();
});

it("the console cancels an order after saying what that does, and shows another change first", async () => {
  const id = orderOf("placed");
  const page = await signIn(office(), `/orders/${id}`);
  await page.locator("#eligibility").waitFor();
  const second = await page.context().newPage();
  await second.goto(page.url());
  const open = async (own: typeof page) => {
    await button(own, "Cancel the order").click();
    const dialog = own.getByRole("dialog", { name: "Cancel this order?" });
    await dialog.getByText("This cannot be undone.").waitFor();
    return dialog;
  };
  const [dialog, stale] = [await open(page), await open(second)];
  await expectUsable(page);
  await dialog.getByLabel("Reason").selectOption("The product is out of stock");
  await dialog.getByRole("button", { name: "Cancel the order" }).dblclick();
  await dialog.waitFor({ state: "detached" });
  await page.locator(".facts").getByText("Canceled", { exact: true }).first().waitFor();
  await page.locator(".facts").getByText("Out of stock").waitFor();
  expect(await button(page, "Cancel the order").count()).toBe(0);

  await stale.getByRole("button", { name: "Cancel the order" }).click();
  await stale.getByRole("button", { name: "Show the newest version" }).click();
  await second.locator(".facts").getByText("Canceled", { exact: true }).first().waitFor();
});

it.each(views)("the order pages have no accessibility faults: $name", async ({ name, options }) => {
  const page = await signIn(office(), "/orders", options);
  await rows(page).first().waitFor();
  await expectUsable(page);
  await picture(page, `orders-${name}`);
  for (const scenario of ["delivered", "returned"]) {
    await page.goto(`${office().address}/console/orders/${orderOf(scenario)}`);
    await page.getByText("Subtotal").waitFor();
    await expect.poll(() => page.locator("[aria-busy=true]").count()).toBe(0);
    await expectUsable(page);
    await picture(page, `order-${scenario}-${name}`);
  }
});

it("the order pages load nothing from other origins, and log no browser errors", () => {
  expect(office().browser.outside).toEqual([]);
  expect(office().browser.complaints).toEqual([]);
});
