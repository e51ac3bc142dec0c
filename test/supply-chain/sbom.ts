/**
 * The command `npm run sbom`: prints the software bill of materials (SBOM) of a production installation as
 * CycloneDX JSON, with the version and the licence of each npm package. `npm sbom` lists all packages; this
 * command removes the development packages. The option `--omit dev` of npm 11.19.1 is not used: with this
 * option, npm leaves out every production package that a development package also needs.
 */
import { execFileSync } from "node:child_process";
import { z } from "zod";
import { getPackageId, readProductionPackages } from "./production-packages.ts";

const root = new URL("../../", import.meta.url).pathname;

const bomForm = z.looseObject({
  metadata: z.looseObject({ component: z.looseObject({ "bom-ref": z.string() }) }),
  components: z.array(z.looseObject({ "bom-ref": z.string(), name: z.string(), version: z.string() })),
  dependencies: z.array(z.object({ ref: z.string(), dependsOn: z.array(z.string()) })),
});

export function createSoftwareBillOfMaterials(): z.infer<typeof bomForm> {
  const text = execFileSync("npm", ["sbom", "--sbom-format", "cyclonedx", "--package-lock-only"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 256 * 1024 * 1024,
  });
  const bom = bomForm.parse(JSON.parse(text));
  const production = new Set(readProductionPackages().map(getPackageId));
  const components = bom.components.filter((component) => production.has(getPackageId(component)));
  const refs = new Set([
    bom.metadata.component["bom-ref"],
    ...components.map((component) => component["bom-ref"]),
  ]);
  const dependencies = bom.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) }));
  return { ...bom, components, dependencies };
}

if (import.meta.main) process.stdout.write(`${JSON.stringify(createSoftwareBillOfMaterials(), null, 2)}\n`);
