/** Refusals of the checkout page: each changes nothing, and discloses nothing to other visitors. */
import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { drive, ordersOf, sessionOf } from "#test/commerce/payments/checkouts.ts";
import { changeCart, makeCart, makeCode } from "#test/operations/cart-calls.ts";
import { makeSession } from "#test/operations/checkout-calls.ts";
import { useWorld } from "#test/support/use-world.ts";
import type { World } from "#test/support/world.ts";
import {
  addressTyped,
  type Buyer,
  buyerOf,
  cardOf,
  faultsOf,
  formOf,
  headingOf,
  makePayableSession,
  optionsOf,
  ownHeaders,
  textOf,
} from "./buyer.ts";

const useIt = useWorld();
const useLimited = useWorld("postgres", { environment: { RATE_LIMIT_SCALE: "1" } });
const minute = 60_000;

async function opened(world: World, url: string): Promise<Buyer> {
  const buyer = buyerOf(world, url);
  await buyer.open();
  return buyer;
}

it("the checkout page sets a cookie for its path only, hidden from scripts and other sites", async () => {
  const world = useIt();
  const { url } = await makeSession(world);
  const buyer = buyerOf(world, url);
  const { headers } = await buyer.open();
  expect([headers["set-cookie"]].flat()[0]).toMatch(
    new RegExp(
      `^checkout=[\\w-]{43}\\.[\\w-]{43}; Path=${buyer.path}; Max-Age=172800; HttpOnly; SameSite=Lax; Secure$`,
    ),
  );
  expect((await buyer.open()).headers["set-cookie"]).toBeUndefined();
  const policy = String(headers["content-security-policy"]);
  expect(policy.replace(/'sha256-[^']+'/, "'sha256-…'").split("; ")).toEqual([
    "default-src 'none'",
    "style-src 'sha256-…' 'self'",
    "script-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ]);
});

it("the checkout page refuses a form without the cookie, with another's, or from another site", async () => {
  const world = useIt();
  const session = await makeSession(world);
  const [buyer, other] = [
    await opened(world, session.url),
    await opened(world, (await makeSession(world)).url),
  ];
  const form = { ...addressTyped, action: "address" };
  const body = new URLSearchParams(form).toString();
  const own = { ...ownHeaders, cookie: buyer.cookie() ?? "" };
  for (const headers of [
    ownHeaders,
    { ...ownHeaders, cookie: other.cookie() ?? "" },
    { ...own, cookie: `checkout=${"A".repeat(43)}.${"A".repeat(43)}` },
    { ...own, "sec-fetch-site": "cross-site" },
    { ...own, origin: "https://evil.example", "sec-fetch-site": "cross-site" },
    { ...own, origin: "https://evil.example" },
  ]) {
    const answer = await world.send({ method: "POST", url: buyer.path, headers, body });
    expect([answer.status, headingOf(answer.text)]).toEqual([403, "Dieses Formular wurde nicht angenommen"]);
    const check = await world.send({ method: "POST", url: `${buyer.path}/address-check`, headers, body });
    expect([check.status, check.body]).toEqual([403, { faults: [] }]);
  }
  expect((await buyer.send({ action: "everything" })).status).toBe(403);
  expect(
    (
      await world.send({
        method: "POST",
        url: buyer.path,
        headers: { ...own, "content-type": "application/json" },
        body: "{}",
      })
    ).status,
  ).toBe(400);
  expect(await sessionOf(world, session)).toMatchObject({ version: 1 });
});

it("the checkout page hides personal data from a visitor who has only the address", async () => {
  const world = useIt();
  const { id: cartId } = await makeCart(world, { lines: { "KIT-KVERN": 1 } });
  await changeCart(world, "cartBuyerSet", { cartId, input: { email: "erika@example.com" } });
  const session = await makeSession(world, { cartId });
  const buyer = await opened(world, session.url);
  expect(textOf((await buyer.press("address", addressTyped)).text)).toMatch(
    /Erika Mustermann Heidestraße 17 51147 Köln .* e•••@e•••\.com/,
  );

  const stranger = await opened(world, session.url);
  const seen = textOf(stranger.last().text);
  expect(seen).toContain("in einem anderen Browser fortgesetzt");
  expect(seen).toContain("Handkaffeemühle Kvern");
  const hidden = /E\. M\.|51•|Köln|e•••|erika|Mustermann|Heidestra|51147|value="pay"/i;
  expect(stranger.last().text).not.toMatch(hidden);
  for (const query of ["?edit=address", "?edit=contact", "?stay"])
    expect((await stranger.open(query)).text).not.toMatch(hidden);
  const [optionId = ""] = optionsOf((await buyer.open()).text);
  for (const fields of [
    { action: "pay" },
    { action: "delivery", optionId },
    { action: "promotion", code: "X" },
    { action: "cancel" },
  ])
    expect(await refusedOf(stranger, fields)).toEqual([
      403,
      [
        "Dieser Bezahlvorgang wird in einem anderen Browser fortgesetzt. Um hier fortzufahren, geben Sie " +
          "die Adresse ein.",
      ],
    ]);

  await stranger.open();
  const without = await stranger.press("address", { ...addressTyped, email: " " });
  expect([without.status, faultsOf(without.text)]).toEqual([400, ["Geben Sie Ihre E-Mail-Adresse ein."]]);
  await stranger.press("address", {
    ...addressTyped,
    recipientName: "Jan Berg",
    postalCode: "10115",
    city: "Berlin",
    email: "jan@other.test",
  });
  expect(textOf(stranger.last().text)).toMatch(/Jan Berg .* 10115 Berlin .* jan@other\.test/);
  expect((await buyer.open()).text).not.toMatch(/J\. B\.|Jan Berg|Berlin|jan@/);
  await stranger.press("delivery", { optionId });
  await stranger.press("pay");
  await drive(world);
  expect(headingOf((await stranger.open()).text)).toBe("Vielen Dank");
  const toOthers = await buyer.open();
  const [order] = await ordersOf(world, { cartId });
  const { number } = await world.database.db
    .selectFrom("salesOrder")
    .select("number")
    .where("id", "=", String(order?.id))
    .executeTakeFirstOrThrow();
  expect([headingOf(toOthers.text), toOthers.text.includes(number)]).toEqual([
    "Diese Bestellung ist abgeschlossen",
    false,
  ]);
});

it("the checkout page charges only the amount that was shown: a changed amount is shown first", async () => {
  const world = useIt();
  const session = await makePayableSession(world);
  const buyer = await opened(world, session.url);
  const [, express = ""] = optionsOf(buyer.last().text);
  const form = { ...formOf(buyer.last().text, "pay"), ...cardOf("tok_success") };
  const changed = await buyer.press("pay", { optionId: express });
  expect([changed.status, faultsOf(changed.text)]).toEqual([
    409,
    ["Der Gesamtbetrag hat sich geändert. Prüfen Sie ihn und bezahlen Sie dann."],
  ]);
  const old = await buyer.send({ ...form, optionId: express, action: "pay" });
  expect([old.status, faultsOf(old.text)]).toEqual([
    409,
    ["Inzwischen hat sich etwas geändert. Prüfen Sie Ihre Bestellung noch einmal, bevor Sie bezahlen."],
  ]);
  const lied = await buyer.send({
    ...formOf(old.text, "pay"),
    ...cardOf("tok_success"),
    amountMinor: "1",
    action: "pay",
  });
  expect([lied.status, faultsOf(lied.text)]).toEqual([
    409,
    ["Der Gesamtbetrag hat sich geändert. Prüfen Sie ihn und bezahlen Sie dann."],
  ]);
  expect(await sessionOf(world, session)).toMatchObject({ status: "open" });
  expect(headingOf((await buyer.press("pay")).text)).toBe("Ihre Zahlung wird bearbeitet");
});

async function refusedOf(buyer: Buyer, fields: Readonly<Record<string, string>>): Promise<unknown> {
  const { status, text } = await buyer.send(fields);
  return [status, faultsOf(text)];
}

it("the checkout page asks for the fields of a changed country, and keeps the typed values", async () => {
  const world = useIt();
  const session = await makeSession(world, { country: "US" });
  const buyer = await opened(world, session.url);
  expect(buyer.last().text).toContain('<html lang="en">');
  const typed = {
    ...addressTyped,
    countryCode: "US",
    regionCode: "US-CA",
    postalCode: "10115",
    city: "San Francisco",
  };
  const wrong = await buyer.press("address", typed);
  expect([wrong.status, faultsOf(wrong.text).length]).toEqual([400, 2]);
  expect(faultsOf(wrong.text)[0]).toBe("Check the state. It does not match the ZIP code.");
  const again = await buyer.press("country");
  expect([again.status, formOf(again.text, "address")]).toMatchObject([200, { ...typed, countryCode: "US" }]);
  const check = async (fields: Record<string, string>): Promise<unknown> =>
    (
      await world.send({
        method: "POST",
        url: `${buyer.path}/address-check`,
        headers: { ...ownHeaders, cookie: buyer.cookie() ?? "" },
        body: new URLSearchParams(fields).toString(),
      })
    ).body;
  expect(await check({ ...typed, postalCode: "94103" })).toEqual({ faults: [] });
  const phoneFault = "Enter the phone number with + and the country code.";
  expect(await check({ ...typed, postalCode: "94103", phone: "12" })).toEqual({
    faults: [{ field: "phone", message: phoneFault, summary: phoneFault }],
  });
  expect(await sessionOf(world, session)).toMatchObject({ version: 1 });
});

it("the checkout page cancels on going back, unlocks the cart, and redirects to the shop", async () => {
  const world = useIt();
  const session = await makePayableSession(world);
  const buyer = await opened(world, session.url);
  const left = await buyer.press("cancel");
  expect([left.status, headingOf(left.text)]).toEqual([200, "Dieser Bezahlvorgang wurde abgebrochen"]);
  expect(left.text).toContain(`<meta http-equiv="refresh" content="0; url=${session.cancelUrl}" />`);
  expect(
    (
      await changeCart(world, "cartLinesRemove", {
        cartId: session.cartId,
        input: { lineIds: [session.cart.lines[0].id] },
      })
    ).error,
  ).toBeUndefined();
  const { cancelActor, cancelReason } = await world.database.db
    .selectFrom("hostedCheckoutSession")
    .select(["cancelActor", "cancelReason"])
    .where("id", "=", session.id)
    .executeTakeFirstOrThrow();
  expect([cancelActor, cancelReason]).toEqual(["buyer", "buyer_changed_mind"]);
  const later = await buyer.open();
  expect([later.status, later.text.includes('http-equiv="refresh"')]).toEqual([410, false]);
  expect(later.text).toContain(`href="${session.cancelUrl}"`);
  expect(
    (
      await buyer.send({
        action: "pay",
        key: "again",
        version: "2",
        amountMinor: "8980",
        currency: "EUR",
        ...cardOf("tok_success"),
      })
    ).status,
  ).toBe(303);
  expect(await ordersOf(world, session)).toEqual([]);
});

it("the checkout page reports an ended or unknown session", async () => {
  const world = useIt();
  const session = await makePayableSession(world);
  const buyer = await opened(world, session.url);
  const form = { ...formOf(buyer.last().text, "pay"), ...cardOf("tok_success"), action: "pay" };
  world.clock.advance(61 * minute);
  const gone = await buyer.open();
  expect([gone.status, headingOf(gone.text)]).toEqual([410, "Dieser Bezahlvorgang ist abgelaufen"]);
  expect(gone.text).toContain(`href="${session.cancelUrl}"`);
  expect((await buyer.send(form)).status).toBe(303);
  for (const secret of ["A".repeat(43), "short", `${"A".repeat(42)}%20`]) {
    const unknown = await world.get(`/checkout/${secret}`, { "accept-language": "ja" });
    expect([unknown.status, headingOf(unknown.text)]).toEqual([404, "該当するご購入手続きが見つかりません"]);
    expect([unknown.text.includes(secret), unknown.text.includes('lang="ja"')]).toEqual([false, true]);
  }
  expect((await world.send({ method: "DELETE", url: buyer.path })).status).toBe(405);
});

it("the checkout page waits for a slow payment, and lets the buyer give it up and pay again", async () => {
  const world = useIt();
  const session = await makePayableSession(world);
  const buyer = await opened(world, session.url);
  await buyer.press("pay", cardOf("tok_late_success"));
  await drive(world);
  expect((await buyer.open()).text).not.toContain('value="give-up"');
  world.clock.advance(2 * minute);
  expect(textOf((await buyer.open()).text)).toContain("Es dauert länger als üblich.");
  const again = await buyer.press("give-up");
  expect([again.status, faultsOf(again.text)]).toEqual([
    200,
    [
      "Sie haben das Warten auf die Zahlung beendet. Gelingt sie doch noch, wird sie erstattet. Bezahlen " +
        "Sie anders.",
    ],
  ]);
  await buyer.press("pay", cardOf("tok_success"));
  await drive(world);
  expect(headingOf((await buyer.open()).text)).toBe("Vielen Dank");
  world.clock.advance(30 * minute);
  await drive(world);
  const payments = await world.database.db
    .selectFrom("payment")
    .select("status")
    .where("sessionId", "=", session.id)
    .execute();
  expect(payments.map(({ status }) => status).toSorted()).toEqual(["authorized", "refunded"]);
  expect(await ordersOf(world, session)).toHaveLength(1);
});

it.each([
  ["en-GB", "en", "Checkout", "Total so far"],
  ["de-DE", "de", "Kasse", "Gesamt bisher"],
  ["ja-JP", "ja", "ご購入手続き", "現時点の合計"],
  ["fr-FR", "en", "Checkout", "Total so far"],
])("the checkout page uses the session's language: %s", async (locale, language, heading, total) => {
  const world = useIt();
  const session = await makeSession(world, { input: {} });
  await world.database.db
    .updateTable("hostedCheckoutSession")
    .set({ locale })
    .where("id", "=", session.id)
    .execute();
  const { text } = await buyerOf(world, session.url).open();
  expect([text.includes(`<html lang="${language}">`), headingOf(text), textOf(text).includes(total)]).toEqual(
    [true, heading, true],
  );
});

it("the checkout page counts wrong secrets and wrong codes; the codes together with REST's", async () => {
  const world = useLimited();
  for (let count = 0; count < 20; count += 1)
    expect((await world.get(`/checkout/${"B".repeat(43)}`)).status).toBe(404);
  const guessed = await world.get(`/checkout/${"B".repeat(43)}`);
  expect([guessed.status, headingOf(guessed.text), guessed.headers["retry-after"]]).toEqual([
    429,
    "There were too many attempts",
    "300",
  ]);
  expect(guessed.text).toContain('<a class="button" href="">Try again</a>');
  const known = await makePayableSession(world);
  expect((await opened(world, known.url)).last().status).toBe(200);
  world.clock.advance(6 * minute);
  await makeCode(world, "RIGHT");
  const session = await makePayableSession(world);
  const buyer = await opened(world, session.url);
  for (let count = 0; count < 10; count += 1)
    expect((await buyer.press("promotion", { code: `WRONG${count}` })).status).toBe(404);
  const right = await buyer.send({ action: "promotion", code: "RIGHT" });
  expect([right.status, faultsOf(right.text), right.headers["retry-after"]]).toEqual([
    429,
    [expect.stringMatching(/^Zu viele Versuche\. Versuchen Sie es in .+ noch einmal\.$/)],
    expect.stringMatching(/^\d+$/),
  ]);
  expect(right.text).toContain('value="RIGHT"');
  expect(textOf((await buyer.open()).text)).not.toContain("RIGHT:");
});

it("the checkout page stores the secret only as a digest, and never logs it", async () => {
  const world = useIt();
  const session = await makePayableSession(world);
  const buyer = await opened(world, session.url);
  await buyer.press("pay", cardOf("tok_decline"));
  await world.get(`${buyer.path}/nowhere`);
  const secret = buyer.path.slice("/checkout/".length);
  const lines = world.logged.filter((line) => String(line["route"]).startsWith("/checkout/"));
  expect(lines.length).toBeGreaterThan(2);
  expect(new Set(lines.map(({ route }) => route))).toContain("/checkout/:secret");
  expect(JSON.stringify(world.logged)).not.toContain(secret);
  const { urlDigest } = await world.database.db
    .selectFrom("hostedCheckoutSession")
    .select("urlDigest")
    .where("id", "=", session.id)
    .executeTakeFirstOrThrow();
  expect(Buffer.from(urlDigest ?? [])).toEqual(createHash("sha256").update(secret).digest());
});
