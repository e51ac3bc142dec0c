/** The console's branding page in Chromium: what a merchant sets there is on the next checkout page. */
import { Buffer } from "node:buffer";
import { expect, it } from "vitest";
import { drawDemoLogo } from "#demo/pictures/draw-logo.ts";
import { button, expectUsable, goTo, heading, picture, signIn, useOffice } from "./console-office.ts";
import { views } from "./console-views.ts";

const office = useOffice();
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
  await expectUsable(page);
  await color.fill("#123456");
  await button(page, "Save the branding").click();
  await page.getByText("The logo must be a PNG, JPEG or WebP file.").waitFor();
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

it("the branding page loads nothing from other origins", () => {
  expect(office().browser.outside).toEqual([]);
});
