/** The programs of the client's README, by the name that follows `js` or `ts` in the code fence. */
import { readFileSync } from "node:fs";

const readme = new URL("../../clients/typescript/README.md", import.meta.url);

export function readmeProgram(name: string): string {
  const [, program] =
    new RegExp(`\`\`\`[jt]s ${name}\\n([^]+?)\`\`\``).exec(readFileSync(readme, "utf8")) ?? [];
  if (program === undefined) throw new Error(`The client's README has no program ${name}.`);
  return program;
}
