/** The console's request log and its search field in Chromium. */
import type { Locator, Page } from "playwright-core";
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

const unknownCart = "storefront/carts/cart_00000000000000000000000000";

/** Sends a request with the demo's key. Returns its request id. */
async function send(path: string, body?: unknown): Promise<string> {
  const answer = await callWith(office(), office().demo.keys.full, path, body);
  return answer.headers.get("x-request-id") ?? "";
}

const field = (page: Page): Locator =>
  page.getByRole("searchbox", { name: "Search by id, order number or name" });
const hits = (page: Page): Locator =>
  page.getByRole("list", { name: "Search results" }).getByRole("listitem");
const path = (page: Page): string => new URL(page.url()).pathname.replace("/console", "");

async function searchFor(page: Page, text: string): Promise<void> {
  await field(page).fill(text);
  await field(page).press("Enter");
}

it.each(views)(
  "the request log shows requests as they arrive, and explains an error: $name",
  async ({ name, options }) => {
    const page = await signIn(office(), "/requests", options);
    await heading(page, "Requests").waitFor();
    await page.getByText("Live: new requests appear").waitFor();
    const id = await send(unknownCart);
    // The page is not reloaded.
    const link = rows(page).locator(`a[href$="/requests/${id}"]`);
    await link.waitFor();
    await expect.poll(() => page.getByRole("status").allInnerTexts()).toContain("1 new request.");
    expect(await rows(page).first().innerText()).toMatch(/404[\s\S]*getPublicCart[\s\S]*cart_not_found/);
    await button(page, "Pause").click();
    await page.getByText("Paused").waitFor();
    const later = await send("identity");
    await office().app.requests.flush();
    await expectUsable(page);
    await picture(page, `requests-${name}`);
    expect(await page.locator(`a[href$="/requests/${later}"]`).count()).toBe(0);
    await button(page, "Show new requests").click();
    await page.locator(`a[href$="/requests/${later}"]`).waitFor();

    await link.click();
    await heading(page, "GET /open/storefront/carts/{cartId}").waitFor();
    const facts = page.locator(".facts");
    for (const text of [
      id,
      "404",
      "/api/v1/open/storefront/carts/{cartId}",
      "Demo integration",
      "Demo: full",
    ])
      await facts.getByText(text, { exact: false }).first().waitFor();
    const error = page.getByRole("region", { name: "Error cart_not_found" });
    await error.getByText("Why.").waitFor();
    await error.getByText("What to do.").waitFor();
    expect(await error.getByRole("link", { name: "cart_not_found in" }).getAttribute("href")).toBe(
      `${office().address}/docs/errors#cart_not_found`,
    );
    await expectUsable(page);
    await picture(page, `request-${name}`);
    await page.getByRole("link", { name: "Requests of this operation with the status 404" }).click();
    await expect.poll(() => new URL(page.url()).search).toBe("?operation=getPublicCart&status=404");
    await rows(page).first().waitFor();
  },
);

it("the request log is filtered by status, operation and key, and the address keeps the filter", async () => {
  const { demo } = office();
  const [missing, good] = [await send(unknownCart), await send("identity")];
  await callWith(office(), demo.keys.catalogRead, "identity");
  const page = await signIn(office(), "/requests");
  const has = (id: string): Promise<number> => page.locator(`td a[href$="/requests/${id}"]`).count();
  await expect.poll(() => has(good)).toBe(1);
  await page.getByLabel("Status").selectOption("4xx: refused");
  await expect.poll(() => new URL(page.url()).search).toBe("?status=4xx");
  await expect.poll(async () => [await has(missing), await has(good)]).toEqual([1, 0]);
  await page.getByLabel("Status").selectOption("200 OK");
  await expect.poll(async () => [await has(missing), await has(good)]).toEqual([0, 1]);
  await page.getByLabel("Operation").selectOption("GET /open/identity");
  const key = page.getByLabel("Key", { exact: true });
  await key.selectOption({
    label: (await key.locator("option", { hasText: "Demo: full" }).innerText()).trim(),
  });
  await expect
    .poll(() => new URL(page.url()).search)
    .toMatch(/^\?status=200&operation=getApiKeyIdentity&key=key_/);
  await expect.poll(() => has(good)).toBe(1);
  await page.reload();
  await expect.poll(() => has(good)).toBe(1);
  expect(await page.getByLabel("Status").inputValue()).toBe("200");
  const cells = rows(page).locator('td[data-title="App and key"]');
  expect(new Set(await cells.allInnerTexts())).toHaveProperty("size", 1);
  await page.getByLabel("Status").selectOption("504 Gateway Timeout");
  await page.getByText("No request of the last three days matches these filters.").waitFor();
  await expectUsable(page);
  await button(page, "Clear the filters").click();
  await expect.poll(() => has(missing)).toBe(1);
});

