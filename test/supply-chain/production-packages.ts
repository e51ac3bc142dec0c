/** The npm packages that a production installation (`npm ci --omit=dev`) of the service contains. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const root = new URL("../../", import.meta.url).pathname;

export interface ProductionPackage {
  readonly name: string;
  readonly version: string;
  /** The folder in which npm installs the package. */
  readonly folder: string;
  /** True for a package that npm does not install on every machine, for example a binary for another system. */
  readonly isOptional: boolean;
}

const lockFile = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string(),
      dev: z.boolean().default(false),
      optional: z.boolean().default(false),
      devOptional: z.boolean().default(false),
      peer: z.boolean().default(false),
    }),
  ),
});

const prefix = "node_modules/";

/** Reads the production packages from package-lock.json, one entry for each folder. */
export function readProductionPackages(): readonly ProductionPackage[] {
  const { packages } = lockFile.parse(JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")));
  return Object.entries(packages)
    .filter(([path, { dev }]) => path !== "" && !dev)
    .map(([path, { version, optional, devOptional, peer }]) => ({
      name: path.slice(path.lastIndexOf(prefix) + prefix.length),
      version,
      folder: join(root, path),
      isOptional: optional || devOptional || peer,
    }));
}

/** The name and the version of a package, as in `fastify@5.12.8`. */
export const getPackageId = ({ name, version }: Pick<ProductionPackage, "name" | "version">): string =>
  `${name}@${version}`;
