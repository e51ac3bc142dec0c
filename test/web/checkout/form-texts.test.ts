/**
 * The texts of the checkout page: its language, the words for address fields in each country, and why a
 * promotion code is refused.
 */
import { expect, it } from "vitest";
import { drive } from "#test/commerce/payments/checkouts.ts";
import { makeCode } from "#test/operations/cart-calls.ts";
import { makeSession } from "#test/operations/checkout-calls.ts";
import { useWorld } from "#test/support/use-world.ts";
import type { World } from "#test/support/world.ts";
import {
  addressTyped,
  type Buyer,
  buyerOf,
  faultsOf,
  headingOf,
  makePayableSession,
  textOf,
} from "./buyer.ts";

const useIt = useWorld();

const languageOf = (page: string): string | undefined => /<html lang="([^"]+)"/.exec(page)?.[1];

/** Opens the page of a new session in a country, in a browser that prefers the language. */
async function openIn(world: World, country: string, language: string): Promise<Buyer> {
  const session = await makeSession(world, { country });
  const buyer = buyerOf(world, session.url, { headers: { "accept-language": language } });
  await buyer.open();
  return buyer;
}

/** Returns the labels of the address form in their order, without "(optional)". */
const labelsOf = (page: string): string[] =>
  [...page.matchAll(/<label for="address-\w+"\s*>([\s\S]*?)<\/label\s*>/g)].map(([, label = ""]) =>
    textOf(label).replace(/ ?[（(].*/, ""),
  );

it.each([
  ["ja,en;q=0.8", "ja"],
  ["fr-CH, fr;q=0.9, de;q=0.7, en;q=0.8", "en"],
  ["fr", "de"],
  ["en-US", "en"],
])("the checkout page starts in the language that the browser prefers: %s", async (header, language) => {
  const world = useIt();
  const buyer = await openIn(world, "DE", header);
  expect(languageOf(buyer.last().text)).toBe(language);
});

it("the checkout page keeps the chosen language and the typed values in all steps", async () => {
  const world = useIt();
  const buyer = await openIn(world, "DE", "en");
  const typed = { ...addressTyped, city: "" };
  const inGerman = await buyer.send({ ...typed, action: "language-de" });
  expect([inGerman.status, languageOf(inGerman.text), headingOf(inGerman.text)]).toEqual([
    200,
    "de",
    "Kasse",
  ]);
  expect(inGerman.text).toContain('value="Heidestraße 17"');
  expect(textOf(inGerman.text)).toMatch(/Gesamt bisher [\d.,]+ €/);
  const wrong = await buyer.press("address", typed);
  expect(faultsOf(wrong.text)).toEqual(["Geben Sie den Ort ein."]);
  await buyer.press("address", addressTyped);
  expect((await buyer.send({ action: "language-ja" })).status).toBe(303);
  expect(headingOf((await buyer.open()).text)).toBe("ご購入手続き");
  expect(textOf(buyer.last().text)).toMatch(/現時点の合計 €[\d.,]+/);
  expect((await buyer.send({ action: "language-xx" })).status).toBe(403);
});

it("the checkout page keeps the chosen language after the payment", async () => {
  const world = useIt();
  const buyer = buyerOf(world, (await makePayableSession(world)).url);
  await buyer.open();
  await buyer.send({ action: "language-en" });
  await buyer.open();
  await buyer.press("pay");
  expect(headingOf((await buyer.open()).text)).toBe("Your payment is being processed");
  await drive(world);
  expect(headingOf((await buyer.open("?stay")).text)).toBe("Thank you");
  await buyer.send({ action: "language-de" });
  expect(headingOf((await buyer.open("?stay")).text)).toBe("Vielen Dank");
});

it("the checkout page names delivery methods in its language if the merchant has the names", async () => {
  const world = useIt();
  const buyer = buyerOf(world, (await makePayableSession(world)).url);
  const nameOf = async (): Promise<string | undefined> =>
    /<label for="option-[^>]*>(.*?)<\/label>/.exec((await buyer.open()).text)?.[1];
  expect(await nameOf()).toBe('<span lang="de">Standardversand</span>');
  await buyer.send({ action: "language-en" });
  expect(await nameOf()).toBe('<span lang="en">Standard delivery</span>');
  await buyer.send({ action: "language-ja" });
  expect(await nameOf()).toBe('<span lang="ja">通常配送</span>');
  await world.database.db
    .updateTable("deliveryMethod")
    .set({ names: JSON.stringify({ de: "Standardversand" }) })
    .where("code", "=", "standard")
    .execute();
  expect(await nameOf()).toBe('<span lang="de">Standardversand</span>');
});

it("the checkout page names address fields in the words and the order of each country", async () => {
  const world = useIt();
  const american = await openIn(world, "US", "en");
  expect(labelsOf(american.last().text)).toEqual([
    "Country",
    "Full name",
    "Company",
    "Street address",
    "Apartment, suite, unit",
    "City",
    "State",
    "ZIP code",
    "Phone",
    "E-mail",
  ]);
  expect(american.last().text).toMatch(/id="address-postalCode"[^>]*inputmode="numeric"/);
  const faults = faultsOf((await american.press("address", { ...addressTyped, countryCode: "US" })).text);
  expect(faults).toEqual(["Choose the state."]);
  const wrong = await american.press("address", {
    ...addressTyped,
    countryCode: "US",
    regionCode: "US-CA",
    postalCode: "1",
  });
  expect(faultsOf(wrong.text)).toEqual(["Check the ZIP code. An example for United States: 94103."]);
  const inGerman = await american.send({ countryCode: "US", action: "language-de" });
  expect(labelsOf(inGerman.text).slice(5, 8)).toEqual(["Stadt", "Bundesstaat", "Postleitzahl"]);

  const german = await openIn(world, "DE", "de");
  expect(labelsOf(german.last().text).slice(3, 7)).toEqual([
    "Straße und Hausnummer",
    "Adresszusatz",
    "Postleitzahl",
    "Ort",
  ]);
  const japanese = await openIn(world, "JP", "ja");
  expect(labelsOf(japanese.last().text).slice(3, 8)).toEqual([
    "郵便番号",
    "都道府県",
    "市区町村",
    "町名・番地",
    "建物名・部屋番号",
  ]);
  expect(
    faultsOf((await japanese.press("address", { ...addressTyped, countryCode: "JP", line1: "" })).text),
  ).toEqual([
    "郵便番号をご確認ください。日本の例：100-0001",
    "都道府県を選択してください。",
    "町名・番地を入力してください。",
  ]);
});

it("the checkout page says what a promotion code needs, and why it does not apply", async () => {
  const world = useIt();
  await makeCode(world, "BIG500", { minimumSubtotalMinor: 50_000, currency: "EUR" });
  await makeCode(world, "FIVE", { minimumQuantity: 5 });
  await makeCode(world, "SOON", { startsAt: "2999-01-01T00:00:00Z" });
  const session = await makePayableSession(world, { "KIT-KVERN": 2 });
  const refusalOf = async (code: string, language: string): Promise<unknown> => {
    const buyer = buyerOf(world, session.url, { headers: { "accept-language": language } });
    await buyer.open();
    const { status, text } = await buyer.press("promotion", { code });
    return [status, faultsOf(text)];
  };
  expect(await refusalOf("BIG500", "en")).toEqual([
    409,
    ["Items for €330.20 are missing for this code: it needs an order of at least €500.00."],
  ]);
  expect(await refusalOf("BIG500", "de")).toEqual([
    409,
    ["Für diesen Code fehlen Artikel für 330,20 €: Er gilt ab einem Bestellwert von 500,00 €."],
  ]);
  expect(await refusalOf("FIVE", "en")).toEqual([
    409,
    ["This code needs at least 5 matching items; 3 more to go."],
  ]);
  expect(await refusalOf("SOON", "en")).toEqual([409, ["This code is not valid yet."]]);
});
