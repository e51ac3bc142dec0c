/**
 * The file `commands.json` in the folder of the embedded database. The running service writes into the file
 * at which port the service accepts commands, and a secret that must be sent with each command. Only the
 * owner of the folder can read the file.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { getOwnDataFolderLockOwner, readDataFolderLockOwner } from "#database/folder-lock.ts";

const commandAddress = z.object({
  /** The port on 127.0.0.1 at which the running service accepts commands. */
  port: z.int().min(1).max(65_535),
  secret: z.string().min(1),
  /**
   * The process that wrote the file, as the lock of the folder names it. A killed process leaves its file,
   * and another program may listen at the port later.
   */
  owner: z.object({ pid: z.int(), startedAt: z.string().nullable() }),
});
export type CliCommandServerAddress = z.infer<typeof commandAddress>;

const pathIn = (folder: string): string => join(folder, "commands.json");

export function writeCommandServerPortAndSecret(
  folder: string,
  address: Pick<CliCommandServerAddress, "port" | "secret">,
): void {
  const content: CliCommandServerAddress = { ...address, owner: getOwnDataFolderLockOwner() };
  // The file `commands.json` is deleted and created again, because a file that an earlier process has left
  // may have other access permissions.
  rmSync(pathIn(folder), { force: true });
  writeFileSync(pathIn(folder), JSON.stringify(content), { mode: 0o600, flag: "wx" });
}

export function deleteCommandServerPortAndSecret(folder: string): void {
  rmSync(pathIn(folder), { force: true });
}

/**
 * Returns the address of the running service; undefined if the file `commands.json` does not exist, cannot be
 * read, or was written by a process that does not hold the lock of the folder.
 */
export function readCommandServerPortAndSecret(folder: string): CliCommandServerAddress | undefined {
  try {
    const address = commandAddress.parse(JSON.parse(readFileSync(pathIn(folder), "utf8")));
    return isDeepStrictEqual(address.owner, readDataFolderLockOwner(folder)) ? address : undefined;
  } catch {
    return undefined;
  }
}

/** The body of the HTTP request that sends a command to the running service. */
export const sentCommand = z.object({
  args: z.array(z.string()).max(1_000),
  /** The text of the command's standard input; null if the command has not read standard input. */
  input: z.string().nullable(),
});
export type CliCommandSentToService = z.infer<typeof sentCommand>;

/**
 * A line of the service's answer to a command: a text that the command has written, or, as the last line, the
 * exit code of the command.
 */
export const commandOutput = z.union([
  z.object({ stream: z.enum(["stdout", "stderr"]), text: z.string() }),
  z.object({ exitCode: z.int().min(0).max(255) }),
]);
export type CliCommandOutputOrExitCode = z.infer<typeof commandOutput>;
