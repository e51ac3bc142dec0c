/**
 * The embedded database: PGlite runs PostgreSQL inside this process. PGlite has a single connection. Kysely's
 * driver would give it to all callers at the same time, so that a query of one request would run inside the
 * open transaction of another. The dialect of this file therefore gives the connection to one caller at a
 * time.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { PGlite, type PGliteOptions as StartOptions, types } from "@electric-sql/pglite";
import { pg_trgm } from "@electric-sql/pglite/contrib/pg_trgm";
import {
  type DatabaseConnection,
  type DialectAdapter,
  type Driver,
  type Kysely,
  PGliteDialect,
  PostgresAdapter,
} from "kysely";
import { DataFolderUnusableError } from "./folder-lock.ts";
import type { InterProcessNoticeListener } from "./notices.ts";
import type { Tables } from "./tables.ts";

export type PGliteFilesystem = NonNullable<StartOptions["fs"]>;

export interface PGliteOptions {
  /** The folder in which the embedded database stores its data; undefined to keep the data in memory. */
  readonly dataDir?: string | undefined;
  /** The content of a database dump. If given, a new database starts with this content. */
  readonly image?: Blob | undefined;
  /** The file system in which the database stores its data, instead of a folder. */
  readonly filesystem?: PGliteFilesystem | undefined;
  /**
   * Called with an explanation for the operator when PostgreSQL has ended because of an error, for example
   * because its write-ahead log could not be written. Must end the process: PostgreSQL relies on it and still
   * holds its locks, but PGlite would continue, and the next statement would wait for the locks without an
   * end. By default, the explanation is written to standard error, and the process ends with exit code 1.
   */
  readonly onCrash?: ((explanation: string) => never) | undefined;
}

/**
 * The size of PostgreSQL's cache of table pages. PGlite's default of 128 MB is memory of this process, which
 * the embedded database fills soon. Pages that are not in this cache are read from the file cache of the
 * operating system.
 */
const sharedBuffers = "32MB";

/** Opens the embedded database. Throws DataFolderUnusableError if it cannot start in its folder. */
export async function openPGlite({
  dataDir,
  image,
  filesystem,
  onCrash = endProcessAfterCrash,
}: PGliteOptions = {}): Promise<PGlite> {
  let startError: string | undefined;
  let hasStarted = false;
  try {
    const pglite = await PGlite.create({
      ...(dataDir === undefined ? {} : { dataDir }),
      ...(image === undefined ? {} : { loadDataDir: image }),
      ...(filesystem === undefined ? {} : { fs: filesystem }),
      startParams: [...PGlite.defaultStartParams, "-c", `shared_buffers=${sharedBuffers}`],
      extensions: { pg_trgm },
      parsers: { [types.INT8]: Number },
      onStderr: (line) => {
        const message = findFatalMessage(line);
        if (message !== undefined && hasStarted) onCrash(describeCrash(message));
        startError ??= message;
        return false;
      },
    });
    hasStarted = true;
    return pglite;
  } catch (error) {
    if (dataDir === undefined) throw error;
    throw new DataFolderUnusableError(
      `The embedded database in ${dataDir} (DATA_DIR) cannot start: ${startError ?? describeStartError(error)}`,
      { cause: error },
    );
  }
}

/** Describes an error of PGlite's file system, which has no message, or another error. */
const describeStartError = (error: unknown): string =>
  error instanceof Error
    ? error.message
    : "its files cannot be created. Check the free disk space and the access rights of the folder.";

/** Matches a line of PostgreSQL's log about an error with which PostgreSQL ends: `TIME [PID] PANIC: TEXT`. */
const fatalLine = /^\S+ \S+ \S+ \[\d+\] (?:PANIC|FATAL): +(.+)/;
/** The start of the line that WebAssembly code writes when it aborts. A PANIC writes it after its message. */
const abortLine = "Aborted(";

const findFatalMessage = (line: string): string | undefined =>
  fatalLine.exec(line)?.[1] ?? (line.startsWith(abortLine) ? line : undefined);

function endProcessAfterCrash(explanation: string): never {
  process.stderr.write(`${explanation}\n`);
  process.exit(1);
}

const describeCrash = (message: string): string =>
  `The embedded database has crashed, so the process ends: ${message}. No committed change is lost: the next ` +
  "start recovers the database. If the disk is full, free disk space first.";

export class SingleConnectionPGliteDialect extends PGliteDialect {
  /**
   * Replaces the adapter of `PGliteDialect`. With the adapter of `PGliteDialect`, Kysely would wait for the
   * single connection before the check in `transaction-dialect.ts` could refuse a forbidden statement.
   */
  override createAdapter(): DialectAdapter {
    return new PostgresAdapter();
  }

  override createDriver(): Driver {
    const driver = super.createDriver();
    const acquire = driver.acquireConnection.bind(driver);
    const waiting: (() => void)[] = [];
    let isInUse = false;
    driver.acquireConnection = async (options): Promise<DatabaseConnection> => {
      if (isInUse) await new Promise<void>((go) => waiting.push(go));
      isInUse = true;
      // PGlite runs SQL statements in the same thread as the service, and resolves its promises without a
      // turn of the event loop. Waiting for the next turn before each use of the connection gives sockets and
      // timers time to run.
      await nextTurn();
      return acquire(options);
    };
    driver.releaseConnection = (): Promise<void> => {
      const next = waiting.shift();
      if (next === undefined) isInUse = false;
      else next();
      return Promise.resolve();
    };
    return driver;
  }
}

interface PGliteListenParts {
  readonly pglite: PGlite;
  readonly db: Kysely<Tables>;
  readonly channel: string;
}

/**
 * Listens for notices of the embedded database. PGlite delivers the notices of a transaction before its
 * commit returns, so each notice has arrived before the caller learns that the change was made. `isCurrent`
 * is always true: the only process also learns from its own code which credentials it has changed.
 */
export function listenForPGliteNotices(
  { pglite, db, channel }: PGliteListenParts,
  onNotice: (payload: string) => void,
): InterProcessNoticeListener {
  let isListening = false;
  // LISTEN needs the connection for itself: inside a transaction, a rollback would undo it.
  const listening = db
    .connection()
    .execute(() => pglite.listen(channel, onNotice))
    .then((unlisten) => {
      isListening = true;
      onNotice("");
      return unlisten;
    });
  // LISTEN fails if the database is closed before LISTEN has run. This error is ignored, because a closed
  // database has no notices.
  listening.catch(() => undefined);
  return {
    isCurrent: () => true,
    isReceiving: () => true,
    confirm: () => isListening,
    stop: async () => {
      isListening = false;
      await listening.then((unlisten) => db.connection().execute(() => unlisten())).catch(() => undefined);
    },
  };
}
