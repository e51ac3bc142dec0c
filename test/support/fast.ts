/**
 * Chooses the test files that `npm run test:fast` runs, and reports which files were left out. Runs the files
 * of four folders that every change of the API touches, if they start no other process. These take about 110
 * s of processor time: a minute on a machine with two cores.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = new URL("../../", import.meta.url).pathname;
const folders = ["foundation", "gateway", "mesh", "operations"];
/**
 * Matches files that start processes or a PostgreSQL server of their own, and files that need a process to
 * themselves because they mock a module.
 */
const slowHelpers = "balancer|collector|guide-program|pooler|postgres|process|program|shell";
const isSlow = new RegExp(String.raw`node:child_process|support/(${slowHelpers})\.ts|\bvi\.mock\(`);

const all = globSync("test/**/*.test.ts", { cwd: root });

export const fastFiles = all.filter(
  (file) =>
    folders.some((folder) => file.startsWith(`test/${folder}/`)) &&
    !isSlow.test(readFileSync(join(root, file), "utf8")),
);

/** Every test but those on PGlite, which say so in their names. */
export const fastNames = /^(?!.*pglite)/i;

/** vitest's globalSetup for `npm run test:fast`: prints at the end which files did not run. */
export function setup(): () => void {
  return () => {
    const left = all.filter((file) => !fastFiles.includes(file));
    const byFolder = Object.entries(
      Object.groupBy(left, (file) => file.split("/").slice(0, 2).join("/")),
    ).map(([folder, files = []]) => `${folder} (${files.length})`);
    const inFolders = byFolder.filter((text) => !text.includes(".test.ts")).join(", ");
    process.stdout.write(
      `\ntest:fast ran ${fastFiles.length} of ${all.length} files, on PostgreSQL alone. ` +
        `It left out every test on PGlite, and ${left.length} files:\n` +
        `${inFolders}, and those at the top of test/. \`npm test\` runs them all.\n`,
    );
  };
}