it("the request log stops if the service cannot be reached, and goes on afterwards", async () => {
  const page = await signIn(office(), "/requests");
  await rows(page).first().waitFor();
  await page.context().route("**/graphql", (route) => route.abort());
  await page.getByRole("alert").getByText("The service could not be reached.").waitFor();
  await page.getByText("Not live").waitFor();
  await rows(page).first().waitFor();
  await page.context().unroute("**/graphql");
  const id = await send("identity");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.locator(`a[href$="/requests/${id}"]`).waitFor();
  expect(await page.getByRole("alert").count()).toBe(0);
});

it("an app's page shows its requests, and a request of another shop is not found", async () => {
  const foreign = await callWith(office(), office().demo.keys.otherMerchant, "identity");
  const page = await signIn(office(), "/installations");
  await page.getByRole("link", { name: "Demo integration" }).click();
  await page.getByRole("table", { name: "Requests, the newest first" }).waitFor();
  await page.getByRole("link", { name: "Filter the requests" }).click();
  await expect.poll(() => new URL(page.url()).search).toMatch(/^\?app=ins_/);
  await office().app.requests.flush();
  await page.goto(`${office().address}/console/requests/${foreign.headers.get("x-request-id")}`);
  await page.getByText("Your shop has no request with the id").waitFor();
});

it("the search opens the page of an id, from every page and by the keyboard", async () => {
  const { demo } = office();
  const requestId = await send("identity");
  await office().app.requests.flush();
  const page = await signIn(office(), "/staff");
  await heading(page, "Staff").waitFor();
  await page.keyboard.press("/");
  expect(await field(page).evaluate((element) => element === document.activeElement)).toBe(true);
  await page.keyboard.type(` https://shop.example/basket?cart=${demo.carts.active} `);
  await page.keyboard.press("Enter");
  await heading(page, "Cart").waitFor();
  expect(path(page)).toBe(`/carts/${demo.carts.active}`);
  await page.goBack();
  await heading(page, "Staff").waitFor();
  await page.keyboard.press("Control+K");
  await page.keyboard.type(requestId);
  await page.keyboard.press("Enter");
  await heading(page, "GET /open/identity").waitFor();
  expect(path(page)).toBe(`/requests/${requestId}`);
});

it("the search field keeps the focus and the text if the reader types directly after a navigation", async () => {
  const page = await signIn(office(), "/search?q=Demo");
  await hits(page).first().waitFor();
  // All steps run in one task of the page, so that no effect that waits for the next frame can run between.
  const state = await page.evaluate(async () => {
    const input = document.querySelector<HTMLInputElement>("input[type=search]");
    document.querySelector<HTMLAnchorElement>('nav a[href$="/staff"]')?.click();
    // The page is rendered in microtasks after the click.
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    const title = document.querySelector("h1")?.textContent;
    dispatchEvent(new KeyboardEvent("keydown", { key: "/" }));
    const isFocused = document.activeElement === input;
    if (input !== null) input.value = "typed";
    input?.dispatchEvent(new Event("input", { bubbles: true }));
    // Effects that wait for the next frame run at the latest 35 ms after the rendering.
    await new Promise((resolve) => setTimeout(resolve, 200));
    return { title, isFocused, isStillFocused: document.activeElement === input, text: input?.value };
  });
  expect(state).toEqual({ title: "Staff", isFocused: true, isStillFocused: true, text: "typed" });
});

it("the shortcut key works as soon as the search field is shown", async () => {
  const page = await signIn(office(), "/search");
  // The observer is called in a microtask after the field was inserted, before the next frame.
  await page.addInitScript(() => {
    const observer = new MutationObserver(() => {
      const input = document.querySelector("input[type=search]");
      if (input === null) return;
      observer.disconnect();
      dispatchEvent(new KeyboardEvent("keydown", { key: "/" }));
      input.setAttribute("data-focused", String(document.activeElement === input));
    });
    observer.observe(document, { childList: true, subtree: true });
  });
  await page.reload();
  await field(page).waitFor();
  expect(await field(page).getAttribute("data-focused")).toBe("true");
});

