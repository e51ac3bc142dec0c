/** Subscriptions as a client sees them: over a real connection, event by event. */
import { afterEach, expect } from "vitest";
import { type ServiceApp, createApp } from "#app/app.ts";
import type { ProcessRole } from "#app/background.ts";
import { readSettings } from "#app/settings.ts";
import { readServerSentEvents, type ServerSentEvent } from "#pages/shared/browser/server-sent-events.ts";
import type { DemoFile } from "#demo/demo-file.ts";
import { createLog } from "#foundation/log.ts";
import { encryptionKeys, publicUrl } from "#test/support/copies.ts";
import { portOf } from "#test/support/raw-http.ts";
import type { World } from "#test/support/world.ts";

export interface Followed {
  readonly response: Response;
  /** The next result; waits for it. `complete` at the end. */
  readonly next: () => Promise<Told>;
  /** All there is until the end. */
  readonly rest: () => Promise<Told[]>;
  /** The client goes away. */
  readonly leave: () => void;
}

// eslint-disable-next-line typescript/no-explicit-any -- Tests look into results of any shape.
export type Told = any;

export interface Following {
  readonly port: number;
  /** Null: who asks shows something else. */
  readonly token: string | null;
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function follow({
  port,
  token,
  query,
  variables = {},
  headers = {},
}: Following): Promise<Followed> {
  const leaving = new AbortController();
  const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
    method: "POST",
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      accept: "text/event-stream",
      "content-type": "application/json",
      ...headers,
    },
    body: JSON.stringify({ query, variables }),
    signal: leaving.signal,
  });
  if (response.body === null) throw new Error("There is no body.");
  const events =
    response.headers.get("content-type")?.startsWith("text/event-stream") === true
      ? readServerSentEvents(response.body, () => undefined)
      : undefined;
  const next = async (): Promise<Told> => {
    if (events === undefined) return response.json();
    const { done, value } = await events.next();
    return done === true ? "cut" : toldOf(value);
  };
  const rest = async (): Promise<Told[]> => {
    const all = [];
    for (let told = await next(); told !== "complete"; told = await next()) all.push(told);
    return all;
  };
  return { response, next, rest, leave: () => leaving.abort() };
}

const toldOf = ({ event, data }: ServerSentEvent): Told =>
  event === "complete" ? "complete" : JSON.parse(data);

/** Of a world that listens; with a token of demo.json by its name, or another. */
export function followIn(
  world: World,
  asked: Omit<Following, "port" | "token"> & Partial<Pick<Following, "token">>,
): Promise<Followed> {
  const { token = "admin" } = asked;
  const value =
    token !== null && token in world.demo.tokens
      ? world.demo.tokens[token as keyof DemoFile["tokens"]]
      : token;
  return follow({ ...asked, port: portOf(world), token: value });
}

/** Another process on the world's database: it shares nothing with the world but what is committed. */
export async function anotherProcess(
  world: World,
  role: ProcessRole = "gateway",
): Promise<ServiceApp & AsyncDisposable> {
  const settings = readSettings({
    PORT: "0",
    PUBLIC_URL: publicUrl,
    ENCRYPTION_KEYS: encryptionKeys,
    RATE_LIMIT_SCALE: "0",
    WEBHOOK_ALLOW_LOOPBACK: "1",
  });
  const app = await createApp({
    settings,
    log: createLog("silent"),
    clock: world.clock,
    database: world.database,
    role,
  });
  await app.listen();
  return { ...app, [Symbol.asyncDispose]: () => app.close() };
}

/** So many follow something in the world's process. */
export const watchers = ({ app }: World): number => app.services.watch?.watchers() ?? -1;

/** Opens streams in a world, and has them closed and forgotten after each test. */
export function useStreams(world: () => World): (asked: Parameters<typeof followIn>[1]) => Promise<Followed> {
  const open: Followed[] = [];
  afterEach(async () => {
    for (const { leave } of open.splice(0)) leave();
    await expect.poll(() => watchers(world()), { timeout: 10_000 }).toBe(0);
  });
  return async (asked) => {
    const stream = await followIn(world(), asked);
    open.push(stream);
    return stream;
  };
}
