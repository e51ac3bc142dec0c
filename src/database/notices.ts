/**
 * Notices between the processes of the service on one PostgreSQL database (LISTEN, NOTIFY). If the connection
 * breaks, this file connects again and reports that notices may have been missed. Code that must not miss
 * notices checks `isCurrent` first, for example before it uses a cache. While `isCurrent` is used, this file
 * checks four times a second that the connection answers, otherwise every five seconds. Every ten seconds, it
 * checks that notices arrive on the connection (`createInterProcessNoticeLivenessCheck`).
 */
import type { InProcessEventEmitter } from "#foundation/events.ts";
import type { Log } from "#foundation/log.ts";
import { randomUUID } from "node:crypto";
import { type Kysely, sql } from "kysely";
import { Client, type ClientConfig } from "pg";
import {
  closeConnectionIgnoringErrors,
  createConnectionCheckRunner,
  createConnectionCheckScheduler,
} from "./connection-checks.ts";
import type { Tables } from "./tables.ts";

/** The name of the NOTIFY channel that all processes of the service on one database use. */
export const noticeChannel = "commerce_gateway";

export interface InterProcessNoticeListener {
  /**
   * Returns true if every notice that was committed more than 700 ms ago has arrived, and the connection has
   * been shown to receive notices.
   */
  readonly isCurrent: () => boolean;
  /**
   * Returns true if the connection has been shown to receive notices within the last 30 seconds, and is not
   * known to be broken.
   */
  readonly isReceiving: () => boolean;
  /**
   * Checks the connection, and returns true if every notice that was committed before this call has arrived.
   * All callers at the same time share one check. Returns false after 100 ms without an answer.
   */
  readonly confirm: () => Promise<boolean> | boolean;
  readonly stop: () => Promise<void>;
}

const reconnectMs = 1_000;
const idleAfterMsDefault = 10_000;
/**
 * Maximum age in milliseconds of the last successful check of the listening connection. After this time,
 * `isCurrent` is false.
 */
const currentMs = 700;
const answerMsMax = 5_000;

export interface InterProcessNoticeHandlers {
  /** Called with the text of each received notice, and with "" if notices may have been missed. */
  readonly onNotice: (payload: string) => void;
  /**
   * Called if the connection answers but no notices arrive on it, for example because the connection goes
   * through a transaction pooler.
   */
  readonly onNoticesLost?: (() => void) | undefined;
}

interface ListenParts {
  /** The configuration of the database connection on which this process listens for notices. */
  readonly connection: ClientConfig;
  readonly channel: string;
  /** The connection pool through which this process sends its own notices. */
  readonly db: Kysely<Tables>;
  /** Milliseconds after the last use of `isCurrent` after which the checks become rare; if left out, 10,000. */
  readonly idleAfterMs?: number;
}

