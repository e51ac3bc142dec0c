/** The command `seed` adds bulk products, carts and orders to the demo on request. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { runCommand, temporaryFolder } from "#test/support/process.ts";

it("creates products, carts and orders, reports their numbers as JSON, and refuses an invalid number", async () => {
  const environment = { DATA_DIR: join(temporaryFolder(), "data") };
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
  const unknown = await runCommand(["seed", "--carts", "1", "--merchant", "mer_none"], environment);
  expect(unknown.code).toBe(1);
  const wrong = await runCommand(["seed", "--carts", "many"], environment);
  expect({ code: wrong.code, stdout: wrong.stdout }).toEqual({ code: 2, stdout: "" });
  const more = await runCommand(["seed", "--orders", "1000001"], environment);
  expect({ code: more.code, stdout: more.stdout }).toEqual({ code: 2, stdout: "" });
  expect(wrong.stderr).toContain("error: option '--carts <number>' argument 'many' is invalid.");
});