it("the search finds orders, deliveries, events, keys, endpoints, apps and staff", async () => {
  const { demo, app } = office();
  const { db } = app.database;
  const merchantId = demo.merchants.first.id;
  const order = await db
    .selectFrom("salesOrder")
    .select(["id", "number"])
    .where("id", "=", demo.orders.placed)
    .executeTakeFirstOrThrow();
  const delivery = await db
    .selectFrom("webhookDelivery")
    .select(["id", "eventId", "endpointId"])
    .where("merchantId", "=", merchantId)
    .orderBy("id")
    .executeTakeFirstOrThrow();
  const key = await db
    .selectFrom("apiKey")
    .select(["id", "name"])
    .where("merchantId", "=", merchantId)
    .where("name", "=", "Demo: full")
    .executeTakeFirstOrThrow();
  const prefix = demo.keys.full.slice(0, demo.keys.full.lastIndexOf("_"));
  const page = await signIn(office(), "/search");
  const found = async (text: string): Promise<string> => {
    await searchFor(page, text);
    await page.getByText(`for “${text}”`).filter({ hasText: "result" }).waitFor();
    return (await hits(page).allInnerTexts()).join("\n");
  };
  expect(await found(order.number.toLowerCase())).toContain(order.id);
  await searchFor(page, order.id);
  const openedOrder = async (): Promise<boolean> =>
    path(page) === `/orders/${order.id}` || (await hits(page).getByText(order.id).count()) === 1;
  await expect.poll(openedOrder).toBe(true);
  // An event with one delivery opens the delivery.
  await searchFor(page, delivery.eventId);
  await expect.poll(() => path(page)).toBe(`/deliveries/${delivery.id}`);
  await searchFor(page, delivery.endpointId);
  await expect.poll(() => path(page)).toBe(`/endpoints/${delivery.endpointId}`);
  await searchFor(page, delivery.id);
  await expect.poll(() => path(page)).toBe(`/deliveries/${delivery.id}`);
  for (const text of [key.id, key.name, prefix]) expect(await found(text)).toContain(prefix);
  // The secret part of a key does not get into the address.
  await searchFor(page, demo.keys.full);
  await hits(page).first().waitFor();
  expect(decodeURIComponent(new URL(page.url()).search)).toBe(`?q=${prefix}`);
  await hits(page).getByRole("link", { name: key.name }).click();
  await expect.poll(() => path(page)).toBe("/keys");
  expect(await found(demo.staff.email)).toContain(demo.staff.email);
  expect(await found("demo integ")).toContain("Demo integration");
});

it.each(views)(
  "the search says what it did not find, and what it can find: $name",
  async ({ name, options }) => {
    const { demo, address } = office();
    const page = await signIn(office(), "/search", options);
    await page.getByText("What you can search for").waitFor();
    await expectUsable(page);
    await picture(page, `search-help-${name}`);
    const answers = [
      [demo.carts.otherMerchant, `Your shop has no cart with the id ${demo.carts.otherMerchant}.`],
      [demo.orders.otherMerchant, `Your shop has no order with the id ${demo.orders.otherMerchant}.`],
      ["evt_00000000000000000000000000", "Your shop has no event with the id"],
      ["prd_00000000000000000000000000", "The search knows no ids that begin with prd_."],
      ["whd_12", "The id of a delivery begins with whd_"],
      ["Nobody at all", "No order has the number “Nobody at all”"],
    ] as const;
    for (const [text, answer] of answers) {
      await searchFor(page, text);
      await page.getByRole("status").getByText(answer).waitFor();
    }
    await page.getByText("What you can search for").waitFor();
    await searchFor(page, "Demo");
    await hits(page).nth(2).waitFor();
    await expectUsable(page);
    await picture(page, `search-${name}`);

    // The links of the navigation are one row on a phone; the current one is visible.
    await page.goto(`${address}/console/audit`);
    const current = page.getByRole("navigation", { name: "Console" }).locator("[aria-current=page]");
    await current.waitFor();
    const box = await current.boundingBox();
    const width = page.viewportSize()?.width ?? 0;
    expect(box === null ? -1 : box.x).toBeGreaterThanOrEqual(0);
    expect(box === null ? Number.POSITIVE_INFINITY : box.x + box.width).toBeLessThanOrEqual(width);
    if (name === "phone") {
      const row = await page.getByRole("navigation", { name: "Console" }).boundingBox();
      expect(row?.height).toBeLessThan(60);
    }
    await goTo(page, "Requests");
    await heading(page, "Requests").waitFor();
  },
);

it("the pages load nothing from other origins, and log no browser errors", () => {
  expect(office().browser.outside).toEqual([]);
  expect(office().browser.complaints.filter((text) => !text.includes("net::ERR_FAILED"))).toEqual([]);
});
