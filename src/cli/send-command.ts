/** Sends a command to the service that uses the embedded database, and writes the output of the command. */
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import {
  commandOutput,
  type CliCommandOutputOrExitCode,
  readCommandServerPortAndSecret,
  type CliCommandSentToService,
} from "./command-file.ts";
import { getCliCommandEnvironment } from "./command-session.ts";

/**
 * Sends the command and returns its exit code. Returns undefined if the command has not been run because no
 * running service accepts commands for the folder, for example because another command uses the database.
 */
export async function sendCliCommandToRunningService(
  folder: string,
  command: CliCommandSentToService,
): Promise<number | undefined> {
  const address = readCommandServerPortAndSecret(folder);
  if (address === undefined) return undefined;
  const session = getCliCommandEnvironment();
  try {
    const response = await fetch(`http://127.0.0.1:${address.port}/`, {
      method: "POST",
      headers: { authorization: `Bearer ${address.secret}`, "content-type": "application/json" },
      body: JSON.stringify(command),
    });
    if (response.status !== 200 || response.body === null) return undefined;
    for await (const line of createInterface({ input: Readable.from(response.body) })) {
      const output: CliCommandOutputOrExitCode = commandOutput.parse(JSON.parse(line));
      if ("exitCode" in output) return output.exitCode;
      await session.write(output.stream, output.text);
    }
  } catch (error) {
    if (isConnectionRefused(error)) return undefined;
    // The connection broke before the service sent the exit code, so the service has stopped. The code below
    // reports the stop.
  }
  await session.write("stderr", "The service stopped before the command ended. Run the command again.\n");
  return 1;
}

/** Returns whether `fetch` failed because no program listens at the port. */
const isConnectionRefused = (error: unknown): boolean =>
  error instanceof Error &&
  error.cause instanceof Error &&
  "code" in error.cause &&
  error.cause.code === "ECONNREFUSED";
