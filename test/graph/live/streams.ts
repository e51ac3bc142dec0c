/** A client of subscriptions that uses a real connection and reads event by event. */
import { afterEach, expect } from "vitest";
import { type ServiceApp, createServiceApp } from "#app/app.ts";
import type { ProcessRole } from "#app/background.ts";
import { parseServiceSettings } from "#app/settings.ts";
import { readServerSentEvents, type ServerSentEvent } from "#pages/shared/browser/server-sent-events.ts";
import type { DemoJsonFileContent } from "#demo/demo-file.ts";
import { createLog } from "#foundation/log.ts";
import { encryptionKeys, publicUrl } from "#test/support/copies.ts";
import { portOf } from "#test/support/raw-http.ts";
import type { World } from "#test/support/world.ts";

export interface Followed {
  readonly response: Response;
  /** Waits for the next result. Returns `complete` at the end. */
  readonly next: () => Promise<StreamResult>;
  /** Reads all results until the end. */
  readonly rest: () => Promise<StreamResult[]>;
  /** Closes the connection of the client. */
  readonly leave: () => void;
}

// eslint-disable-next-line typescript/no-explicit-any -- Tests look into results of any shape.
export type StreamResult = any;

export interface Following {
  readonly port: number;
  /** null if the request's headers carry another credential. */
  readonly token: string | null;
  readonly query?: string;
  /** Names a trusted document instead of `query`. */
  readonly documentId?: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function follow({ port, token, headers = {}, ...request }: Following): Promise<Followed> {
  const leaving = new AbortController();
  const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
    method: "POST",
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      accept: "text/event-stream",
      "content-type": "application/json",
      ...headers,
    },
    body: JSON.stringify(request),
    signal: leaving.signal,
  });
  if (response.body === null) throw new Error("There is no body.");
  const events =
    response.headers.get("content-type")?.startsWith("text/event-stream") === true
      ? readServerSentEvents(response.body, () => undefined)
      : undefined;
  const next = async (): Promise<StreamResult> => {
    if (events === undefined) return response.json();
    const { done, value } = await events.next();
    return done === true ? "cut" : parseResult(value);
  };
  const rest = async (): Promise<StreamResult[]> => {
    const all = [];
    for (let result = await next(); result !== "complete"; result = await next()) all.push(result);
    return all;
  };
  return { response, next, rest, leave: () => leaving.abort() };
}

const parseResult = ({ event, data }: ServerSentEvent): StreamResult =>
  event === "complete" ? "complete" : JSON.parse(data);

/** Subscribes in a listening world, with a token of demo.json by its name or with another token. */
export function followIn(
  world: World,
  request: Omit<Following, "port" | "token"> & Partial<Pick<Following, "token">>,
): Promise<Followed> {
  const { token = "admin" } = request;
  const value =
    token !== null && token in world.demo.tokens
      ? world.demo.tokens[token as keyof DemoJsonFileContent["tokens"]]
      : token;
  return follow({ ...request, port: portOf(world), token: value });
}

/** Starts another process on the world's database. The two processes share only committed data. */
export async function anotherProcess(
  world: World,
  role: ProcessRole = "gateway",
): Promise<ServiceApp & AsyncDisposable> {
  const settings = parseServiceSettings({
    PORT: "0",
    PUBLIC_URL: publicUrl,
    ENCRYPTION_KEYS: encryptionKeys,
    RATE_LIMIT_SCALE: "0",
    WEBHOOK_ALLOW_LOOPBACK: "1",
  });
  const app = await createServiceApp({
    settings,
    log: createLog("silent"),
    clock: world.clock,
    database: world.database,
    role,
  });
  await app.listen();
  return { ...app, [Symbol.asyncDispose]: () => app.close() };
}

/** The number of subscriptions in the world's process. */
export const watchers = ({ app }: World): number => app.services.watch?.watchers() ?? -1;

/** Returns a function that subscribes in a world. The streams are closed after each test. */
export function useStreams(
  world: () => World,
): (request: Parameters<typeof followIn>[1]) => Promise<Followed> {
  const open: Followed[] = [];
  afterEach(async () => {
    for (const { leave } of open.splice(0)) leave();
    await expect.poll(() => watchers(world())).toBe(0);
  });
  return async (request) => {
    const stream = await followIn(world(), request);
    open.push(stream);
    return stream;
  };
}
