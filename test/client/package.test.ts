/**
 * The TypeScript client as a package: types of the current contract, and a README whose programs compile and
 * run.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { temporaryFolder } from "#test/support/process.ts";
import { useWorld } from "#test/support/use-world.ts";
import { readmeProgram } from "./readme-program.ts";

const root = new URL("../../", import.meta.url).pathname;
const source = join(root, "clients/typescript/src");
const world = useWorld();

it("the client's types equal the current output of the generator", () => {
  const [head = "", types = ""] = readFileSync(join(source, "schema.ts"), "utf8").split(/(?<= \*\/\n)([^]*)/);
  const written = [...head.matchAll(/sha256 of ([^:]+): ([0-9a-f]{64})/g)].map(([, what, hash]) => [
    what,
    hash,
  ]);
  const sha256 = (data: string | Buffer): string => createHash("sha256").update(data).digest("hex");
  expect(
    written,
    "Renew it: npm ci --prefix clients/typescript && npm run generate --prefix clients/typescript",
  ).toEqual([
    ["schema/openapi.json", sha256(readFileSync(join(root, "schema/openapi.json")))],
    ["scripts/generate.mjs", sha256(readFileSync(join(source, "../scripts/generate.mjs")))],
    ["what follows", sha256(types)],
  ]);
});

/**
 * Writes a program of the README into a temporary folder, with the client's source in place of the installed
 * package.
 */
function writeProgram(folder: string, name: "purchase" | "webhooks"): string {
  const program = readmeProgram(name);
  const file = join(folder, `${name}.ts`);
  writeFileSync(
    file,
    program
      .replace("@commerce-gateway/client/webhooks", `${source}/webhooks.ts`)
      .replace("@commerce-gateway/client", `${source}/index.ts`),
  );
  return file;
}

it("the README's programs compile, and the first one prices a cart", async () => {
  const folder = temporaryFolder();
  const [purchase, webhooks] = [writeProgram(folder, "purchase"), writeProgram(folder, "webhooks")] as const;
  const compilerOptions = {
    ...readOptions(),
    module: "nodenext",
    noEmit: true,
    allowImportingTsExtensions: true,
    types: ["node"],
    typeRoots: [join(root, "node_modules/@types")],
  };
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions, files: [purchase, webhooks] }),
  );
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const { PATH, HOME } = process.env;
  await promisify(execFile)(join(root, "node_modules/.bin/tsc"), ["--project", folder], {
    env: { PATH, HOME },
  }).catch((error: { stdout: string }) => {
    throw new Error(error.stdout);
  });

  const { keys, carts, promotionCodes } = world().demo;
  const address = await world().app.server.listen({ host: "127.0.0.1", port: 0 });
  const env = {
    PATH,
    HOME,
    API: address,
    KEY: keys.full,
    CART: carts.active,
    CODE: promotionCodes.percentage,
  };
  const { stdout } = await promisify(execFile)(process.execPath, [purchase], { env });
  expect(stdout).toMatch(/^(?:[a-z0-9-]+\n)+\d+ EUR\n$/);
});

function readOptions(): Record<string, unknown> {
  const { compilerOptions } = JSON.parse(readFileSync(join(source, "../tsconfig.json"), "utf8")) as {
    compilerOptions: Record<string, unknown>;
  };
  const {
    rootDir: _,
    outDir: __,
    declaration: ___,
    rewriteRelativeImportExtensions: ____,
    ...options
  } = compilerOptions;
  return options;
}
