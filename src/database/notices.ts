/**
 * Word between the processes on one PostgreSQL (LISTEN, NOTIFY). A connection that breaks is opened again, and whoever listens is told that something
 * may have been missed. Whoever must not miss anything asks `isCurrent` before it relies on what it has heard: that the connection answers is known from
 * moment to moment, that notices arrive on it is tried every ten seconds (notice-proof.ts).
 */
import { type Kysely, sql } from "kysely";
import { Client, type ClientConfig } from "pg";
import { createNoticeProof } from "./notice-proof.ts";
import type { Tables } from "./tables.ts";

/** All processes of the service on one database. */
export const noticeChannel = "commerce_gateway";

export interface Listening {
  /** Whether all that was committed up to a moment ago has been heard, and what is told arrives here at all. */
  readonly isCurrent: () => boolean;
  readonly stop: () => Promise<void>;
}

const reconnectMs = 1_000;
const beatMs = 250;
/** What was told longer ago than this has been heard, or `isCurrent` says no. */
const currentMs = 700;
const answerMsMax = 5_000;

export interface Hearing {
  /** Told the payload, and an empty one whenever something may have been missed. */
  readonly onNotice: (payload: string) => void;
  /** The connection answers, and nothing that is told arrives on it. */
  readonly onDeaf?: (() => void) | undefined;
}

interface ListenParts {
  /** The connection to listen on. */
  readonly connection: ClientConfig;
  readonly channel: string;
  /** What is told by the way that this process tells other things. */
  readonly db: Kysely<Tables>;
}

export function listen({ connection, channel, db }: ListenParts, { onNotice, onDeaf }: Hearing): Listening {
  let client: Client | undefined;
  let next: NodeJS.Timeout | undefined;
  let isOver = false;
  let heardUpToMs = Number.NEGATIVE_INFINITY;
  const proof = createNoticeProof({
    tell: (payload) => notify(db, channel, payload),
    onDeaf: () => onDeaf?.(),
    onRegained: () => onNotice(""),
  });

  /**
   * The server tells what was committed before it answers, on the one connection: an answer means that everything from before the question has been
   * heard. To listen once more changes nothing.
   */
  const ask = async (asked: Client, onAnswer: () => void): Promise<void> => {
    const askedAtMs = performance.now();
    await asked.query(`listen ${asked.escapeIdentifier(channel)}`);
    onAnswer();
    if (isOver || asked !== client) return;
    heardUpToMs = askedAtMs;
    proof.onAnswer(askedAtMs);
    next = setTimeout(() => void ask(asked, () => undefined).catch(() => leave(asked)), beatMs);
  };
  const connect = async (): Promise<void> => {
    const opening = new Client({ ...connection, query_timeout: answerMsMax });
    client = opening;
    opening.on("notification", ({ payload = "" }) => {
      if (!proof.hear(payload)) onNotice(payload);
    });
    opening.on("error", () => undefined);
    opening.once("end", () => {
      heardUpToMs = Number.NEGATIVE_INFINITY;
      proof.forget();
      clearTimeout(next);
      if (!isOver) next = setTimeout(() => void tryToConnect(), reconnectMs);
    });
    await opening.connect();
    await ask(opening, () => onNotice(""));
  };
  const tryToConnect = (): Promise<void> => connect().catch(() => leave(client));
  void tryToConnect();
  return {
    isCurrent: () => performance.now() - heardUpToMs <= currentMs && proof.isGiven(),
    stop: async () => {
      isOver = true;
      clearTimeout(next);
      heardUpToMs = Number.NEGATIVE_INFINITY;
      await leave(client);
    },
  };
}

async function leave(client: Client | undefined): Promise<void> {
  await client?.end().catch(() => undefined);
}

const notify = (db: Kysely<Tables>, channel: string, payload: string): Promise<unknown> => sql`select pg_notify(${channel}, ${payload})`.execute(db);

/** So many notices in one moment are one: each takes a lock that all commits of the server share. */
const togetherMs = 5;

/** Tells the listeners, at once or a moment later, and never fails: they look from time to time. */
export function createTeller(db: Kysely<Tables>, channel: string): (payload: string) => void {
  const waiting = new Set<string>();
  const tell = (payload: string): void => {
    waiting.delete(payload);
    void notify(db, channel, payload).catch(() => undefined);
  };
  return (payload) => {
    if (waiting.has(payload)) return;
    waiting.add(payload);
    setTimeout(() => tell(payload), togetherMs);
  };
}
