/** The log for people at a terminal: loaded where there is one. */
import type { DestinationStream } from "pino";
import { PinoPretty } from "pino-pretty";

export const createPrettyOutput = (): DestinationStream => PinoPretty({ colorize: true, ignore: "pid,hostname", sync: true });
