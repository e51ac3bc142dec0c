/**
 * Runs commands inside the service. The embedded database allows only one process, so a command that finds
 * the database in use sends its arguments to the running service: to a port on 127.0.0.1, with the secret of
 * `commands.json`. The service runs the command on its open database and streams the output back.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text as readText } from "node:stream/consumers";
import type { ServiceSettings } from "#app/settings.ts";
import type { OpenedDatabase } from "#database/connect.ts";
import type { Log } from "#foundation/log.ts";
import {
  type CliCommandOutputOrExitCode,
  deleteCommandServerPortAndSecret,
  sentCommand,
  type CliCommandSentToService,
  writeCommandServerPortAndSecret,
} from "./command-file.ts";
import { type CliCommandEnvironment, runFunctionInCliCommandEnvironment } from "./command-session.ts";

/**
 * Runs a command with the input and output of the current command session, and returns the command's exit
 * code. Never rejects.
 */
export type CliCommandRunner = (args: readonly string[]) => Promise<number>;

export interface CliCommandServerOptions {
  readonly database: OpenedDatabase;
  readonly settings: ServiceSettings;
  readonly log: Log;
  readonly runCommand: CliCommandRunner;
}

/**
 * Starts to accept commands. Returns a function that stops accepting commands and waits for the commands in
 * progress.
 */
export async function startCliCommandServer(options: CliCommandServerOptions): Promise<() => Promise<void>> {
  const { dataDir } = options.settings;
  const secret = randomBytes(32).toString("base64url");
  const running = new Set<Promise<void>>();
  const server = createServer((request, response) => {
    const answering = answer({ request, response, secret }, options).finally(() => running.delete(answering));
    running.add(answering);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  server.unref();
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The command port is not open.");
  writeCommandServerPortAndSecret(dataDir, { port: address.port, secret });
  return async () => {
    deleteCommandServerPortAndSecret(dataDir);
    server.close();
    await Promise.all(running);
    server.closeAllConnections();
  };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly secret: string;
}

async function answer(
  { request, response, secret }: Exchange,
  options: CliCommandServerOptions,
): Promise<void> {
  try {
    if (request.method !== "POST" || !isAuthorized(request, secret)) {
      response.writeHead(401).end();
      return;
    }
    await run(sentCommand.parse(JSON.parse(await readText(request))), response, options);
  } catch (error) {
    options.log.error({ err: error }, "A command that another process sent could not be run.");
    if (!response.headersSent) response.writeHead(400);
    response.end();
  }
}

function isAuthorized({ headers }: IncomingMessage, secret: string): boolean {
  const given = Buffer.from(headers.authorization ?? "");
  const expected = Buffer.from(`Bearer ${secret}`);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

async function run(
  { args, input }: CliCommandSentToService,
  response: ServerResponse,
  { database, settings, log, runCommand }: CliCommandServerOptions,
): Promise<void> {
  // Logs only the name of the command, because arguments may contain personal data.
  log.info({ command: args.slice(0, 2).filter((word) => /^[a-z-]+$/.test(word)) }, "Running a command.");
  response.writeHead(200, { "content-type": "application/x-ndjson" });
  const send = async (output: CliCommandOutputOrExitCode): Promise<void> => {
    if (response.destroyed) throw new Error("The process that sent the command has ended.");
    if (!response.write(`${JSON.stringify(output)}\n`))
      await Promise.race([once(response, "drain"), once(response, "close")]);
  };
  let exitCode = 0;
  const session: CliCommandEnvironment = {
    write: (stream, text) => send({ stream, text }),
    readInput: () => Promise.resolve(input ?? ""),
    setExitCode: (code) => {
      exitCode = code;
    },
    service: { database, settings },
  };
  const code = await runFunctionInCliCommandEnvironment(session, () => runCommand(args));
  await send({ exitCode: code === 0 ? exitCode : code });
  response.end();
}
