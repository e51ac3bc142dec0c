/**
 * Card numbers never get further than the request that carries them: not into tables, logs, addresses or
 * answers, whether the number is of a test card, unknown, or typed into a wrong field.
 */
import { sql } from "kysely";
import { expect, it } from "vitest";
import { drive, paymentsOf } from "#test/commerce/payments/checkouts.ts";
import { useWorld } from "#test/support/use-world.ts";
import type { World } from "#test/support/world.ts";
import { buyerOf, cardOf, faultsOf, makePayableSession } from "#test/web/checkout/buyer.ts";

const useIt = useWorld();

/** A valid number of no test card, and a test card's number. */
const [foreign, declined] = ["4111111111111111", "4000000000000002"];
const written = (number: string): string => number.replaceAll(/(\d{4})(?=\d)/g, "$1 ");
const spellings = [foreign, declined].flatMap((number) => [
  number,
  written(number),
  written(number).replaceAll(" ", "-"),
  written(number).replaceAll(" ", "+"),
]);
const leaksIn = (text: string): string[] => spellings.filter((spelling) => text.includes(spelling));

/** Returns the tables that contain one of the numbers, as text or as sealed bytes in hex. */
async function tablesWithNumbers({ database: { db } }: World): Promise<string[]> {
  const { rows: tables } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables where table_schema = 'public'
    and table_type = 'BASE TABLE' order by 1`.execute(db);
  const found: string[] = [];
  for (const { name } of tables) {
    const { rows } = await sql<{ row: string }>`
      select to_jsonb(t)::text as row from ${sql.table(name)} t`.execute(db);
    const hex = spellings.map((spelling) => Buffer.from(spelling).toString("hex"));
    if (rows.some(({ row }) => leaksIn(row).length > 0 || hex.some((bytes) => row.includes(bytes))))
      found.push(name);
  }
  return found;
}

it("a card number occurs in no table, log line, address or answer", async () => {
  const world = useIt();
  const session = await makePayableSession(world);
  const buyer = buyerOf(world, session.url);
  await buyer.open();
  const answers: string[] = [];
  const pay = async (fields: Record<string, string>): Promise<string[]> => {
    const { text, headers } = await buyer.press("pay", { ...cardOf("tok_success"), ...fields });
    answers.push(text, JSON.stringify(headers));
    return faultsOf(text);
  };
  const unknown =
    "Dies ist ein Testshop: Verwenden Sie die Nummer einer Testkarte, zum Beispiel 4242 4242 4242 4242.";
  expect(await pay({ cardNumber: foreign })).toEqual([unknown]);
  expect(await pay({ cardNumber: written(foreign), cardName: foreign, cardExpiry: foreign })).toEqual([
    unknown,
    "Geben Sie das Ablaufdatum als Monat und Jahr ein, zum Beispiel 12/34.",
  ]);
  expect(await pay({ cardCvc: foreign })).toEqual(["Geben Sie die Prüfziffer ein: 3 Ziffern."]);
  expect(await pay({ cardNumber: foreign, optionId: foreign })).not.toEqual([]);
  await pay({ cardNumber: foreign, version: foreign, key: foreign, amountMinor: "1" });
  await buyer.open();
  answers.push((await buyer.press("delivery", { ...cardOf("tok_success"), cardNumber: foreign })).text);
  expect(await paymentsOf(world, session)).toEqual([]);
  await buyer.press("pay", { ...cardOf("tok_success"), cardNumber: written(declined) });
  await drive(world);
  answers.push((await buyer.open()).text);
  expect(await paymentsOf(world, session)).toMatchObject([{ status: "failed" }]);

  // The list of test cards on the page names the declined card, but not the number of the refused card.
  expect(answers.filter((text) => text.includes(foreign) || text.includes(written(foreign)))).toEqual([]);
  expect(leaksIn(JSON.stringify(world.logged))).toEqual([]);
  expect(await tablesWithNumbers(world)).toEqual([]);
});
