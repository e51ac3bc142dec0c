/** A merchant's branding over GraphQL, and on the checkout page: name, logo, colour, support and legal links. */
import { beforeEach, expect, it } from "vitest";
import { getContrastingTextColor } from "#commerce/merchants/brand-color.ts";
import { drawDemoLogo } from "#demo/pictures/draw-logo.ts";
import { drive } from "#test/commerce/payments/checkouts.ts";
import { makeSession } from "#test/operations/checkout-calls.ts";
import { useWorld } from "#test/support/use-world.ts";
import { buyerOf, cardOf, headingOf, makePayableSession, textOf } from "./buyer.ts";

const world = useWorld();
const first = (): string => world().demo.merchants.first.id;
const fields =
  "displayName color textColor logo { url width height } supportEmail supportPhone supportUrl termsUrl privacyUrl imprintUrl";

async function update(input: string, token: "admin" | "analyst" | "storefront" = "admin", id = first()) {
  const { body } = await world().graphql(
    `mutation { merchantBrandingUpdate(input: { merchantId: "${id}" ${input} }) { branding { ${fields} } } }`,
    { token },
  );
  const error = body.errors?.[0]?.extensions;
  return {
    branding: body.data?.merchantBrandingUpdate?.branding,
    code: error?.code,
    details: error?.details,
  };
}

const nothing =
  "displayName: null, color: null, logo: null, supportEmail: null, supportPhone: null, supportUrl: null, termsUrl: null, " +
  "privacyUrl: null, imprintUrl: null";
// The demo's merchant has a branding.
beforeEach(async () => {
  await update(nothing);
});

it("the branding is changed in parts; null removes a part", async () => {
  await update('color: "#ffd400", supportEmail: "help@shop.example"');
  const { branding } = await update('supportPhone: "+49 30 5550123", supportEmail: null');
  expect(branding).toMatchObject({
    color: "#ffd400",
    textColor: "#000000",
    supportEmail: null,
    supportPhone: "+49 30 5550123",
    logo: null,
  });
  const logo = (await update(`logo: "${drawDemoLogo("#7a3e1d")}"`)).branding.logo;
  expect(logo).toEqual({
    url: expect.stringMatching(/\/checkout-logo\/[0-9a-f]{64}$/),
    width: 96,
    height: 96,
  });
  expect((await update('color: "#102030"')).branding).toMatchObject({ textColor: "#ffffff", logo });
  expect((await update(nothing)).branding).toEqual({
    displayName: null,
    color: null,
    textColor: null,
    logo: null,
    supportEmail: null,
    supportPhone: null,
    supportUrl: null,
    termsUrl: null,
    privacyUrl: null,
    imprintUrl: null,
  });
});

it.each([
  ['displayName: ""', "/displayName", "too_short"],
  [`displayName: "${"x".repeat(101)}"`, "/displayName", "too_long"],
  ['displayName: "Two\\nlines"', "/displayName", "control_character"],
  ['color: "red"', "/color", "pattern_mismatch"],
  ['color: "#7A3E1D"', "/color", "pattern_mismatch"],
  ['color: "#12345;}"', "/color", "pattern_mismatch"],
  ['supportEmail: "help at shop"', "/supportEmail", "pattern_mismatch"],
  ['supportPhone: "call us"', "/supportPhone", "pattern_mismatch"],
  ['supportUrl: "javascript:alert(1)"', "/supportUrl", "not_allowed"],
  ['termsUrl: "http://shop.example/terms"', "/termsUrl", "not_allowed"],
  ['privacyUrl: "/privacy"', "/privacyUrl", "invalid_url"],
  ['imprintUrl: "https://user:word@shop.example"', "/imprintUrl", "not_allowed"],
  ['logo: "no base64!"', "/logo", "pattern_mismatch"],
  ['logo: "aGVsbG8="', "/logo", "not_allowed"],
])("%s is refused, and nothing is changed", async (input, field, code) => {
  await update('color: "#102030"');
  const refused = await update(`${input}, color: "#405060"`.replace(/(color: .*), color: .*/, "$1"));
  expect([refused.code, refused.details]).toEqual([
    "invalid_field",
    [expect.objectContaining({ field, code })],
  ]);
  expect((await update("")).branding.color).toBe("#102030");
});

it("all faults are named at once", async () => {
  const { details } = await update('color: "red", termsUrl: "x", supportEmail: "x", logo: "aGVsbG8="');
  expect(details.map(({ field }: { field: string }) => field)).toEqual([
    "/color",
    "/supportEmail",
    "/termsUrl",
    "/logo",
  ]);
});

it("only staff of the merchant change it", async () => {
  expect((await update('color: "#102030"', "analyst")).code).toBe("role_not_allowed");
  expect((await update('color: "#102030"', "storefront")).code).toBe("role_not_allowed");
  const foreign = await update('color: "#102030"', "admin", world().demo.merchants.second.id);
  expect(foreign.code).toBe("merchant_not_found");
});

