/** The console's branding page in Chromium: what a merchant sets there is on the next checkout page. */
import { Buffer } from "node:buffer";
import { expect, it } from "vitest";
import { drawDemoLogo } from "#demo/pictures/draw-logo.ts";
import { button, expectUsable, goTo, heading, picture, signIn, useOffice } from "./console-office.ts";
import { views } from "./console-views.ts";

const office = useOffice();
/** Runs in the page. Returns the contrast of the element's edge to the page's ground (WCAG 2.2). */
function findEdgeContrast(element: Element): number {
  const luminance = (color: string): number => {
    const context = new OffscreenCanvas(1, 1).getContext("2d");
    if (context === null) throw new Error("The browser has no canvas.");
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
    const [red = 0, green = 0, blue = 0] = [...context.getImageData(0, 0, 1, 1).data].map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [low = 0, high = 0] = [
    luminance(getComputedStyle(element).borderTopColor),
    luminance(getComputedStyle(document.body).backgroundColor),
  ].toSorted((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

const png = Buffer.from(drawDemoLogo("#123456"), "base64");

it("the console changes the branding, explains refused values, and the checkout page shows it", async () => {
  const page = await signIn(office());
  await goTo(page, "Branding");
  await heading(page, "Branding").waitFor();
  const color = page.getByLabel("Colour of the buttons");
  await expect.poll(() => color.inputValue()).toBe("#7a3e1d");
  await page.getByAltText("Logo of Lindenhof").waitFor();

  await color.fill("blue");
  await page.getByLabel("Logo", { exact: true }).setInputFiles({
    name: "logo.png",
    mimeType: "image/png",
    buffer: Buffer.from("<svg onload=alert(1)>"),
  });
  await button(page, "Save the branding").click();
  await page.getByText("The colour must have the form #rrggbb").waitFor();
  await page.getByText("The logo must be a PNG, JPEG or WebP file.").waitFor();
  await expectUsable(page);
  await picture(page, "branding-refused");
  const preview = page.getByText("Pay €24.00");
  expect(await preview.count()).toBe(0);
  for (const [typed, shown] of [
    ["#FFD400", ["rgb(255, 212, 0)", "rgb(0, 0, 0)"]],
    ["#123456", ["rgb(18, 52, 86)", "rgb(255, 255, 255)"]],
  ] as const) {
    await color.fill(typed);
    await expect
      .poll(() =>
        preview.evaluate((span) => [getComputedStyle(span).backgroundColor, getComputedStyle(span).color]),
      )
      .toEqual(shown);
  }
  await page.getByLabel("Name", { exact: true }).fill("Haus Lindenhof");
  await page
    .getByLabel("Logo", { exact: true })
    .setInputFiles({ name: "logo.png", mimeType: "", buffer: png });
  await page.getByLabel("Phone number for help").fill("");
  await button(page, "Save the branding").click();
  await page.getByText("Saved. The next checkout page shows it.").waitFor();
  await page.reload();
  await expect.poll(() => color.inputValue()).toBe("#123456");

  const checkout = await (await office().browser.open({ locale: "en-GB" })).newPage();
  const { pathname } = new URL(office().demo.checkout?.url ?? "");
  await checkout.goto(office().address + pathname);
  const logo = checkout.locator(".merchant-logo");
  await expect.poll(() => logo.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(96);
  const pay = checkout.locator("#pay");
  expect(await pay.evaluate((element) => getComputedStyle(element).backgroundColor)).toBe("rgb(18, 52, 86)");
  expect(await checkout.locator(".merchant").innerText()).toMatch(/^Haus Lindenhof/);
  const footer = checkout.locator(".merchant-links");
  expect(await footer.getByRole("link").allInnerTexts()).toEqual([
    "lindenhof.example",
    "help@lindenhof.example",
    "Terms of sale",
    "Privacy",
    "Legal notice",
  ]);
  await picture(checkout, "checkout-branding");
});

it.each(views)("the branding page has no accessibility faults: $name", async ({ name, options }) => {
  const page = await signIn(office(), "/branding", options);
  await page.getByAltText("Logo of Lindenhof").waitFor();
  await expectUsable(page);
  await picture(page, `branding-${name}`);
});

it.each(views)(
  "the checkout page is accessible with a colour close to its ground: $name",
  async ({ name, options }) => {
    const { browser, demo, address, app } = office();
    const page = await (await browser.open(options)).newPage();
    for (const color of ["#0e1513", "#f5f4ef"]) {
      await app.services.db
        .updateTable("merchantBranding")
        .set({ color })
        .where("merchantId", "=", demo.merchants.first.id)
        .execute();
      await page.goto(address + new URL(demo.checkout?.url ?? "").pathname);
      await page.locator("#pay:enabled").waitFor();
      await expectUsable(page);
      expect(await page.locator("#pay").evaluate(findEdgeContrast)).toBeGreaterThan(3);
      await picture(page, `checkout-branding-${color.slice(1)}-${name}`);
    }
  },
);

it("the branding page loads nothing from other origins", () => {
  expect(office().browser.outside).toEqual([]);
});
