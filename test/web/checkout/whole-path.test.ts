/** A buyer's whole way through the checkout page, by forms alone. */
import { describe, expect, it } from "vitest";
import { drive, ordersOf, sessionOf, publishedEventTypes } from "#test/commerce/payments/checkouts.ts";
import { makeCode } from "#test/operations/cart-calls.ts";
import { makeSession } from "#test/operations/checkout-calls.ts";
import { manyConnections } from "#test/support/databases.ts";
import { statementsOf, useWorld } from "#test/support/use-world.ts";
import { addressTyped, buyerOf, cardOf, faultsOf, formOf, headingOf, optionsOf, textOf } from "./buyer.ts";

describe.each(["pglite", "postgres"] as const)("on %s", (engine) => {
  const useIt = useWorld(engine, { poolSize: manyConnections });

  it("address, delivery, code, a declined and a good payment: places one order as the buyer", async () => {
    const world = useIt();
    await makeCode(world, "PAGE10");
    const session = await makeSession(world, { lines: { "KIT-KVERN": 2 } });
    const buyer = buyerOf(world, session.url);

    const first = await buyer.open();
    expect([first.status, headingOf(first.text)]).toEqual([200, "Kasse"]);
    expect(first.headers).toMatchObject({
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
      "x-frame-options": "DENY",
    });
    expect(first.text).toContain('<html lang="de">');
    expect(first.text).toMatch(/<img class="picture" src="\/media\/demo\/[^"]+"/);
    expect(textOf(first.text)).toContain("Menge: 2 · je 84,90 €");

    const wrong = await buyer.press("address", { ...addressTyped, postalCode: "123", city: "" });
    expect([wrong.status, faultsOf(wrong.text)]).toEqual([
      400,
      ["Prüfen Sie die Postleitzahl. Ein Beispiel für Deutschland: 10115.", "Geben Sie den Ort ein."],
    ]);
    expect(wrong.text).toContain('value="Heidestraße 17"');

    const second = await buyer.press("address", addressTyped);
    expect([second.status, faultsOf(second.text)]).toEqual([200, []]);
    expect(textOf(second.text)).toContain("Erika Mustermann Heidestraße 17 51147 Köln Deutschland");
    expect(textOf(second.text)).toContain("Kontakt erika@example.com E-Mail ändern");

    expect(second.text).toMatch(/<button [^>]*id="pay" disabled/);
    expect(textOf(second.text)).toContain("Wählen Sie zuerst eine Versandart.");
    const [standard = ""] = optionsOf(second.text);
    const chosen = await buyer.press("delivery", { optionId: standard });
    expect(textOf(chosen.text)).toMatch(/Gesamt [\d,.]+ € .*Zahlungspflichtig bestellen · [\d,.]+ €/);

    const refused = await buyer.press("promotion", { code: "NOSUCH" });
    expect([refused.status, faultsOf(refused.text)]).toEqual([
      404,
      ["Diesen Gutscheincode gibt es nicht. Prüfen Sie die Schreibweise."],
    ]);
    expect(refused.text).toContain('value="NOSUCH"');
    expect(textOf((await buyer.press("promotion", { code: "page10" })).text)).toContain("PAGE10:");
    expect(textOf((await buyer.press("promotion-remove")).text)).not.toContain("PAGE10:");

    expect(headingOf((await buyer.press("pay", cardOf("tok_decline"))).text)).toBe(
      "Ihre Zahlung wird bearbeitet",
    );
    await drive(world);
    const declined = await buyer.open();
    expect(faultsOf(declined.text)).toEqual([
      "Die Karte wurde abgelehnt. Es wurde nichts abgebucht; versuchen Sie es noch einmal oder bezahlen " +
        "Sie anders.",
    ]);

    const waiting = await buyer.press("pay", cardOf("tok_success"));
    expect(waiting.text).toContain('<noscript><meta http-equiv="refresh" content="3" /></noscript>');
    const status = await world.get(`${buyer.path}/status`);
    expect(status.body).toMatchObject({ status: "processing" });
    await drive(world);
    const done = await buyer.open();
    expect([done.status, headingOf(done.text)]).toEqual([200, "Vielen Dank"]);
    expect(done.text).toContain(`content="10; url=${session.successUrl}"`);
    const [order, ...others] = await ordersOf(world, { cartId: session.cartId });
    expect(others).toEqual([]);
    const { number } = await world.database.db
      .selectFrom("salesOrder")
      .select("number")
      .where("id", "=", String(order?.id))
      .executeTakeFirstOrThrow();
    expect(textOf(done.text)).toContain(`Ihre Bestellung ${number} ist eingegangen.`);
    expect(await publishedEventTypes(world, session)).toEqual(
      expect.arrayContaining([
        "order.placed",
        "checkout_session.payment_failed",
        "checkout_session.completed",
      ]),
    );
    const events = await world.database.db
      .selectFrom("event")
      .select("thin")
      .where("subjectId", "=", session.id)
      .where("type", "=", "checkout_session.processing")
      .execute();
    expect(events.map(({ thin }) => (JSON.parse(thin) as { cause: { actor: string } }).cause.actor)).toEqual([
      "buyer",
      "buyer",
    ]);
  });

  it("ten presses of Pay at once, the Back button and a reload place one order", async () => {
    const world = useIt();
    const session = await makeSession(world, { lines: { "KIT-KVERN": 1 } });
    const buyer = buyerOf(world, session.url);
    await buyer.open();
    const page = await buyer.press("address", addressTyped);
    const [standard = ""] = optionsOf(page.text);
    const ready = await buyer.press("delivery", { optionId: standard });
    const form = { ...formOf(ready.text, "pay"), ...cardOf("tok_success"), action: "pay" };
    const sent = await Promise.all(Array.from({ length: 10 }, () => buyer.send(form)));
    expect(sent.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 303));
    await drive(world);
    expect((await buyer.send(form)).status).toBe(303);
    expect(await ordersOf(world, session)).toHaveLength(1);
    expect(
      await world.database.db
        .selectFrom("payment")
        .select("id")
        .where("sessionId", "=", session.id)
        .execute(),
    ).toHaveLength(1);
    expect(await sessionOf(world, session)).toMatchObject({ status: "completed" });
  });

  it("goods without shipping need no address, but a contact", async () => {
    const world = useIt();
    const session = await makeSession(world, { lines: { "GFT-CARD-25": 1 } });
    const buyer = buyerOf(world, session.url);
    const page = await buyer.open();
    expect(optionsOf(page.text)).toEqual([]);
    expect((await buyer.open("?edit=address")).text).toContain('name="line1"');
    const bare = await buyer.open();
    expect(textOf(bare.text)).toContain("Geben Sie zuerst Ihre E-Mail-Adresse ein.");
    expect(bare.text).toMatch(/id="pay" disabled/);
    const unreachable = await buyer.press("pay");
    expect([unreachable.status, faultsOf(unreachable.text)]).toEqual([
      409,
      ["Geben Sie Ihre E-Mail-Adresse ein."],
    ]);
    const wrong = await buyer.press("contact", { email: "nobody" });
    expect([wrong.status, faultsOf(wrong.text)]).toEqual([
      400,
      ["Schreiben Sie die E-Mail-Adresse wie name@example.com."],
    ]);
    const ready = textOf((await buyer.press("contact", { email: " erika@example.com" })).text);
    expect(ready).toContain("Kontakt erika@example.com");
    expect(ready).toMatch(/Gesamt 25,00 € .*Zahlungspflichtig bestellen · 25,00 €/);
    expect(ready).not.toMatch(/Gesamt bisher|Wird nach der Auswahl|Je nach Adresse/);
    await buyer.press("pay");
    await drive(world);
    expect(headingOf((await buyer.open()).text)).toBe("Vielen Dank");
    expect(await ordersOf(world, session)).toHaveLength(1);
  });

  it("the page needs five statements", async () => {
    const world = useIt();
    const session = await makeSession(world);
    const buyer = buyerOf(world, session.url);
    await buyer.open();
    expect(await statementsOf(world, () => buyer.open())).toHaveLength(5);
  });
});
