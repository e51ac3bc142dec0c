/**
 * OAuth consent in Chromium: from the app to the sign-in and consent pages and back, with pointer, keyboard,
 * assistive technology and any window size.
 */
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { scopeDescriptions, scopeTitles } from "#access/viewer.ts";
import { updateMerchant } from "#access/merchants.ts";
import { runInTransaction } from "#database/transaction.ts";
import type { DemoJsonFileContent } from "#demo/demo-file.ts";
import { type DemoService, openDemoService } from "./demo-service.ts";
import { type OauthApp, startOauthApp } from "./oauth-app.ts";
import { pageFaults } from "./page-faults.ts";
import { launchBrowser, type WatchedBrowser } from "./watched-browser.ts";

let service: DemoService;
let oauthApp: OauthApp;
let browser: WatchedBrowser;

beforeAll(async () => {
  service = await openDemoService();
  oauthApp = await startOauthApp(service.address, service.demo.oauthClient);
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser.close();
  await oauthApp[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

afterEach(() => browser.closeAll());

async function open(context: BrowserContext, url: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(url);
  return page;
}

const emailOf = (page: Page) => page.getByLabel("E-mail address");
const passwordOf = (page: Page) => page.getByLabel("Password");
/** Presses a button and waits for the page to which it leads. */
const press = async (page: Page, name: string): Promise<void> =>
  void (await Promise.all([
    page.waitForEvent("load"),
    page.getByRole("button", { name, exact: true }).click(),
  ]));
const headingOf = (page: Page): Promise<string> => page.getByRole("heading", { level: 1 }).innerText();
async function expectFocus(page: Page, id: string): Promise<void> {
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe(id);
}

async function signIn(
  page: Page,
  { email, password }: DemoJsonFileContent["staff"] = service.demo.staff,
): Promise<void> {
  await emailOf(page).fill(email);
  await passwordOf(page).fill(password);
  await press(page, "Sign in");
}

const question = async (): Promise<string> => {
  const { name } = await service.app.services.db
    .selectFrom("merchant")
    .select("name")
    .where("id", "=", service.demo.merchants.first.id)
    .executeTakeFirstOrThrow();
  return `Allow Demo integration to access ${name}?`;
};
const back = "Back in the app";

it.each([
  { how: "with scripts", javaScriptEnabled: true },
  { how: "without scripts", javaScriptEnabled: false },
])(
  "the sign-in and consent page grants the ticked scopes after a wrong password: $how",
  async ({ javaScriptEnabled }) => {
    const asked = await oauthApp.ask("catalog:read checkout:quote webhooks:read");
    const page = await open(await browser.open({ javaScriptEnabled }), asked.url);
    expect([await page.title(), await headingOf(page)]).toEqual(["Sign in", "Sign in"]);
    await expectFocus(page, "email");

    await signIn(page, { ...service.demo.staff, password: "not it" });
    const alert = page.getByRole("alert");
    expect(await alert.innerText()).toContain("The e-mail address or the password is wrong.");
    expect(await page.title()).toBe("Error: Sign in");
    await expectFocus(page, "faults");
    expect([await emailOf(page).inputValue(), await passwordOf(page).inputValue()]).toEqual([
      service.demo.staff.email,
      "",
    ]);
    expect(await emailOf(page).getAttribute("aria-invalid")).toBe("true");
    await alert.getByRole("link").click();
    await expectFocus(page, "email");

    await signIn(page);
    expect(await headingOf(page)).toBe(await question());
    const text = await page.locator("main").innerText();
    for (const part of ["Demo integration", service.demo.staff.email, "90 days", "return to 127.0.0.1:"])
      expect(text).toContain(part);
    const boxes = page.getByRole("checkbox");
    expect(await boxes.evaluateAll((found) => found.map((box) => (box as HTMLInputElement).value))).toEqual([
      "catalog:read",
      "checkout:quote",
      "webhooks:read",
    ]);
    for (const scope of ["catalog:read", "checkout:quote", "webhooks:read"] as const) {
      const box = page.getByRole("checkbox", {
        name: scopeTitles[scope],
        description: `${scopeDescriptions[scope]} ${scope}`,
      });
      expect([await box.count(), await box.isChecked()]).toEqual([1, true]);
    }
    await page.getByLabel("See webhooks").uncheck();
    await press(page, "Allow");
    expect(await headingOf(page)).toBe(back);

    const answer = await asked.answer;
    expect(Object.fromEntries(answer.searchParams)).toEqual({
      code: expect.any(String) as string,
      state: asked.state,
      iss: service.address,
    });
    const tokens = await asked.tokens();
    expect(tokens.scope).toBe("catalog:read checkout:quote");
    expect(await tokens.call(`/api/v1/open/storefront/carts/${service.demo.carts.active}`)).toMatchObject({
      status: 200,
      body: { data: { id: service.demo.carts.active } },
    });
    expect(await tokens.call("/api/v1/oauth/authorize")).toMatchObject({
      status: 200,
      body: { data: { issuer: service.address } },
    });
    await expect(tokens.call("/api/v1/open/webhooks/endpoints")).rejects.toMatchObject({
      status: 403,
      cause: [{ scheme: "dpop", parameters: { error: "insufficient_scope" } }],
    });
  },
);

it("the sign-in and consent page works by keyboard alone, with visible focus", async () => {
  const asked = await oauthApp.ask("catalog:read webhooks:read");
  const page = await open(await browser.open(), asked.url);
  const tab = async (): Promise<string> => {
    await page.keyboard.press("Tab");
    return page.evaluate(() => {
      const element = document.activeElement as HTMLButtonElement;
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      return `${outlineStyle} ${outlineWidth} ${element.id || element.value || element.getAttribute("href")}`;
    });
  };
  const tabs = async (...ways: readonly string[]): Promise<void> => {
    for (const way of ways) expect(await tab()).toBe(`solid 3px ${way}`);
  };
  await expectFocus(page, "email");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("Enter your e-mail address and your password.").waitFor();
  await tabs("#email", "email");
  await page.keyboard.type(service.demo.staff.email);
  await tabs("password");
  await page.keyboard.type(service.demo.staff.password);
  await page.keyboard.press("Enter");
  await page.getByRole("checkbox").first().waitFor();
  await tabs("scope-catalog-read", "scope-webhooks-read");
  await page.keyboard.press("Space");
  await tabs("allow", "deny", "switch");
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Enter");
  expect((await asked.tokens()).scope).toBe("catalog:read");
});

it("the sign-in and consent page asks again if nothing is ticked, and ticks nothing by itself", async () => {
  const asked = await oauthApp.ask("catalog:read webhooks:read");
  const page = await open(await browser.open(), asked.url);
  await signIn(page);
  for (const box of await page.getByRole("checkbox").all()) await box.uncheck();
  await press(page, "Allow");
  expect(await page.getByRole("alert").innerText()).toContain("Choose at least one permission");
  expect(await page.title()).toBe(`Error: ${await question()}`);
  await expectFocus(page, "faults");
  expect(await page.getByRole("checkbox", { checked: true }).count()).toBe(0);
  await page.getByRole("alert").getByRole("link").click();
  await expectFocus(page, "scope-catalog-read");
  await page.keyboard.press("Space");
  await press(page, "Allow");
  expect((await asked.tokens()).scope).toBe("catalog:read");
});

it.each([
  ["at the sign-in", "Go back to Demo integration", false],
  ["at the consent", "Don’t allow", true],
])(
  "the sign-in and consent page returns to the app without access, %s",
  async (_where, button, isSignedIn) => {
    const asked = await oauthApp.ask("catalog:read");
    const page = await open(await browser.open(), asked.url);
    if (isSignedIn) await signIn(page);
    await press(page, button);
    expect(await headingOf(page)).toBe(back);
    expect((await asked.answer).searchParams.get("error")).toBe("access_denied");
    await expect(asked.tokens()).rejects.toMatchObject({ error: "access_denied" });
  },
);

it("the sign-in and consent page works only in the browser in which it was opened", async () => {
  const asked = await oauthApp.ask("catalog:read");
  const page = await open(await browser.open(), asked.url);
  const stranger = await browser.open();
  const lookIn = async (): Promise<void> => {
    const taken = await open(stranger, page.url());
    expect([await headingOf(taken), await taken.locator("form").count()]).toEqual([
      "This sign-in has ended",
      0,
    ]);
    const body = new URLSearchParams({ ...service.demo.staff, action: "sign-in" }).toString();
    const sent = await stranger.request.post(page.url(), {
      data: body,
      headers: { "content-type": "application/x-www-form-urlencoded", origin: service.address },
    });
    expect(sent.status()).toBe(400);
  };
  await lookIn();
  await signIn(page);
  await lookIn();
  await page.reload();
  await press(page, "Allow");
  expect((await asked.tokens()).scope).toBe("catalog:read");
  await page.goBack();
  expect(await headingOf(page)).toBe("This sign-in has ended");
});

it("the sign-in and consent page keeps two interactions apart, and accepts a double click once", async () => {
  const context = await browser.open();
  const [one, other] = [await oauthApp.ask("catalog:read"), await oauthApp.ask("webhooks:read")];
  const [first, second] = [await open(context, one.url), await open(context, other.url)];
  await signIn(first);
  await signIn(second);
  await first.getByRole("button", { name: "Allow", exact: true }).dblclick();
  // Redeemed before the other grant replaces it: an app has one grant per person.
  expect((await one.tokens()).scope).toBe("catalog:read");
  await second.getByRole("button", { name: "Allow", exact: true }).dblclick();
  expect((await other.tokens()).scope).toBe("webhooks:read");
});

it("the sign-in and consent page lets another person sign in instead", async () => {
  const asked = await oauthApp.ask("catalog:read");
  const page = await open(await browser.open(), asked.url);
  await signIn(page);
  await press(page, "Use another account");
  expect([await headingOf(page), await emailOf(page).inputValue()]).toEqual(["Sign in", ""]);
  await signIn(page);
  await press(page, "Allow");
  expect((await asked.tokens()).scope).toBe("catalog:read");
});

const suspend = (status: "suspended" | "active"): Promise<unknown> =>
  runInTransaction(service.app.services.db, (transaction) =>
    updateMerchant(
      transaction,
      { merchantId: null, now: new Date() },
      { merchantId: service.demo.merchants.first.id, status },
    ),
  );

/** Opens every page in turn, and yields its heading. */
async function* everyPage(
  page: Page,
  person: DemoJsonFileContent["staff"],
): AsyncGenerator<readonly [name: string, heading: string]> {
  const { url } = await oauthApp.ask("");
  await page.goto(url);
  yield ["sign-in", "Sign in"];
  await press(page, "Sign in");
  yield ["sign-in-again", "Sign in"];
  await signIn(page, person);
  yield ["consent", "Allow "];
  for (const box of await page.getByRole("checkbox").all()) await box.uncheck();
  await press(page, "Allow");
  yield ["consent-again", "Allow "];
  await suspend("suspended");
  await page.reload();
  yield ["not-now", "can’t get access"];
  await suspend("active");
  await page.goto(url.replace(/client_id=\w+/, "client_id=nobody"));
  yield ["refused", "Your request could not be processed"];
  await page.goto(`${service.address}/oauth/interaction/nothing`);
  yield ["ended", "This sign-in has ended"];
}

const grounds = { light: "rgb(255, 255, 255)", dark: "rgb(23, 32, 29)" } as const;

it.each([
  { colorScheme: "light", width: 1280, names: "short" },
  { colorScheme: "dark", width: 1280, names: "short" },
  { colorScheme: "light", width: 360, names: "short" },
  { colorScheme: "dark", width: 360, names: "short" },
  { colorScheme: "light", width: 320, names: "long" },
] as const)(
  "the sign-in and consent page is accessible: $colorScheme, $width wide, $names names",
  async ({ colorScheme, width, names }) => {
    const page = await (await browser.open({ colorScheme, viewport: { width, height: 720 } })).newPage();
    const person = names === "long" ? await nameAtLength() : service.demo.staff;
    for await (const [name, heading] of everyPage(page, person)) {
      expect(await headingOf(page)).toContain(heading);
      expect([name, await pageFaults(page)]).toEqual([name, []]);
      expect(await page.locator("main").evaluate((main) => getComputedStyle(main).backgroundColor)).toBe(
        grounds[colorScheme],
      );
      await keepLook(page, `${name}-${colorScheme}-${width}`);
    }
  },
);

async function nameAtLength(): Promise<DemoJsonFileContent["staff"]> {
  const email = `${"accounts.receivable".repeat(3)}@a-shop-with-as-long-a-name-as-this.example`;
  const { db } = service.app.services;
  await db
    .updateTable("staffAccount")
    .set({ email, emailNormalized: email })
    .where("email", "=", service.demo.staff.email)
    .execute();
  await db
    .updateTable("app")
    .set({ name: "Warehouse-".repeat(8), publisher: "Donaudampfschifffahrtselektrizitätenhauptbetriebswerk" })
    .execute();
  return { ...service.demo.staff, email };
}

async function keepLook(page: Page, name: string): Promise<void> {
  const folder = process.env["SCREENSHOTS"];
  if (folder !== undefined)
    await page.screenshot({ path: join(folder, `oauth-${name}.png`), fullPage: true });
}

it("the sign-in and consent page loads nothing from other origins, and logs no browser errors", () => {
  const rest = "frame-ancestors 'none'; base-uri 'none'";
  expect(browser.policies).toEqual(
    new Set([
      `default-src 'none'; style-src 'sha256-…'; img-src data:; form-action 'self' http:; ${rest}`,
      `default-src 'none'; style-src 'sha256-…'; img-src data:; form-action 'self'; ${rest}`,
    ]),
  );
  expect([browser.outside, browser.complaints]).toEqual([[], []]);
});
