/**
 * Runs the commands of a document in one shell, as a reader would paste them, and records the status of every
 * curl request.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { inject } from "vitest";
import type { World } from "./world.ts";

export interface ShellResult {
  /** The statuses of the requests, in order. */
  readonly statuses: number[];
  readonly output: string;
}

const noteStatus = `curl() { command curl -w '%{stderr}\\nSTATUS %{http_code}\\n' "$@"; }`;

export async function runInShell(
  commands: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<ShellResult> {
  const env = { ...process.env, ...environment };
  const { stdout, stderr } = await promisify(execFile)("bash", ["-euc", `${noteStatus}\n${commands}`], {
    env,
    timeout: 180_000,
    maxBuffer: 16_000_000,
  });
  return {
    statuses: [...stderr.matchAll(/^STATUS (\d+)$/gm)].map(([, status]) => Number(status)),
    output: stdout,
  };
}

/**
 * Creates a folder with the world's demo.json, like the data folder of a running service. The folder is
 * deleted after the test run.
 */
export function demoFolderOf({ demo }: World): string {
  const folder = mkdtempSync(join(inject("copies"), "demo-"));
  writeFileSync(join(folder, "demo.json"), JSON.stringify(demo));
  return folder;
}
