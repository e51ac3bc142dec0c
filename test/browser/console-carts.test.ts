/** The console's carts in Chromium: finding a cart, reading it, and revoking it. */
import { expect, it } from "vitest";
import {
  button,
  callWith,
  expectUsable,
  goTo,
  heading,
  picture,
  rows,
  signIn,
  useOffice,
} from "./console-office.ts";
import { views } from "./console-views.ts";

const office = useOffice();

it("the console finds a cart by a pasted id, and explains a text without an id", async () => {
  const page = await signIn(office());
  await goTo(page, "Carts");
  await heading(page, "Carts").waitFor();
  const input = page.getByLabel("Open a cart by its id");
  await input.fill("cart_123");
  await button(page, "Open").click();
  await page
    .getByRole("alert")
    .getByText(/It begins with cart_/)
    .waitFor();
  expect(await input.getAttribute("aria-invalid")).toBe("true");
  expect(await input.evaluate((element) => element === document.activeElement)).toBe(true);
  const { active, otherMerchant } = office().demo.carts;
  await input.fill(` https://shop.example/basket?cart=${active}&x=1 `);
  await page.keyboard.press("Enter");
  await heading(page, "Cart").waitFor();
  expect(new URL(page.url()).pathname).toBe(`/console/carts/${active}`);
  await page.locator(".facts").getByText(active).waitFor();
  for (const foreign of [otherMerchant, "cart_00000000000000000000000000"]) {
    await page.goto(`${office().address}/console/carts/${foreign}`);
    await page.getByText("Your shop has no cart with the id").waitFor();
  }
});

it("the console lists carts by status, with the filter in the address", async () => {
  const page = await signIn(office(), "/carts");
  await rows(page).first().waitFor();
  expect(await page.getByText(office().demo.carts.otherMerchant).count()).toBe(0);
  await page.getByLabel("Status").selectOption("Revoked");
  await expect.poll(() => new URL(page.url()).search).toBe("?status=revoked");
  await rows(page).filter({ hasText: office().demo.carts.revoked }).waitFor();
  const states = rows(page).locator('td[data-title="Status"]');
  expect(new Set(await states.allInnerTexts())).toEqual(new Set(["Revoked"]));
  await page.reload();
  await rows(page).filter({ hasText: office().demo.carts.revoked }).waitFor();
  expect(await page.getByLabel("Status").inputValue()).toBe("REVOKED");
  await page.goto(`${office().address}/console/carts?status=nothing`);
  await rows(page).nth(1).waitFor();
  expect(await page.getByLabel("Status").inputValue()).toBe("");
});

/** An app sets the address of a cart. */
async function setAddress(cartId: string): Promise<void> {
  const { address, demo } = office();
  const person = { recipientName: "Ada Berg", email: "ada@shop.example", phone: "+493012345678" };
  const place = { countryCode: "DE", line1: "Secret street 1", city: "Berlin", postalCode: "10115" };
  const answer = await fetch(`${address}/api/v1/open/storefront/carts/${cartId}/address`, {
    method: "PUT",
    headers: {
      authorization: `Bearer ${demo.keys.full}`,
      "content-type": "application/json",
      "idempotency-key": crypto.randomUUID(),
    },
    body: JSON.stringify({ address: { ...person, ...place } }),
  });
  expect(answer.status).toBe(200);
}

it("the console shows which key changed a cart, and revokes the cart", async () => {
  const { demo } = office();
  const id = demo.carts.active;
  await setAddress(id);
  const page = await signIn(office(), `/carts/${id}`);
  const entries = page.getByRole("list", { name: "Audit entries, the newest first" }).getByRole("listitem");
  await entries
    .filter({ hasText: /Demo integration, with the key “Demo: full” \(….{4}\), set the cart address\./ })
    .waitFor();
  await page.locator("dd", { hasText: "10… Berlin, DE" }).waitFor();
  expect(await page.locator("main").innerText()).not.toMatch(/Secret street|Ada Berg|10115/);
  // All amounts are shown with their currency.
  await page.getByText("Subtotal").waitFor();
  expect(await page.locator(".totals dd").last().innerText()).toMatch(/€\d/);

  // Another change arrives while the dialog is open.
  await button(page, "Revoke the cart").click();
  const dialog = page.getByRole("dialog", { name: "Revoke this cart?" });
  await dialog.getByText("This cannot be undone.").waitFor();
  await expectUsable(page);
  await setAddress(id);
  await dialog.getByRole("button", { name: "Revoke the cart" }).click();
  await dialog.getByRole("alert").waitFor();
  await dialog.getByRole("button", { name: "Show the newest version" }).click();
  await expect.poll(() => entries.count()).toBe(2);

  await button(page, "Revoke the cart").click();
  await dialog.getByLabel("Reason").selectOption("It looks like misuse");
  await dialog.getByLabel("Note (optional)").fill("Called by phone");
  await dialog.getByRole("button", { name: "Revoke the cart" }).click();
  await page.locator(".facts").getByText("Revoked", { exact: true }).waitFor();
  await page.locator(".facts").getByText("“Called by phone”").waitFor();
  await entries.filter({ hasText: "revoked the cart." }).waitFor();
  expect(await button(page, "Revoke the cart").count()).toBe(0);
  const { status } = await callWith(office(), demo.keys.full, `storefront/carts/${id}/revoke`, {
    expectedVersion: 1,
  });
  expect(status).toBe(409);
});

it("the console cancels the checkout of a locked cart, which can then be revoked", async () => {
  const page = await signIn(office(), `/carts/${office().demo.carts.locked}`);
  await button(page, "Cancel the checkout").click();
  const dialog = page.getByRole("dialog", { name: "Cancel the open checkout?" });
  await expectUsable(page);
  await dialog.getByRole("button", { name: "Cancel the checkout" }).click();
  await page.locator(".facts").getByText("Active", { exact: true }).waitFor();
  await button(page, "Revoke the cart").waitFor();
});

it.each(views)("the cart pages have no accessibility faults: $name", async ({ name, options }) => {
  const page = await signIn(office(), "/carts", options);
  await rows(page).first().waitFor();
  await expectUsable(page);
  await picture(page, `carts-${name}`);
  for (const kind of ["activeSecond", "revoked", "completed"] as const) {
    await page.goto(`${office().address}/console/carts/${office().demo.carts[kind]}`);
    await page.getByText("Subtotal").waitFor();
    await expect.poll(() => page.locator("[aria-busy=true]").count()).toBe(0);
    await expectUsable(page);
    await picture(page, `cart-${kind}-${name}`);
  }
  await page.goto(`${office().address}/console/carts/${office().demo.carts.activeSecond}`);
  await button(page, "Revoke the cart").click();
  await expectUsable(page);
  await picture(page, `cart-revoke-${name}`);
});

it("the cart pages load nothing from other origins, and log no browser errors", () => {
  expect(office().browser.outside).toEqual([]);
  expect(office().browser.complaints).toEqual([]);
});
