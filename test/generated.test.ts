/** The generated files are what the code gives: `npm test` fails on a difference, `npm run generate` writes them. */
import { expect, it } from "vitest";
import { openDatabase } from "#database/connect.ts";
import { migrate } from "#database/migrate.ts";
import { renderTables } from "./generate/tables.ts";

it("src/database/tables.ts is what the migrations make", async () => {
  const database = await openDatabase({});
  try {
    await migrate(database);
    await expect(await database.script(renderTables)).toMatchFileSnapshot("../src/database/tables.ts");
  } finally {
    await database.close();
  }
});
