/**
 * Creates a folder with the project's sources and its own configuration, for tests that change
 * `.meshrc.yaml`.
 */
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = new URL("../../", import.meta.url).pathname;

/** Links the sources, and writes the changed configuration and `files` beside it. */
export function fillMeshFolder(
  dir: string,
  change: (configuration: string) => string,
  files: Readonly<Record<string, string>> = {},
): string {
  for (const name of ["src", "schema", "node_modules", "package.json"])
    symlinkSync(join(root, name), join(dir, name));
  writeFileSync(join(dir, ".meshrc.yaml"), change(readFileSync(join(root, ".meshrc.yaml"), "utf8")));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
  return dir;
}

/** The section of a page in docs/ with this heading, up to the next heading of the same level. */
export function sectionOf(page: string, heading: string): string {
  const text = readFileSync(join(root, "docs", page), "utf8");
  const start = text.indexOf(`## ${heading}\n`);
  if (start < 0) throw new Error(`docs/${page} has no section ${heading}.`);
  const end = text.indexOf("\n## ", start + 1);
  return text.slice(start, end < 0 ? undefined : end);
}
