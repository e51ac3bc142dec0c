/**
 * Chooses what `npm run test:fast` runs, by a rule, and says what it leaves out: of four folders, which every
 * change of the API goes through, all files that need PGlite alone. They take about 240 s of processor time,
 * so two minutes on a machine of two cores.
 */
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = new URL("../../", import.meta.url).pathname;
const folders = ["foundation", "gateway", "mesh", "operations"];
/**
 * Files that start processes or a PostgreSQL of their own, and those that need a process of their own for a
 * mocked module.
 */
const isSlow =
  /node:child_process|support\/(balancer|collector|create-database|guide-program|pooler|postgres|process|program|shell)\.ts|\bvi\.mock\(/;

const all = globSync("test/**/*.test.ts", { cwd: root });

export const fastFiles = all.filter(
  (file) =>
    folders.some((folder) => file.startsWith(`test/${folder}/`)) &&
    !isSlow.test(readFileSync(join(root, file), "utf8")),
);

/** Every test but those on PostgreSQL, which say so in their names. */
export const fastNames = /^(?!.*postgres)/;

/**
 * For vitest's globalSetup: a folder for what is copied, without a PostgreSQL. Says at the end what did not
 * run.
 */
export function setup(project: { provide(key: "copies", value: string): void }): () => void {
  const copies = mkdtempSync(join(tmpdir(), "commerce-gateway-copies-"));
  project.provide("copies", copies);
  return () => {
    rmSync(copies, { recursive: true, force: true });
    const left = all.filter((file) => !fastFiles.includes(file));
    const byFolder = Object.entries(
      Object.groupBy(left, (file) => file.split("/").slice(0, 2).join("/")),
    ).map(([folder, files = []]) => `${folder} (${files.length})`);
    process.stdout.write(
      `\ntest:fast ran ${fastFiles.length} of ${all.length} files, on PGlite alone. It left out every test on PostgreSQL, and ${left.length} files:\n` +
        `${byFolder.filter((text) => !text.includes(".test.ts")).join(", ")}, and those at the top of test/. \`npm test\` runs them all.\n`,
    );
  };
}
