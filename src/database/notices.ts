/**
 * Notices between the processes on one PostgreSQL (LISTEN, NOTIFY). A broken connection is opened again, and
 * then the listener is notified that notices may have been missed. A listener that must not miss notices
 * checks `isCurrent` first. Four times a second this file checks that the connection answers, and every ten
 * seconds that notices arrive on it (`createNoticeLivenessCheck`).
 */
import type { ServiceEvents } from "#foundation/events.ts";
import type { Log } from "#foundation/log.ts";
import { randomUUID } from "node:crypto";
import { type Kysely, sql } from "kysely";
import { Client, type ClientConfig } from "pg";
import type { Tables } from "./tables.ts";

/** The channel of all processes of the service on one database. */
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
/** Milliseconds between two checks of the connection. */
const beatMs = 250;
/** Maximum age in milliseconds of the last successful check; with an older one, `isCurrent` is false. */
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
  const proof = createNoticeLivenessCheck({
    send: (payload) => notify(db, channel, payload),
    onNoticesLost: () => onNoticesLost?.(),
    onRegained: () => onNotice(""),
  });

  /**
   * Sends LISTEN again, which changes nothing. PostgreSQL delivers waiting notices before it answers on the
   * same connection, so the answer proves that all notices committed before the query have arrived.
   */
  const checkConnection = async (connected: Client, onAnswer: () => void): Promise<void> => {
    const queriedAtMs = performance.now();
    await connected.query(`listen ${connected.escapeIdentifier(channel)}`);
    onAnswer();
    if (isOver || connected !== client) return;
    receivedUpToMs = queriedAtMs;
    proof.onAnswer(queriedAtMs);
    next = setTimeout(
      () => void checkConnection(connected, () => undefined).catch(() => closeClient(connected)),
      beatMs,
    );
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
    await checkConnection(opening, () => onNotice(""));
  };
  const tryToConnect = (): Promise<void> => connect().catch(() => closeClient(client));
  void tryToConnect();
  return {
    isCurrent: () => performance.now() - receivedUpToMs <= currentMs && proof.isGiven(),
    stop: async () => {
      isOver = true;
      clearTimeout(next);
      receivedUpToMs = Number.NEGATIVE_INFINITY;
      await closeClient(client);
    },
  };
}

async function closeClient(client: Client | undefined): Promise<void> {
  await client?.end().catch(() => undefined);
}

const notify = (db: Kysely<Tables>, channel: string, payload: string): Promise<unknown> =>
  sql`select pg_notify(${channel}, ${payload})`.execute(db);

/**
 * Equal notices within this number of milliseconds are sent once. Every notice takes a lock that all commits
 * of the server need.
 */
const mergeMs = 5;

/**
 * Creates a function that sends a notice after a short delay. A failure is ignored, because listeners also
 * check for work at intervals.
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
  /** Called when notices arrive again. Notices sent in between may have been missed. */
  readonly onRegained: () => void;
}

export interface NoticeLivenessCheck {
  /** True if a notice that this process sent to itself has arrived recently. */
  readonly isGiven: () => boolean;
  /** Handles a notice. Returns true if this or another process sent the notice only as a proof. */
  readonly receive: (payload: string) => boolean;
  /**
   * Called when the connection answers a query that was sent at the given time. Notices committed before that
   * time have arrived or are lost.
   */
  readonly onAnswer: (queriedAtMs: number) => void;
  /** Called when the connection is closed. */
  readonly forget: () => void;
}

const proofIntervalMs = 10_000;
/** Milliseconds until the next attempt after a notice could not be sent. */
const retrySendMs = 1_000;
/**
 * Minimum number of milliseconds between the commit of a notice and a query whose answer proves that the
 * notice is lost. The server may deliver a notice late.
 */
const lateDeliveryMs = 1_000;
/** Milliseconds for which a proof is valid: as long as credentials are cached. */
const provenMs = 30_000;
const proofPrefix = "proof:";

/**
 * Checks whether notices arrive. A connection that answers may belong to a transaction pooler, which loses
 * notices. So this process sends itself a notice through the pool from time to time, and waits until it
 * arrives.
 */
export function createNoticeLivenessCheck({
  send,
  onNoticesLost,
  onRegained,
}: ProofParts): NoticeLivenessCheck {
  let sent: { readonly payload: string; readonly begunAtMs: number; committedAtMs: number } | undefined;
  let provenAtMs = Number.NEGATIVE_INFINITY;
  let nextAtMs = Number.NEGATIVE_INFINITY;
  let areLost = false;

  const isGiven = (): boolean => performance.now() - provenAtMs <= provenMs;
  const sendProof = (): void => {
    const proofNotice = {
      payload: `${proofPrefix}${randomUUID()}`,
      begunAtMs: performance.now(),
      committedAtMs: Number.POSITIVE_INFINITY,
    };
    sent = proofNotice;
    const end = (): void => {
      if (sent !== proofNotice) return;
      sent = undefined;
      nextAtMs = performance.now() + retrySendMs;
    };
    send(proofNotice.payload).then(() => (proofNotice.committedAtMs = performance.now()), end);
  };
  const handleLoss = (): void => {
    provenAtMs = Number.NEGATIVE_INFINITY;
    sent = undefined;
    nextAtMs = performance.now() + proofIntervalMs;
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
        nextAtMs = sent.begunAtMs + proofIntervalMs;
        sent = undefined;
      }
      return payload.startsWith(proofPrefix);
    },
    onAnswer: (queriedAtMs) => {
      if (sent === undefined) {
        if (performance.now() >= nextAtMs) sendProof();
      } else if (queriedAtMs >= sent.committedAtMs + lateDeliveryMs) handleLoss();
    },
    forget: () => {
      provenAtMs = Number.NEGATIVE_INFINITY;
      nextAtMs = Number.NEGATIVE_INFINITY;
      sent = undefined;
    },
  };
}

/** Sends notices to the other processes on the database, and receives their notices. */
export interface Notices {
  /** True if every notice up to 700 ms ago has arrived in this process. */
  readonly isCurrent: () => boolean;
  readonly send: (text: string) => void;
  readonly start: () => void;
  readonly stop: () => Promise<void>;
}

interface NoticeSource {
  readonly db: Kysely<Tables>;
  listen(channel: string, handlers: NoticeHandlers): NoticeListener;
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
  "Set DATABASE_DIRECT_URL to PostgreSQL itself. Until then, every request reads its credential from " +
  "the database.";

/** The listener of the embedded database. It has only one process, so it misses no notice. */
export const listenerWithoutOthers: NoticeListener = { isCurrent: () => true, stop: () => Promise.resolve() };
