/** The whole address and e-mail on the checkout page: shown only to the browser that has entered them. */
import { expect, it } from "vitest";
import { drive } from "#test/commerce/payments/checkouts.ts";
import { makeCode } from "#test/operations/cart-calls.ts";
import { makeSession } from "#test/operations/checkout-calls.ts";
import { useWorld } from "#test/support/use-world.ts";
import type { World } from "#test/support/world.ts";
import { addressTyped, type Buyer, buyerOf, formOf, makePayableSession, optionsOf, textOf } from "./buyer.ts";

const useIt = useWorld();

async function opened(world: World, url: string): Promise<Buyer> {
  const buyer = buyerOf(world, url);
  await buyer.open();
  return buyer;
}

it("the checkout page shows the buyer the whole address and e-mail, and both can be changed", async () => {
  const world = useIt();
  const buyer = await opened(world, (await makeSession(world)).url);
  const saved = textOf((await buyer.press("address", { ...addressTyped, phone: "+49301234567" })).text);
  expect(saved).toMatch(
    /Erika Mustermann Heidestraße 17 51147 Köln Deutschland \+49301234567 .*Adresse ändern .*erika@example\.com E-Mail ändern/,
  );
  const form = formOf((await buyer.open("?edit=address")).text, "address");
  expect(form).toMatchObject({ recipientName: "Erika Mustermann", line1: "Heidestraße 17", city: "Köln" });
  expect(textOf((await buyer.press("address", { city: "Bonn" })).text)).toContain("51147 Bonn");
  expect(formOf((await buyer.open("?edit=contact")).text, "contact")).toEqual({ email: "erika@example.com" });
  expect(textOf((await buyer.press("contact", { email: "em@example.org" })).text)).toContain(
    "em@example.org",
  );
});

it("the checkout page masks an address that the shop has set, also for the browser that holds it", async () => {
  const world = useIt();
  await makeCode(world, "FIRST");
  const buyer = await opened(world, (await makePayableSession(world)).url);
  await buyer.press("promotion", { code: "FIRST" });
  expect(textOf(buyer.last().text)).toContain("FIRST:");
  expect(textOf(buyer.last().text)).toMatch(/10••• Berlin .*e•••@e•••\.com/);
  for (const query of ["", "?edit=contact", "?edit=address"])
    expect((await buyer.open(query)).text).not.toMatch(/erika@|Heidestra|10115/);
  await buyer.open("?edit=contact");
  await buyer.press("contact", { email: "own@example.org" });
  expect(textOf(buyer.last().text)).toMatch(/10••• Berlin .*own@example\.org/);
});

it("the checkout page forgets whose address it is when the address is erased", async () => {
  const world = useIt();
  const session = await makeSession(world);
  const buyer = await opened(world, session.url);
  await buyer.press("address", addressTyped);
  const rowsOf = () =>
    world.database.db
      .selectFrom("personalData")
      .select(["kind", "pageDigest", "erasedAt"])
      .where("cartId", "=", session.cartId)
      .where("kind", "=", "address")
      .orderBy("erasedAt")
      .execute();
  expect((await rowsOf()).map(({ pageDigest }) => pageDigest !== null)).toEqual([true]);
  await buyer.open("?edit=address");
  await buyer.press("address", { city: "Bonn" });
  expect(
    (await rowsOf()).map(({ pageDigest, erasedAt }) => [pageDigest !== null, erasedAt !== null]),
  ).toEqual([
    [false, true],
    [true, false],
  ]);
});

it("the page after the payment shows the order, and returns to the shop unless the buyer stays", async () => {
  const world = useIt();
  const session = await makeSession(world, { lines: { "KIT-KVERN": 2 } });
  const buyer = await opened(world, session.url);
  await buyer.press("address", addressTyped);
  await buyer.press("delivery", { optionId: optionsOf(buyer.last().text)[0] ?? "" });
  await buyer.press("pay");
  await drive(world);
  const { text } = await buyer.open();
  expect(textOf(text)).toMatch(/Sie werden in 10 Sekunden zu .* weitergeleitet\. Auf dieser Seite bleiben/);
  expect(textOf(text)).toMatch(
    /Kvern Menge: 2 .* Gesamt [\d,]+ € .*Voraussichtliche Lieferung: .*Erika Mustermann .*erika@example\.com/,
  );
  const staying = (await buyer.open("?stay")).text;
  expect([
    staying.includes("http-equiv"),
    staying.includes("data-leave"),
    staying.includes("Sekunden"),
  ]).toEqual([false, false, false]);
  expect(staying).toContain(`href="${session.successUrl}"`);
});

it("the page of an ended session says how to order again, and shows what was in the order", async () => {
  const world = useIt();
  const session = await makePayableSession(world);
  const buyer = await opened(world, session.url);
  world.clock.advance(61 * 60_000);
  const expired = await buyer.open();
  expect(textOf(expired.text)).toMatch(
    /nicht mehr für Sie reserviert\. Um zu bestellen, gehen Sie zurück zu .*Zurück zu .*Kvern Menge: 1/,
  );
  expect(expired.text).toContain(`href="${session.cancelUrl}"`);
});
