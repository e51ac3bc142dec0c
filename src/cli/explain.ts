/** What a person at the command line reads when a command fails: one line that says what to do, or the whole of a bug. */
import { BadSetting } from "#foundation/failure.ts";
import { FolderUnusable } from "#database/folder-lock.ts";
import { isDatabaseAway, sqlState } from "#database/database-errors.ts";
import { Failure } from "#foundation/failure.ts";

export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof BadSetting) return `Setting ${error.message}`;
  if (error instanceof Failure) return error.parts.details?.[0]?.message ?? error.message;
  if (isForPeople(error)) return error.message;
  return cannotListen(error) ?? databaseRefusal(error) ?? error.stack ?? error.message;
}

const isForPeople = (error: Error): boolean => error instanceof FolderUnusable || error.message.startsWith("Migration ");

/** Told by the call that failed: looking up the database's name fails with the same code as looking up HOST. */
function cannotListen(error: Error & { readonly code?: unknown; readonly syscall?: unknown; readonly hostname?: unknown }): string | undefined {
  const { code, syscall, hostname } = error;
  if (code === "EADDRINUSE") return "PORT is taken by another process: stop it, or set another PORT (0 picks a free one).";
  if (code === "EACCES" && syscall === "listen") return "PORT is not open to this user: set one from 1024 upwards.";
  if (code === "EADDRNOTAVAIL" || (syscall === "getaddrinfo" && hostname === process.env["HOST"]))
    return "HOST is no address of this machine: set 127.0.0.1, or 0.0.0.0 for all of them.";
  return undefined;
}

function databaseRefusal(error: Error): string | undefined {
  if (isDatabaseAway(error)) return `The database at DATABASE_URL does not answer: ${error.message || "connection refused"}`;
  // Classes 28 and 3D: who asks is not known there, or what is asked for.
  return /^(28|3D)/.test(sqlState(error) ?? "") ? `The database at DATABASE_URL refuses: ${error.message}` : undefined;
}
