/**
 * Changes since the page was loaded, or earlier choices, do not prevent payment: the page shows the current
 * state and continues.
 */
import { expect, it } from "vitest";
import { drive, paymentsOf, sessionOf } from "#test/commerce/payments/checkouts.ts";
import { makeCode } from "#test/operations/cart-calls.ts";
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
  textOf,
} from "./buyer.ts";

const useIt = useWorld();
const amountChanged = ["Der Gesamtbetrag hat sich geändert. Prüfen Sie ihn und bezahlen Sie dann."];

async function opened(world: World, url: string): Promise<Buyer> {
  const buyer = buyerOf(world, url);
  await buyer.open();
  return buyer;
}

async function changePrice({ database }: World, from: number, to: number): Promise<void> {
  const { id } = await database.db
    .selectFrom("variant")
    .select("id")
    .where("sku", "=", "KIT-KVERN")
    .executeTakeFirstOrThrow();
  await database.db
    .updateTable("price")
    .set({ amountMinor: to })
    .where("variantId", "=", id)
    .where("amountMinor", "=", from)
    .execute();
}

/** The values of the card form on the page, in its order. */
const cardValues = (page: string): string[] =>
  [...page.matchAll(/name="card\w+"[^>]*\svalue="([^"]*)"/g)].map(([, value = ""]) => value);

it("the checkout page shows a changed price, and pays it with the next press", async () => {
  const world = useIt();
  const session = await makePayableSession(world);
  const buyer = await opened(world, session.url);
  try {
    await changePrice(world, 8490, 9090);
    const refused = await buyer.press("pay", cardOf("tok_slow"));
    expect([refused.status, faultsOf(refused.text)]).toEqual([409, amountChanged]);
    expect(textOf(refused.text)).toMatch(/Gesamt 95,80 € .*Zahlungspflichtig bestellen · 95,80 €/);
    expect(cardValues(refused.text)).toEqual(["", "12/34", "", "Erika Mustermann"]);
    expect(await sessionOf(world, session)).toMatchObject({ status: "open", version: session.version + 1 });
    expect(headingOf((await buyer.press("pay")).text)).toBe("Ihre Zahlung wird bearbeitet");
    expect(await paymentsOf(world, session)).toMatchObject([{ amountMinor: 9580 }]);
  } finally {
    await changePrice(world, 9090, 8490);
  }
});

it("the checkout page shows that a code no longer applies, then pays without it", async () => {
  const world = useIt();
  await makeCode(world, "GONE10");
  const session = await makePayableSession(world);
  const buyer = await opened(world, session.url);
  await buyer.press("promotion", { code: "GONE10" });
  await world.database.db
    .updateTable("promotion")
    .set({ status: "paused" })
    .where("id", "in", codes(world, "GONE10"))
    .execute();
  const refused = await buyer.press("pay");
  expect([refused.status, faultsOf(refused.text)]).toEqual([409, amountChanged]);
  expect(textOf(refused.text)).toContain("GONE10 gilt für diese Bestellung zurzeit nicht.");
  expect(headingOf((await buyer.press("pay")).text)).toBe("Ihre Zahlung wird bearbeitet");
});

const codes = ({ database }: World, code: string) =>
  database.db.selectFrom("promotionCode").select("promotionId").where("code", "=", code);

it("the checkout page shows a declined payment at the top, later beside the means of payment", async () => {
  const world = useIt();
  const buyer = await opened(world, (await makePayableSession(world)).url);
  await buyer.press("pay", cardOf("tok_decline"));
  await drive(world);
  expect(faultsOf((await buyer.open()).text)).toEqual([
    expect.stringContaining("Die Karte wurde abgelehnt."),
  ]);
  const [, express = ""] = optionsOf(buyer.last().text);
  const changed = await buyer.press("delivery", { optionId: express });
  expect(faultsOf(changed.text)).toEqual([]);
  expect(changed.text).toMatch(/<p class="fault last-payment">Die Karte wurde abgelehnt\./);
});

it("the checkout page reports a form with manipulated numbers as outdated instead of failing", async () => {
  const world = useIt();
  const session = await makePayableSession(world);
  const buyer = await opened(world, session.url);
  const form = { ...formOf(buyer.last().text, "pay"), ...cardOf("tok_success"), action: "pay" };
  for (const wrong of [
    { version: "99999999999" },
    { version: "2147483648" },
    { version: "-1" },
    { amountMinor: "9999999999999999" },
    { amountMinor: "x" },
  ]) {
    const { status, text } = await buyer.send({ ...form, ...wrong });
    expect([status, faultsOf(text).length]).toEqual([409, 1]);
  }
  expect(await sessionOf(world, session)).toMatchObject({ status: "open" });
});

it("the checkout page lets the buyer give up a payment that takes long", async () => {
  const world = useIt();
  const buyer = await opened(world, (await makePayableSession(world)).url);
  await buyer.press("pay", cardOf("tok_late_success"));
  await drive(world);
  world.clock.advance(20_000);
  expect((await buyer.open()).text).toContain('data-long-after="40000"');
  world.clock.advance(40_000);
  const long = await buyer.open();
  expect([long.text.includes("data-long-after"), long.text.includes('value="give-up"')]).toEqual([
    false,
    true,
  ]);
});

it("the checkout page shows texts in one language, whatever format the amounts have", async () => {
  const world = useIt();
  const session = await makePayableSession(world);
  await world.database.db
    .updateTable("hostedCheckoutSession")
    .set({ locale: "nl-NL" })
    .where("id", "=", session.id)
    .execute();
  const text = textOf((await buyerOf(world, session.url).open()).text);
  expect(text).toMatch(/DHL · 2–4 days/);
  expect(text).toMatch(/another \d+ minutes/);
});

it("the checkout page shows a buyer who has paid the amount and the e-mail, masked after 30 minutes", async () => {
  const world = useIt();
  const session = await makeSession(world, { lines: { "KIT-KVERN": 1 } });
  const buyer = await opened(world, session.url);
  await buyer.press("address", addressTyped);
  await buyer.press("delivery", { optionId: optionsOf(buyer.last().text)[0] ?? "" });
  await buyer.press("pay");
  await drive(world);
  expect(textOf((await buyer.open()).text)).toMatch(
    /Gesamt 89,80 € .*Erika Mustermann Heidestraße 17 .*erreicht Sie unter erika@example\.com/,
  );
  world.clock.advance(31 * 60_000);
  expect(textOf((await buyer.open()).text)).toMatch(
    /Gesamt 89,80 € .*E\. M\. 51••• Köln .*erreicht Sie unter e•••@e•••\.com/,
  );
});
