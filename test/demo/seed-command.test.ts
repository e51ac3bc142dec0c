/** The command `seed` adds bulk products, carts and orders to the demo on request. */
import { expect, it } from "vitest";
import { migratedPlace, toEnvironment } from "#test/support/copies.ts";
import { runCommand, runHere } from "#test/support/process.ts";

it("creates products, carts and orders, reports their numbers as JSON, and refuses an invalid number", async () => {
  const environment = toEnvironment(await migratedPlace());
  const seeded = await runCommand(
    ["seed", "--products", "20", "--carts", "30", "--orders", "25", "--json"],
    environment,
  );
  expect({ code: seeded.code, stderr: seeded.stderr }).toEqual({ code: 0, stderr: "" });
  expect(JSON.parse(seeded.stdout)).toEqual({
    merchant: expect.stringMatching(/^mer_/),
    products: 20,
    carts: 30,
    orders: 25,
    seconds: expect.any(Number),
  });
  const unknown = await runHere(["seed", "--carts", "1", "--merchant", "mer_none"], environment);
  expect(unknown.code).toBe(1);
  const wrong = await runHere(["seed", "--carts", "many"], environment);
  expect({ code: wrong.code, stdout: wrong.stdout }).toEqual({ code: 2, stdout: "" });
  const more = await runHere(["seed", "--orders", "1000001"], environment);
  expect({ code: more.code, stdout: more.stdout }).toEqual({ code: 2, stdout: "" });
  expect(wrong.stderr).toContain("error: option '--carts <number>' argument 'many' is invalid.");
});
