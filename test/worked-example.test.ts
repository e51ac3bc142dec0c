/**
 * Follows the example of a new operation in CONTRIBUTING.md in a copy of the project: one document and one
 * test are enough.
 */
import { execFile } from "node:child_process";
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, inject, it } from "vitest";
import { temporaryFolder } from "#test/support/process.ts";

const root = new URL("../", import.meta.url).pathname;
const parts = [
  "src",
  "schema",
  "test",
  "soak",
  "bench",
  ".meshrc.yaml",
  "README.md",
  "package.json",
  "tsconfig.json",
];

/** Returns the code block below the line that names the file. */
function blockOf(path: string): string {
  const guide = readFileSync(join(root, "CONTRIBUTING.md"), "utf8");
  const [, block] =
    new RegExp(`^.*\`${path.replaceAll(".", String.raw`\.`)}\`:\\n\\n\`\`\`\\w+\\n([^]+?)\`\`\`$`, "m").exec(
      guide,
    ) ?? [];
  if (block === undefined) throw new Error(`CONTRIBUTING.md has no ${path}.`);
  return block;
}

function copyProject(): string {
  const folder = temporaryFolder();
  for (const part of parts) cpSync(join(root, part), join(folder, part), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  // The copied project reuses this run's databases.
  const shared = { postgresUrl: inject("postgresUrl"), copies: inject("copies") };
  writeFileSync(
    join(folder, "shared.ts"),
    `const shared = ${JSON.stringify(shared)};
    export const setup = (project) => {
      for (const [name, value] of Object.entries(shared)) project.provide(name, value);
    };`,
  );
  const test = {
    globalSetup: ["shared.ts"],
    experimental: { viteModuleRunner: false },
    testTimeout: 60_000,
    isolate: false,
    maxWorkers: 1,
    hookTimeout: 120_000,
  };
  writeFileSync(join(folder, "vitest.config.ts"), `export default ${JSON.stringify({ test })};`);
  return folder;
}

const filesOf = (folder: string): Map<string, string> =>
  new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => !path.startsWith(join(folder, "node_modules")))
      .map((path) => [path.slice(folder.length + 1), readFileSync(path, "utf8")]),
  );

it("a new operation is one document and one test: the rest is generated", async () => {
  const document = "schema/operations/orders/getStorefrontOrderTimeline.graphql";
  const test = "test/operations/get-storefront-order-timeline.test.ts";
  const folder = copyProject();
  const before = filesOf(folder);
  for (const path of [document, test]) writeFileSync(join(folder, path), blockOf(path));

  const vitest = (...args: readonly string[]) => {
    const { PATH, HOME } = process.env;
    const binary = join(root, "node_modules/vitest/vitest.mjs");
    return promisify(execFile)(process.execPath, [binary, "run", ...args], {
      cwd: folder,
      env: { PATH, HOME, NO_COLOR: "1" },
    });
  };
  // The parts of `npm run generate` that do not need a demo.
  const { stdout } = await vitest(
    "test/generated.test.ts",
    test,
    "--update",
    "--testNamePattern",
    "openapi\\.json|README|getStorefrontOrderTimeline",
  );
  expect(stdout).toMatch(/Tests {2}8 passed/);

  const after = filesOf(folder);
  const changed = [...after].filter(([path, text]) => before.get(path) !== text).map(([path]) => path);
  expect([changed.toSorted(), after.size]).toEqual([
    [document, test, "README.md", "schema/openapi.json"].toSorted(),
    before.size + 2,
  ]);
  const { paths } = JSON.parse(after.get("schema/openapi.json") ?? "") as {
    paths: Record<string, { get: { operationId: string } }>;
  };
  expect(paths["/api/v1/open/storefront/orders/{orderId}/timeline"]?.get.operationId).toBe(
    "getStorefrontOrderTimeline",
  );
}, 300_000);
