/**
 * The session of a running command: its input, its output and its database. A command that was started in
 * this process uses the process's own streams. A command that another process has sent to the running service
 * uses the streams of that process, and the open database of the service (`command-server.ts`).
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { once } from "node:events";
import { text as readText } from "node:stream/consumers";
import type { ServiceSettings } from "#app/settings.ts";
import type { OpenedDatabase } from "#database/connect.ts";

export type CommandOutputStreamName = "stdout" | "stderr";

export interface CliCommandEnvironment {
  /**
   * Writes text to standard output or standard error, and waits while the reader of the stream is slower than
   * the command.
   */
  readonly write: (stream: CommandOutputStreamName, text: string) => Promise<void>;
  /** Returns the whole text of standard input. */
  readonly readInput: () => Promise<string>;
  readonly setExitCode: (code: number) => void;
  /** The database and the settings of the running service; undefined if the command opens the database itself. */
  readonly service?: { readonly database: OpenedDatabase; readonly settings: ServiceSettings };
}

/**
 * The text of standard input, kept after it was read. Standard input can be read only once, but the text is
 * needed a second time if the command is sent to the running service.
 */
let ownInput: string | undefined;

export const getStandardInputAlreadyRead = (): string | undefined => ownInput;

const ownSession: CliCommandEnvironment = {
  write: async (stream, text) => {
    if (!process[stream].write(text)) await once(process[stream], "drain");
  },
  readInput: async () => (ownInput ??= await readText(process.stdin)),
  setExitCode: (code) => {
    process.exitCode = code;
  },
};

const sessions = new AsyncLocalStorage<CliCommandEnvironment>();

export const getCliCommandEnvironment = (): CliCommandEnvironment => sessions.getStore() ?? ownSession;

export const runFunctionInCliCommandEnvironment = <Done>(
  session: CliCommandEnvironment,
  run: () => Promise<Done>,
): Promise<Done> => sessions.run(session, run);
