/** What a person at the command line reads when a command fails: one line that says what to do, or the whole of a bug. */
import { BadSetting } from "#app/settings.ts";
import { FolderInUse } from "#database/folder-lock.ts";
import { isDatabaseAway } from "#database/unavailable.ts";
import { Failure } from "#foundation/failure.ts";

export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof BadSetting) return `Setting ${error.message}`;
  if (error instanceof Failure) return error.parts.details?.[0]?.message ?? error.message;
  if (isDatabaseAway(error)) return `The database at DATABASE_URL does not answer: ${error.message || "connection refused"}`;
  return isForPeople(error) ? error.message : (portTaken(error) ?? error.stack ?? error.message);
}

const isForPeople = (error: Error): boolean => error instanceof FolderInUse || error.message.startsWith("Migration ");

function portTaken(error: Error): string | undefined {
  const isTaken = "code" in error && error.code === "EADDRINUSE";
  return isTaken ? "PORT is taken by another process: stop it, or set another PORT (0 picks a free one)." : undefined;
}
