/** What serves is what Mesh itself would make of .meshrc.yaml. */
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findAndParseConfig } from "@graphql-mesh/cli";
import { getMesh } from "@graphql-mesh/runtime";
import { printSchemaWithDirectives } from "@graphql-tools/utils";
import { print } from "graphql";
import { expect, it } from "vitest";
import { openMesh } from "#gateway/mesh.ts";
import { temporaryFolder } from "#test/support/process.ts";

const root = new URL("../../", import.meta.url).pathname;

it("has the schema, the resolvers, the documents and the plugins that Mesh's command line reads", async () => {
  const ours = await openMesh();
  const config = await findAndParseConfig({ dir: root });
  const theirs = await getMesh(config);
  expect(printSchemaWithDirectives(ours.schema)).toBe(printSchemaWithDirectives(theirs.schema));
  const fields = (schema: typeof ours.schema): unknown[] => Object.values(schema.getMutationType()?.getFields() ?? {}).map(({ resolve }) => resolve);
  expect(fields(ours.schema)).toEqual(fields(theirs.schema));
  expect(fields(ours.schema)).not.toContain(undefined);
  const texts = config.documents.flatMap(({ document }) => (document === undefined ? [] : [print(document)]));
  expect(ours.documents.map((document) => print(document)).toSorted()).toEqual(texts.toSorted());
  expect(ours.documents.length).toBe(20);
  const hooks = (plugins: readonly unknown[]): string[][] => plugins.map((plugin) => Object.keys(plugin as object));
  // But for the one that runs a document by its hash, without validating it: nobody was ever told of that.
  expect(hooks(ours.plugins)).toEqual(hooks(theirs.plugins).filter(([first]) => first !== "onParams"));
  ours.close();
  theirs.destroy();
});

it.each([
  ["serve:\n  port: 80\n", 'Unrecognized key: "serve"'],
  ["transforms:\n  - prefix: x\n", 'Unrecognized key: "transforms"'],
])("refuses what it would leave out: %j", async (more, fault) => {
  const dir = temporaryFolder();
  for (const name of ["src", "schema", "node_modules"]) symlinkSync(join(root, name), join(dir, name));
  cpSync(join(root, "package.json"), join(dir, "package.json"));
  writeFileSync(join(dir, ".meshrc.yaml"), readFileSync(join(root, ".meshrc.yaml"), "utf8") + more);
  await expect(openMesh(dir)).rejects.toThrow(`.meshrc.yaml: ✖ ${fault}`);
});
