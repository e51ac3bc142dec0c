/** Runs a program from a guide in another process, exactly as the guide prints it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "./process.ts";

const root = new URL("../../", import.meta.url).pathname;

/**
 * Starts the program. `name` is the word after `js` in the opening line of the guide's code block. The
 * returned function gives everything that the program has printed so far.
 */
export function startGuideProgram(
  place: { readonly guide: string; readonly name: string },
  environment: Readonly<Record<string, string>>,
): () => string {
  const text = readFileSync(join(root, "docs/guides", place.guide), "utf8");
  const [, program = ""] = new RegExp(`\`\`\`js ${place.name}\\n([\\s\\S]+?)\`\`\``).exec(text) ?? [];
  const folder = temporaryFolder();
  const file = `${place.name}.mjs`;
  writeFileSync(join(folder, file), program);
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const child: ChildProcess = spawn(process.execPath, [file], {
    cwd: folder,
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  return () => output;
}