export function listenForInterProcessNotices(
  { connection, channel, db, idleAfterMs = idleAfterMsDefault }: ListenParts,
  { onNotice, onNoticesLost }: InterProcessNoticeHandlers,
): InterProcessNoticeListener {
  let client: Client | undefined;
  let reconnecting: NodeJS.Timeout | undefined;
  let isOver = false;
  let receivedUpToMs = Number.NEGATIVE_INFINITY;
  const livenessCheck = createInterProcessNoticeLivenessCheck({
    send: (payload) => notify(db, channel, payload),
    onNoticesLost: () => onNoticesLost?.(),
    onRegained: () => onNotice(""),
  });

  /**
   * Checks the connection by sending LISTEN again, which changes nothing. PostgreSQL sends waiting notices
   * before its answer on the same connection. The answer therefore proves that all notices that were
   * committed before the query have arrived.
   */
  const checkConnection = async (connected: Client, onAnswer?: () => void): Promise<void> => {
    const queriedAtMs = performance.now();
    await connected.query(`listen ${connected.escapeIdentifier(channel)}`);
    onAnswer?.();
    if (isOver || connected !== client) return;
    receivedUpToMs = queriedAtMs;
    livenessCheck.onAnswer(queriedAtMs);
  };
  const canBegin = (connected: Client): boolean => connected === client && !livenessCheck.isTesting();
  const checks = createConnectionCheckRunner({ check: (connected) => checkConnection(connected), canBegin });
  const regularChecks = createConnectionCheckScheduler(async () => {
    const connected = client;
    if (connected === undefined) return;
    await checks.checkOnce(connected).done;
    if (!isOver && connected === client) regularChecks.plan();
  }, idleAfterMs);
  const connect = async (): Promise<void> => {
    const opening = new Client({ ...connection, query_timeout: answerMsMax });
    client = opening;
    opening.on("notification", ({ payload = "" }) => {
      if (!livenessCheck.receive(payload, checks.isRunning())) onNotice(payload);
    });
    opening.on("error", () => undefined);
    opening.once("end", () => {
      receivedUpToMs = Number.NEGATIVE_INFINITY;
      livenessCheck.reset();
      regularChecks.cancel();
      if (client === opening) client = undefined;
      if (!isOver) reconnecting = setTimeout(() => void tryToConnect(), reconnectMs);
    });
    await opening.connect();
    await checkConnection(opening, () => onNotice(""));
    if (opening === client) regularChecks.plan();
  };
  const tryToConnect = (): Promise<void> => connect().catch(() => closeConnectionIgnoringErrors(client));
  void tryToConnect();
  const confirm = (): Promise<boolean> | boolean => {
    const calledAtMs = performance.now();
    // Returns false without a check if there is no connection, if the connection has not answered yet, or if
    // a test notice is under way. A test notice that arrives during a check proves nothing.
    if (client === undefined || !Number.isFinite(receivedUpToMs) || livenessCheck.isTesting()) return false;
    return checks.checkFromNow(client).then(() => receivedUpToMs >= calledAtMs && livenessCheck.isProven());
  };
  return {
    isCurrent: () => {
      regularChecks.noteUse();
      return performance.now() - receivedUpToMs <= currentMs && livenessCheck.isProven();
    },
    isReceiving: () => Number.isFinite(receivedUpToMs) && livenessCheck.isProven(),
    confirm,
    stop: async () => {
      isOver = true;
      clearTimeout(reconnecting);
      regularChecks.cancel();
      receivedUpToMs = Number.NEGATIVE_INFINITY;
      await closeConnectionIgnoringErrors(client);
    },
  };
}

const notify = (db: Kysely<Tables>, channel: string, payload: string): Promise<unknown> =>
  sql`select pg_notify(${channel}, ${payload})`.execute(db);

/**
 * Milliseconds within which several equal notices are sent as one. Committing a notice takes a lock that the
 * whole database server shares, so the number of notices is kept small.
 */
const mergeMs = 5;

/**
 * Creates a function that sends a notice after a short delay. If the notice cannot be sent, the error is
 * ignored, because the receivers also look for work at regular intervals, without a notice.
 */
