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
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (label) => ({ level: label }) } }, target);
}
