/**
 * The log: one JSON line for each entry. Entries are built from lists of allowed fields, so that no data of a
 * client gets into the log by accident.
 */
import { type DestinationStream, type Logger, pino } from "pino";

export type Log = Logger;

export const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/** Creates a log; it writes to standard output by default. */
export function createLog(level: LogLevel, stream: DestinationStream = standardOutput()): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: (error: unknown) => toLogged(error) },
    },
    stream,
  );
}

/** Creates the readable output for terminals. The library is loaded only when it is needed. */
export async function createPrettyOutput(): Promise<DestinationStream> {
  const { PinoPretty } = await import("pino-pretty");
  return PinoPretty({ colorize: true, ignore: "pid,hostname", sync: true });
}

/**
 * PIPE_BUF of Linux: writes of several processes to one pipe are atomic up to this size; larger writes may be
 * mixed.
 */
const bytesAtOnceMax = 4096;

/**
 * Writes the lines of one event loop turn together at its end, because a write for each line would cost more
 * than building the line.
 */
function standardOutput(): DestinationStream {
  const output = pino.destination({ dest: 1, sync: true });
  let lines: string[] = [];
  const write = (): void => {
    const pending = lines;
    lines = [];
    for (const text of inWholeLines(pending)) output.write(text);
  };
  let isEnding = false;
  // After the event `exit`, `setImmediate` does not run any more, so lines are then written at once.
  process.once("exit", () => {
    isEnding = true;
    write();
  });
  return {
    write: (line) => {
      if (lines.push(line) > 1) return;
      if (isEnding) write();
      else setImmediate(write);
    },
  };
}

function inWholeLines(lines: readonly string[]): string[] {
  const texts: string[] = [];
  let text = "";
  let bytes = 0;
  for (const line of lines.map(fitting)) {
    const length = Buffer.byteLength(line);
    if (bytes + length > bytesAtOnceMax && text !== "") {
      texts.push(text);
      text = "";
      bytes = 0;
    }
    text += line;
    bytes += length;
  }
  return text === "" ? texts : [...texts, text];
}

/** Shortens the texts of a line that is longer than the limit. Only errors with their causes are that long. */
function fitting(line: string): string {
  let text = line;
  for (const lengthMax of [1000, 300, 100]) {
    if (Buffer.byteLength(text) <= bytesAtOnceMax) return text;
    const shortened = (_name: string, value: unknown): unknown =>
      typeof value === "string" ? value.slice(0, lengthMax) : value;
    text = `${JSON.stringify(JSON.parse(line), shortened)}\n`;
  }
  return text;
}

/**
 * Returns the parts of an error that may be logged. Messages of database errors quote data, so only their
 * SQLSTATE, constraint and stack are logged.
 */
function toLogged(error: unknown, causesMax = 5): unknown {
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
    ...(cause instanceof Error && causesMax > 0 ? { cause: toLogged(cause, causesMax - 1) } : {}),
  };
}

const sqlState = /^[0-9A-Z]{5}$/;
