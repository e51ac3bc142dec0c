/**
 * The log: one JSON line per event, built from an allow-list, so that nothing a client sent can reach it by
 * accident.
 */
import { type DestinationStream, type Logger, pino } from "pino";

export type Log = Logger;

export const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/** Without a stream, it goes to standard output. */
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

/** The log for people at a terminal. The library is loaded only for them. */
export async function createPrettyOutput(): Promise<DestinationStream> {
  const { PinoPretty } = await import("pino-pretty");
  return PinoPretty({ colorize: true, ignore: "pid,hostname", sync: true });
}

/**
 * PIPE_BUF of Linux: what several processes write to one pipe is whole up to here, and above it may have
 * another's lines in its middle.
 */
const bytesAtOnceMax = 4096;

/**
 * The lines of one turn of the event loop are written together at its end: a write for each line would cost
 * more than all the rest of it.
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
  // The last turn has no end.
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

/** Only an error with its causes is ever longer: then its texts are cut. */
function fitting(line: string): string {
  let text = line;
  for (const lengthMax of [1000, 300, 100]) {
    if (Buffer.byteLength(text) <= bytesAtOnceMax) return text;
    text = `${JSON.stringify(JSON.parse(line), (_name, value: unknown) => (typeof value === "string" ? value.slice(0, lengthMax) : value))}\n`;
  }
  return text;
}

/**
 * What is known of an error and is ours to keep. A database's message and detail quote the data that was
 * sent, so of its errors only the SQLSTATE, the constraint and the way through our code are written.
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
