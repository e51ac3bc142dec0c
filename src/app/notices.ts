/**
 * Word between the processes that share a PostgreSQL database. A notice that arrives is emitted as `noticeReceived`, and wakes the work it names; a gateway
 * sends notices so that workers begin at once.
 */
import type { OpenDatabase } from "#database/connect.ts";
import { createTeller, type Listening, noticeChannel } from "#database/notices.ts";
import type { ServiceEvents } from "#foundation/events.ts";
import type { Log } from "#foundation/log.ts";

export interface Notices {
  /** Whether every notice up to a moment ago has arrived here. */
  readonly isCurrent: () => boolean;
  readonly send: (text: string) => void;
  readonly start: () => void;
  readonly stop: () => Promise<void>;
}

export function createNotices(database: OpenDatabase, events: ServiceEvents, log: Log): Notices {
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
