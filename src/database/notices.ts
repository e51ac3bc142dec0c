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

export interface NoticeListener {
  /**
   * True if every notice that was committed up to 700 ms ago has arrived, and notices arrive on this
   * connection at all.
   */
  readonly isCurrent: () => boolean;
  readonly stop: () => Promise<void>;
}

const reconnectMs = 1_000;
const beatMs = 250;
/** Notices older than this have arrived; otherwise `isCurrent` is false. */
const currentMs = 700;
const answerMsMax = 5_000;

export interface NoticeHandlers {
  /** Called with the text of each notice, and with an empty text if notices may have been missed. */
  readonly onNotice: (payload: string) => void;
  /** Called if the connection answers but notices do not arrive on it. */
  readonly onNoticesLost?: (() => void) | undefined;
}

interface ListenParts {
  /** The connection to listen on. */
  readonly connection: ClientConfig;
  readonly channel: string;
  /** The database through which this process sends its own notices. */
  readonly db: Kysely<Tables>;
}

export function listenForNotices(
  { connection, channel, db }: ListenParts,
  { onNotice, onNoticesLost }: NoticeHandlers,
): NoticeListener {
  let client: Client | undefined;
  let next: NodeJS.Timeout | undefined;
  let isOver = false;
  let receivedUpToMs = Number.NEGATIVE_INFINITY;
  const proof = createNoticeProof({
    send: (payload) => notify(db, channel, payload),
    onNoticesLost: () => onNoticesLost?.(),
    onRegained: () => onNotice(""),
  });

  /**
   * Sends LISTEN again, which changes nothing. PostgreSQL delivers waiting notices before it answers on the
   * same connection, so the answer proves that all notices committed before the query have arrived.
   */
  const ask = async (connected: Client, onAnswer: () => void): Promise<void> => {
    const queriedAtMs = performance.now();
    await connected.query(`listen ${connected.escapeIdentifier(channel)}`);
    onAnswer();
    if (isOver || connected !== client) return;
    receivedUpToMs = queriedAtMs;
    proof.onAnswer(queriedAtMs);
    next = setTimeout(() => void ask(connected, () => undefined).catch(() => leave(connected)), beatMs);
  };
  const connect = async (): Promise<void> => {
    const opening = new Client({ ...connection, query_timeout: answerMsMax });
    client = opening;
    opening.on("notification", ({ payload = "" }) => {
      if (!proof.receive(payload)) onNotice(payload);
    });
    opening.on("error", () => undefined);
    opening.once("end", () => {
      receivedUpToMs = Number.NEGATIVE_INFINITY;
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
    isCurrent: () => performance.now() - receivedUpToMs <= currentMs && proof.isGiven(),
    stop: async () => {
      isOver = true;
      clearTimeout(next);
      receivedUpToMs = Number.NEGATIVE_INFINITY;
      await leave(client);
    },
  };
}

async function leave(client: Client | undefined): Promise<void> {
  await client?.end().catch(() => undefined);
}

const notify = (db: Kysely<Tables>, channel: string, payload: string): Promise<unknown> =>
  sql`select pg_notify(${channel}, ${payload})`.execute(db);

/**
 * Equal notices within this time are sent once, because each takes a lock that all commits of the server
 * share.
 */
const mergeMs = 5;

/**
 * Creates a function that sends a notice after a short delay. A failure is ignored, because listeners also
 * look for work by timers.
 */
export function createNoticeSender(db: Kysely<Tables>, channel: string): (payload: string) => void {
  const waiting = new Set<string>();
  const sendNow = (payload: string): void => {
    waiting.delete(payload);
    void notify(db, channel, payload).catch(() => undefined);
  };
  return (payload) => {
    if (waiting.has(payload)) return;
    waiting.add(payload);
    setTimeout(() => sendNow(payload), mergeMs);
  };
}

interface ProofParts {
  /** Sends a notice; resolves after its commit. */
  readonly send: (payload: string) => Promise<unknown>;
  /** Called once when a sent notice does not arrive, until notices arrive again. */
  readonly onNoticesLost: () => void;
  /** Called when notices arrive again; notices in between may have been missed. */
  readonly onRegained: () => void;
}

export interface NoticeProof {
  readonly isGiven: () => boolean;
  /** Handles a notice. Returns true if the notice was sent for a proof, by this or another process. */
  readonly receive: (payload: string) => boolean;
  /**
   * Called when the connection answers a query that was sent at the given time. Notices committed before that
   * time have arrived or are lost.
   */
  readonly onAnswer: (queriedAtMs: number) => void;
  /** Called when the connection is closed. */
  readonly forget: () => void;
}

const everyMs = 10_000;
/** Delay after a notice that could not be sent. */
const againMs = 1_000;
/**
 * Minimum time between the commit of a notice and a query whose answer proves that the notice is lost, in
 * case the server delivers late.
 */
const arrivesMs = 1_000;
/** How long a proof is valid if no further notice can be sent: as long as credentials are cached. */
const provenMs = 30_000;
const mark = "proof:";

/**
 * Checks whether notices arrive. A connection that answers may belong to a transaction pooler, which loses
 * notices. So this process sends itself a notice through the pool from time to time, and waits until it
 * arrives.
 */
export function createNoticeProof({ send, onNoticesLost, onRegained }: ProofParts): NoticeProof {
  let sent: { readonly payload: string; readonly begunAtMs: number; committedAtMs: number } | undefined;
  let provenAtMs = Number.NEGATIVE_INFINITY;
  let nextAtMs = Number.NEGATIVE_INFINITY;
  let areLost = false;

  const isGiven = (): boolean => performance.now() - provenAtMs <= provenMs;
  const begin = (): void => {
    const mine = {
      payload: `${mark}${randomUUID()}`,
      begunAtMs: performance.now(),
      committedAtMs: Number.POSITIVE_INFINITY,
    };
    sent = mine;
    const end = (): void => {
      if (sent !== mine) return;
      sent = undefined;
      nextAtMs = performance.now() + againMs;
    };
    send(mine.payload).then(() => (mine.committedAtMs = performance.now()), end);
  };
  const lose = (): void => {
    provenAtMs = Number.NEGATIVE_INFINITY;
    sent = undefined;
    nextAtMs = performance.now() + everyMs;
    if (!areLost) onNoticesLost();
    areLost = true;
  };
  return {
    isGiven,
    receive: (payload) => {
      if (payload === sent?.payload) {
        if (areLost || (Number.isFinite(provenAtMs) && !isGiven())) onRegained();
        areLost = false;
        provenAtMs = sent.begunAtMs;
        nextAtMs = sent.begunAtMs + everyMs;
        sent = undefined;
      }
      return payload.startsWith(mark);
    },
    onAnswer: (queriedAtMs) => {
      if (sent === undefined) {
        if (performance.now() >= nextAtMs) begin();
      } else if (queriedAtMs >= sent.committedAtMs + arrivesMs) lose();
    },
    forget: () => {
      provenAtMs = Number.NEGATIVE_INFINITY;
      nextAtMs = Number.NEGATIVE_INFINITY;
      sent = undefined;
    },
  };
}

/** Sends notices to, and receives notices from, the other processes on the database. */
export interface Notices {
  /** True if every notice up to 700 ms ago has arrived in this process. */
  readonly isCurrent: () => boolean;
  readonly send: (text: string) => void;
  readonly start: () => void;
  readonly stop: () => Promise<void>;
}

interface NoticeSource {
  readonly db: Kysely<Tables>;
  listen(channel: string, hearing: NoticeHandlers): NoticeListener;
}

/** Creates the notices of a process. Each received notice is emitted as `noticeReceived`. */
export function createNotices(database: NoticeSource, events: ServiceEvents, log: Log): Notices {
  let listening: NoticeListener | undefined;
  return {
    isCurrent: () => listening?.isCurrent() === true,
    send: createNoticeSender(database.db, noticeChannel),
    start: () => {
      listening = database.listen(noticeChannel, {
        onNotice: (text) => void events.emit("noticeReceived", text),
        onNoticesLost: () => log.warn({ event: "notices_lost" }, noticesLost),
      });
    },
    stop: async () => listening?.stop(),
  };
}

const noticesLost =
  "Notices of other processes do not arrive, for example because of a transaction pooler. " +
  "Set DATABASE_DIRECT_URL to PostgreSQL itself. Until then, every request reads its credential from the database.";

/** The embedded database has no other processes, so no notice is ever missed. */
export const listenerWithoutOthers: NoticeListener = { isCurrent: () => true, stop: () => Promise.resolve() };