export function createInterProcessNoticeSender(
  db: Kysely<Tables>,
  channel: string,
): (payload: string) => void {
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

interface LivenessCheckParts {
  /** Sends a notice to the other processes. The promise is resolved after the notice has been committed. */
  readonly send: (payload: string) => Promise<unknown>;
  /**
   * Called when a test notice that this process sent to itself has not arrived. Not called again until
   * notices have arrived in the meantime.
   */
  readonly onNoticesLost: () => void;
  /**
   * Called when notices arrive again after a failure. Notices that were sent during the failure may have been
   * missed.
   */
  readonly onRegained: () => void;
}

export interface InterProcessNoticeLivenessCheck {
  /** Returns true if a notice that this process sent to itself has arrived within the last 30 seconds. */
  readonly isProven: () => boolean;
  /** Returns true while a test notice is under way. */
  readonly isTesting: () => boolean;
  /**
   * Receives every notice. Returns true if the notice is only a test notice, from this process or another
   * one. `isDuringQuery` says whether the connection waits for the answer of a query. A transaction pooler
   * may deliver notices only during queries. An arrival during a query therefore proves nothing, and the next
   * answer sends another test notice.
   */
  readonly receive: (payload: string, isDuringQuery: boolean) => boolean;
  /**
   * Called when the connection has answered a query; `queriedAtMs` is the time at which the query was sent.
   * Each notice that was committed before that time has arrived or is lost.
   */
  readonly onAnswer: (queriedAtMs: number) => void;
  /**
   * Forgets which test notices arrived, so that the connection counts as untested. Called when the connection
   * is closed.
   */
  readonly reset: () => void;
}

const testIntervalMs = 10_000;
/**
 * Milliseconds after which a test notice that could not be sent is sent again. A test notice (NOTIFY) proves
 * that notices arrive at this process.
 */
const retrySendMs = 1_000;
/**
 * Milliseconds by which PostgreSQL may deliver a notice late. A test notice counts as lost only if it has not
 * arrived before the answer to a query that was sent this long after its commit.
 */
const lateDeliveryMs = 1_000;
/**
 * Milliseconds for which an arrived test notice is accepted as proof that notices arrive. It is the same time
 * for which credentials are cached.
 */
const provenMs = 30_000;
const testNoticePrefix = "proof:";

/**
 * Checks whether notices arrive on a connection. A connection that answers may belong to a transaction
 * pooler, which loses notices. Therefore this process sends a test notice to itself through the connection
 * pool every ten seconds, and waits until the notice arrives.
 */
export function createInterProcessNoticeLivenessCheck({
  send,
  onNoticesLost,
  onRegained,
}: LivenessCheckParts): InterProcessNoticeLivenessCheck {
  let sent: { readonly payload: string; readonly begunAtMs: number; committedAtMs: number } | undefined;
  let provenAtMs = Number.NEGATIVE_INFINITY;
  let nextAtMs = Number.NEGATIVE_INFINITY;
  let areLost = false;

  const isProven = (): boolean => performance.now() - provenAtMs <= provenMs;
  const sendTestNotice = (): void => {
    const testNotice = {
      payload: `${testNoticePrefix}${randomUUID()}`,
      begunAtMs: performance.now(),
      committedAtMs: Number.POSITIVE_INFINITY,
    };
    sent = testNotice;
    const end = (): void => {
      if (sent !== testNotice) return;
      sent = undefined;
      nextAtMs = performance.now() + retrySendMs;
    };
    send(testNotice.payload).then(() => (testNotice.committedAtMs = performance.now()), end);
  };
  const handleLoss = (): void => {
    provenAtMs = Number.NEGATIVE_INFINITY;
    sent = undefined;
    nextAtMs = performance.now() + testIntervalMs;
    if (!areLost) onNoticesLost();
    areLost = true;
  };
  return {
    isProven,
    isTesting: () => sent !== undefined,
    receive: (payload, isDuringQuery) => {
      if (payload === sent?.payload && isDuringQuery) {
        nextAtMs = performance.now();
        sent = undefined;
      } else if (payload === sent?.payload) {
        if (areLost || (Number.isFinite(provenAtMs) && !isProven())) onRegained();
        areLost = false;
        provenAtMs = sent.begunAtMs;
        nextAtMs = sent.begunAtMs + testIntervalMs;
        sent = undefined;
      }
      return payload.startsWith(testNoticePrefix);
    },
    onAnswer: (queriedAtMs) => {
      if (sent === undefined) {
        if (performance.now() >= nextAtMs) sendTestNotice();
      } else if (queriedAtMs >= sent.committedAtMs + lateDeliveryMs) handleLoss();
    },
    reset: () => {
      provenAtMs = Number.NEGATIVE_INFINITY;
      nextAtMs = Number.NEGATIVE_INFINITY;
      sent = undefined;
    },
  };
}

/** Sends notices to the other processes on the database, and receives their notices. */
export interface InterProcessNotices {
  /** Returns true if every notice that was committed more than 700 ms ago has arrived in this process. */
  readonly isCurrent: () => boolean;
  /** Returns true if a test notice has arrived within the last 30 seconds. */
  readonly isReceiving: () => boolean;
  /** Returns true if every notice that was committed before this call has arrived. */
  readonly confirm: InterProcessNoticeListener["confirm"];
  readonly send: (text: string) => void;
  readonly start: () => void;
  readonly stop: () => Promise<void>;
}

interface NoticeSource {
  readonly db: Kysely<Tables>;
  listen(channel: string, handlers: InterProcessNoticeHandlers): InterProcessNoticeListener;
}

/** Creates the notices of a process. Each received notice is emitted as the event `noticeReceived`. */
export function createInterProcessNoticeChannel(
  database: NoticeSource,
  events: InProcessEventEmitter,
  log: Log,
): InterProcessNotices {
  let listening: InterProcessNoticeListener | undefined;
  return {
    isCurrent: () => listening?.isCurrent() === true,
    isReceiving: () => listening?.isReceiving() === true,
    confirm: () => listening?.confirm() ?? false,
    send: createInterProcessNoticeSender(database.db, noticeChannel),
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
