/**
 * The packages of a production installation: their licences are allowed, and the software bill of materials
 * lists each of them. Two builds of the same source have the same bytes.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "vite";
import { expect, it, onTestFinished } from "vitest";
import { buildClientPackage } from "#test/client/installed-client.ts";
import { getPackageId, readProductionPackages } from "./production-packages.ts";
import { createSoftwareBillOfMaterials } from "./sbom.ts";

const root = new URL("../../", import.meta.url).pathname;

/**
 * The licences (SPDX ids) that packages of the service may have. They allow use in a service without
 * publishing its source. MPL-2.0 and CC-BY-4.0 are limited to the packages that are listed with them.
 */
const allowedLicences: Readonly<Record<string, readonly string[] | "all">> = {
  MIT: "all",
  ISC: "all",
  "Apache-2.0": "all",
  "BSD-2-Clause": "all",
  "BSD-3-Clause": "all",
  "0BSD": "all",
  "BlueOak-1.0.0": "all",
  "Python-2.0": ["argparse"],
  "CC-BY-4.0": ["caniuse-lite"],
  "MPL-2.0": ["lightningcss"],
};

function isAllowed(licence: unknown, name: string): boolean {
  const allowed = typeof licence === "string" ? allowedLicences[licence] : undefined;
  return (
    allowed === "all" || allowed?.some((known) => name === known || name.startsWith(`${known}-`)) === true
  );
}

const packages = readProductionPackages();

it("every package of a production installation has an allowed licence", () => {
  const installed = packages.filter(({ folder }) => existsSync(join(folder, "package.json")));
  const missing = packages.filter((found) => !installed.includes(found) && !found.isOptional);
  expect(missing.map(getPackageId)).toEqual([]);
  expect(installed.length).toBeGreaterThan(400);
  const refused = installed.flatMap(({ name, version, folder }) => {
    const { license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
      license?: unknown;
    };
    return isAllowed(license, name) ? [] : [`${getPackageId({ name, version })}: ${JSON.stringify(license)}`];
  });
  expect(refused).toEqual([]);
});

it("a licence that is not on the list is refused, and one that is allowed only for another package", () => {
  expect(isAllowed("MIT", "pg")).toBe(true);
  for (const licence of ["GPL-3.0-only", "SEE LICENSE IN LICENSE", undefined, "MPL-2.0"])
    expect(isAllowed(licence, "pg")).toBe(false);
});

it("`npm run sbom` lists exactly the packages of a production installation, with their licences", () => {
  const { components, dependencies, ...bom } = createSoftwareBillOfMaterials();
  expect(bom).toMatchObject({ bomFormat: "CycloneDX", specVersion: "1.5" });
  expect(new Set(components.map(getPackageId))).toEqual(new Set(packages.map(getPackageId)));
  expect(components.find(({ name }) => name === "fastify")).toMatchObject({
    purl: expect.stringMatching(/^pkg:npm\/fastify@/),
    licenses: [{ license: { id: "MIT" } }],
  });
  const refs = new Set(components.map((component) => component["bom-ref"]));
  expect(dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !refs.has(ref))).toEqual([]);
});

/** The time limit of a test that builds twice, which takes some seconds on an idle machine. */
const buildMsMax = 300_000;

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "commerce-gateway-build-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Returns the digest of each file in a folder, by the path of the file. */
function digestFiles(folder: string): Record<string, string> {
  const files = globSync("**/*", { cwd: folder, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name)).toSorted();
  return Object.fromEntries(
    paths.map((path) => [
      path.slice(folder.length),
      createHash("sha256").update(readFileSync(path)).digest("hex"),
    ]),
  );
}

it(
  "two builds of the pages' browser code have the same bytes",
  async () => {
    const digests: Record<string, string>[] = [];
    for (const folder of [createFolder(), createFolder()]) {
      await build({ root, logLevel: "error", build: { outDir: folder, emptyOutDir: true } });
      digests.push(digestFiles(folder));
    }
    expect(Object.keys(digests[0] ?? {}).length).toBeGreaterThan(20);
    expect(digests[0]).toEqual(digests[1]);
  },
  buildMsMax,
);

it(
  "two builds of the client's package have the same bytes",
  async () => {
    const archives: Buffer[] = [];
    for (const [workspace, folder] of [
      [createFolder(), createFolder()],
      [createFolder(), createFolder()],
    ] as const) {
      await buildClientPackage(workspace);
      execFileSync("npm", ["pack", workspace, "--ignore-scripts", "--pack-destination", folder], {
        cwd: folder,
      });
      archives.push(...readdirSync(folder).map((name) => readFileSync(join(folder, name))));
    }
    expect(archives).toHaveLength(2);
    expect(archives[0]?.equals(archives[1] ?? Buffer.alloc(0))).toBe(true);
  },
  buildMsMax,
);
