/**
 * Notices between the processes on one PostgreSQL (LISTEN, NOTIFY). A connection that breaks is opened again,
 * and the listener is notified that something may have been missed. A listener that must not miss anything
 * asks `isCurrent` first: whether the connection answers is checked four times a second, whether notices
 * arrive on it every ten seconds (`createNoticeProof`).
 */
import type { ServiceEvents } from "#foundation/events.ts";
import type { Log } from "#foundation/log.ts";
import { randomUUID } from "node:crypto";
import { type Kysely, sql } from "kysely";
import { Client, type ClientConfig } from "pg";
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
   * The server tells what was committed before it answers, on the one connection: an answer means that
   * everything from before the question has been heard. To listen once more changes nothing.
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

const notify = (db: Kysely<Tables>, channel: string, payload: string): Promise<unknown> =>
  sql`select pg_notify(${channel}, ${payload})`.execute(db);

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

interface ProofParts {
  /** Tells the listeners; resolves once it is committed. */
  readonly tell: (payload: string) => Promise<unknown>;
  /** Something told did not arrive: once, until something does. */
  readonly onDeaf: () => void;
  /** It arrives again, and other things may have been missed. */
  readonly onRegained: () => void;
}

export interface NoticeProof {
  readonly isGiven: () => boolean;
  /** Whether it was told for a proof, this process's or another's. */
  readonly hear: (payload: string) => boolean;
  /**
   * The connection answered what it was asked then; all that was told before has been heard by now, or never
   * will be.
   */
  readonly onAnswer: (askedAtMs: number) => void;
  /** The connection is gone. */
  readonly forget: () => void;
}

const everyMs = 10_000;
/** After what could not be told. */
const againMs = 1_000;
/**
 * Between the commit of what was told and a question whose answer proves that it is lost: for a server that
 * is in no hurry to tell.
 */
const arrivesMs = 1_000;
/** Where nothing can be told any more: as long as what is kept of credentials. */
const provenMs = 30_000;
const mark = "proof:";

/**
 * Checks whether notices arrive. A connection that answers may belong to a transaction pooler, which loses
 * notices. So this process sends itself a notice through the pool from time to time, and waits until it
 * arrives.
 */
export function createNoticeProof({ tell, onDeaf, onRegained }: ProofParts): NoticeProof {
  let told: { readonly payload: string; readonly begunAtMs: number; committedAtMs: number } | undefined;
  let provenAtMs = Number.NEGATIVE_INFINITY;
  let nextAtMs = Number.NEGATIVE_INFINITY;
  let isDeaf = false;

  const isGiven = (): boolean => performance.now() - provenAtMs <= provenMs;
  const begin = (): void => {
    const mine = {
      payload: `${mark}${randomUUID()}`,
      begunAtMs: performance.now(),
      committedAtMs: Number.POSITIVE_INFINITY,
    };
    told = mine;
    const end = (): void => {
      if (told !== mine) return;
      told = undefined;
      nextAtMs = performance.now() + againMs;
    };
    tell(mine.payload).then(() => (mine.committedAtMs = performance.now()), end);
  };
  const lose = (): void => {
    provenAtMs = Number.NEGATIVE_INFINITY;
    told = undefined;
    nextAtMs = performance.now() + everyMs;
    if (!isDeaf) onDeaf();
    isDeaf = true;
  };
  return {
    isGiven,
    hear: (payload) => {
      if (payload === told?.payload) {
        if (isDeaf || (Number.isFinite(provenAtMs) && !isGiven())) onRegained();
        isDeaf = false;
        provenAtMs = told.begunAtMs;
        nextAtMs = told.begunAtMs + everyMs;
        told = undefined;
      }
      return payload.startsWith(mark);
    },
    onAnswer: (askedAtMs) => {
      if (told === undefined) {
        if (performance.now() >= nextAtMs) begin();
      } else if (askedAtMs >= told.committedAtMs + arrivesMs) lose();
    },
    forget: () => {
      provenAtMs = Number.NEGATIVE_INFINITY;
      nextAtMs = Number.NEGATIVE_INFINITY;
      told = undefined;
    },
  };
}

/** What a process sends to, and receives from, the other processes on its database. */
export interface Notices {
  /** Whether every notice up to a moment ago has arrived here. */
  readonly isCurrent: () => boolean;
  readonly send: (text: string) => void;
  readonly start: () => void;
  readonly stop: () => Promise<void>;
}

interface NoticeSource {
  readonly db: Kysely<Tables>;
  listen(channel: string, hearing: Hearing): Listening;
}

/** A notice that arrives is emitted as `noticeReceived`. */
export function createNotices(database: NoticeSource, events: ServiceEvents, log: Log): Notices {
  let listening: Listening | undefined;
  return {
    isCurrent: () => listening?.isCurrent() === true,
    send: createTeller(database.db, noticeChannel),
    start: () => {
      listening = database.listen(noticeChannel, {
        onNotice: (text) => void events.emit("noticeReceived", text),
        onDeaf: () => log.warn({ event: "notices_lost" }, noticesLost),
      });
    },
    stop: async () => listening?.stop(),
  };
}

const noticesLost =
  "Notices of other processes do not arrive here, as behind a transaction pooler: set DATABASE_DIRECT_URL to PostgreSQL itself. Until then every request looks its credentials up.";

/** The embedded database has no other processes, so no notice is ever missed. */
export const alone: Listening = { isCurrent: () => true, stop: () => Promise.resolve() };
