/**
 * The TypeScript client as users get it: packed, installed in an empty folder, compiled with that folder's
 * TypeScript, and run by the oldest available Node. Part of `npm run test:workflows`, because npm uses its
 * registry.
 */
import { execFile } from "node:child_process";
import { cpSync, readdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { readmeProgram } from "#test/client/readme-program.ts";
import { temporaryFolder } from "#test/support/process.ts";
import { useWorld } from "#test/support/use-world.ts";

const root = new URL("../../", import.meta.url).pathname;
const run = promisify(execFile);

/** The PATH without the project's own programs, which come before the machine's. */
const plainPath = (process.env["PATH"] ?? "")
  .split(delimiter)
  .filter((folder) => !folder.includes("node_modules"));

function copyPackage(): string {
  const folder = temporaryFolder();
  for (const part of ["src", "scripts", "package.json", "package-lock.json", "tsconfig.json", "README.md"])
    cpSync(join(root, "clients/typescript", part), join(folder, part), { recursive: true });
  return folder;
}

function writeConsumer(): string {
  const folder = temporaryFolder();
  for (const name of ["purchase", "webhooks"] as const)
    writeFileSync(join(folder, `${name}.ts`), readmeProgram(name));
  writeFileSync(join(folder, "package.json"), '{ "type": "module", "private": true }');
  const compilerOptions = {
    module: "nodenext",
    target: "es2022",
    strict: true,
    types: ["node"],
    typeRoots: [join(root, "node_modules/@types")],
  };
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions: { ...compilerOptions, skipLibCheck: true } }),
  );
  return folder;
}

describe.runIf(process.env["CONTRACT_PROXY"] === "1")("the client's package", () => {
  const world = useWorld();

  it("can be packed, installed, compiled against and run", async () => {
    const [source, consumer] = [copyPackage(), writeConsumer()] as const;
    const npm = (...args: readonly string[]) =>
      run("npm", [...args, "--no-audit", "--no-fund", "--prefer-offline"], { cwd: consumer });
    await npm("ci", "--prefix", source);
    await npm("pack", source, "--pack-destination", consumer);
    const packed = readdirSync(consumer).filter((name) => name.endsWith(".tgz"));
    expect(packed).toHaveLength(1);
    await npm("install", "--no-save", `./${packed[0]}`);
    expect(readdirSync(join(consumer, "node_modules/@commerce-gateway/client")).toSorted()).toEqual([
      "README.md",
      "dist",
      "package.json",
    ]);
    await run(process.execPath, [join(source, "node_modules/typescript/bin/tsc"), "--project", consumer]);

    const { keys, carts, promotionCodes } = world().demo;
    const address = await world().app.server.listen({ host: "127.0.0.1", port: 0 });
    const inputs = { API: address, KEY: keys.full, CART: carts.active, CODE: promotionCodes.percentage };
    const { HOME } = process.env;
    const env = { PATH: [...plainPath, process.env["PATH"]].join(delimiter), HOME, ...inputs };
    const { stdout } = await run("node", ["purchase.js"], { cwd: consumer, env });
    expect(stdout).toMatch(/^(?:[a-z0-9-]+\n)+\d+ EUR\n$/);
    const { stdout: printed } = await run(
      "node",
      ["--input-type=module", "--eval", 'console.log(typeof (await import("./webhooks.js")).receive)'],
      {
        cwd: consumer,
        env,
      },
    );
    expect(printed).toBe("function\n");
  }, 300_000);
});
