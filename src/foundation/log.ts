/** The log: one JSON line per event, built from an allow-list, so that nothing a client sent can reach it by accident. */
import { type DestinationStream, type Logger, pino } from "pino";
import { PinoPretty } from "pino-pretty";

export type Log = Logger;

export const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

export function createLog(level: LogLevel, stream?: DestinationStream): Log {
  const target =
    stream ??
    (process.stdout.isTTY ? PinoPretty({ colorize: true, ignore: "pid,hostname", sync: true }) : pino.destination({ dest: 1, sync: false }));
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: toLogged },
    },
    target,
  );
}

/**
 * What is known of an error and is ours to keep. A database's message and detail quote the data that was sent, so of its errors only the
 * SQLSTATE, the constraint and the way through our code are written.
 */
function toLogged(error: unknown): unknown {
  if (!(error instanceof Error)) return error === undefined ? undefined : { type: typeof error };
  const { code, constraint, cause } = error as { code?: unknown; constraint?: unknown; cause?: unknown };
  const isDatabases = typeof code === "string" && sqlState.test(code);
  const frames = (error.stack ?? "").split("\n").filter((line) => line.startsWith("    at "));
  return {
    type: error.name,
    ...(isDatabases ? {} : { message: error.message }),
    ...(typeof code === "string" ? { code } : {}),
    ...(typeof constraint === "string" ? { constraint } : {}),
    stack: frames.join("\n"),
    ...(cause instanceof Error ? { cause: toLogged(cause) } : {}),
  };
}

const sqlState = /^[0-9A-Z]{5}$/;
