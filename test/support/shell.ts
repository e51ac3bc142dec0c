/**
 * Commands of a document in one shell, as somebody pastes them: every request that curl makes says how it was
 * answered.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { World } from "./world.ts";

export interface Ran {
  /** The statuses of its requests, in their order. */
  readonly statuses: number[];
  readonly output: string;
}

const noteStatus = `curl() { command curl -w '%{stderr}\\nSTATUS %{http_code}\\n' "$@"; }`;

export async function runInShell(
  commands: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  const env = { ...process.env, ...environment };
  const { stdout, stderr } = await promisify(execFile)("bash", ["-euc", `${noteStatus}\n${commands}`], {
    env,
    timeout: 60_000,
    maxBuffer: 16_000_000,
  });
  return {
    statuses: [...stderr.matchAll(/^STATUS (\d+)$/gm)].map(([, status]) => Number(status)),
    output: stdout,
  };
}

/** A folder with the world's demo.json, as it lies beside a service that was started. */
export function demoFolderOf({ demo }: World): string {
  const folder = mkdtempSync(join(tmpdir(), "demo-"));
  writeFileSync(join(folder, "demo.json"), JSON.stringify(demo));
  return folder;
}