it("the audit trail says who changed which parts of the branding, without the values", async () => {
  await update(`color: "#102030", logo: "${drawDemoLogo("#102030")}"`);
  await update('color: "red"');
  await update('color: "#203040"', "analyst");
  const entry = await world()
    .database.db.selectFrom("auditEntry")
    .selectAll()
    .where("action", "=", "merchantBrandingUpdate")
    .orderBy("at", "desc")
    .orderBy("id", "desc")
    .executeTakeFirstOrThrow();
  expect(entry).toMatchObject({
    merchantId: first(),
    actor: "staff",
    targetType: "merchant",
    targetId: first(),
    details: { fields: ["color", "logo"] },
  });
});

it("the checkout page shows the branding, in the page's language", async () => {
  const session = await makeSession(world(), { lines: { "KIT-KVERN": 1 } });
  const buyer = buyerOf(world(), session.url);
  const plain = await buyer.open();
  expect([plain.status, headingOf(plain.text)]).toEqual([200, "Kasse"]);
  expect(plain.text).not.toMatch(/merchant-logo|checkout-theme|merchant-links/);
  expect(textOf(plain.text)).toContain("Abbrechen und zurück zu Lindenhof");

  const { branding } = await update(
    `displayName: "Haus & Linde", color: "#7a3e1d", logo: "${drawDemoLogo("#7a3e1d")}", supportEmail: "help@shop.example", ` +
      'supportPhone: "+49 (30) 555-0123", supportUrl: "https://shop.example/help?a=1&b=2", ' +
      'termsUrl: "https://shop.example/agb", imprintUrl: "https://shop.example/impressum"',
  );
  const { text, headers } = await buyer.open();
  const logoPath = new URL(branding.logo.url).pathname;
  expect(text).toMatch(
    new RegExp(`class="merchant-logo"\\s+src="${logoPath}"\\s+width="96"\\s+height="96"\\s+alt=""`),
  );
  expect(text).toContain('<link rel="stylesheet" href="/checkout-theme/7a3e1d.css"');
  expect(text).toContain('href="mailto:help@shop.example"');
  expect(text).toContain('href="tel:+49305550123"');
  expect(text).toContain('href="https://shop.example/help?a=1&amp;b=2"');
  expect(textOf(text)).toContain("Abbrechen und zurück zu Haus & Linde");
  expect(textOf(text)).not.toContain("Lindenhof");
  expect(textOf(text)).toMatch(
    /Hilfe von Haus & Linde: shop\.example · help@shop\.example · \+49 \(30\) 555-0123/,
  );
  expect(textOf(text)).toMatch(/AGB Impressum/);
  expect(textOf(text)).not.toContain("Datenschutz");
  // The policy of the page needs no exception.
  expect(headers["content-security-policy"]).toBe(plain.headers["content-security-policy"]);

  const canceled = await buyer.press("cancel");
  expect(headingOf(canceled.text)).toBe("Dieser Bezahlvorgang wurde abgebrochen");
  expect(textOf(canceled.text)).toContain("help@shop.example");
});

it("the pages after the purchase and after the session's time show how to reach the merchant", async () => {
  await update('supportEmail: "help@shop.example"');
  const paid = buyerOf(world(), (await makePayableSession(world())).url);
  await paid.open();
  await paid.press("pay", cardOf("tok_success"));
  await drive(world());
  const thanks = await paid.open();
  expect(headingOf(thanks.text)).toBe("Vielen Dank");
  expect(textOf(thanks.text)).toMatch(/nennen Sie die Bestellnummer \S+: help@shop\.example/);

  const late = buyerOf(world(), (await makeSession(world(), { lines: { "KIT-KVERN": 1 } })).url);
  world().clock.advance(25 * 3_600_000);
  const expired = await late.open();
  expect([expired.status, headingOf(expired.text)]).toEqual([410, "Dieser Bezahlvorgang ist abgelaufen"]);
  expect(textOf(expired.text)).toContain("help@shop.example");
});

it("logo and style sheet are kept by browsers for ever, and are nothing but picture and style", async () => {
  const file = drawDemoLogo("#7a3e1d");
  const { branding } = await update(`logo: "${file}"`);
  const logo = await world().app.server.inject(new URL(branding.logo.url).pathname);
  expect(logo.rawPayload.toString("base64")).toBe(file);
  const theme = await world().app.server.inject("/checkout-theme/ffd400.css");
  expect(theme.payload).toBe(":root{--brand-fill:#ffd400;--on-brand-fill:#000000}\n");
  for (const [answer, type] of [
    [logo, "image/png"],
    [theme, "text/css; charset=utf-8"],
  ] as const)
    expect([answer.statusCode, answer.headers]).toEqual([
      200,
      expect.objectContaining({
        "content-type": type,
        "cache-control": "public, max-age=31536000, immutable",
        "content-security-policy": "default-src 'none'",
        "x-content-type-options": "nosniff",
      }),
    ]);
});

it("text on any colour has a contrast of at least 4.5 to 1", () => {
  const luminance = (color: string): number => {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5]
      .map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255)
      .map((share) => (share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  for (let value = 0; value < 0xff_ff_ff; value += 4099) {
    const color = `#${value.toString(16).padStart(6, "0")}`;
    const [low = 0, high = 0] = [luminance(color), luminance(getContrastingTextColor(color))].toSorted(
      (a, b) => a - b,
    );
    expect((high + 0.05) / (low + 0.05)).toBeGreaterThan(4.5);
  }
});
