/** What a dispatcher works with. */
import type { Database } from "#database/connect.ts";
import type { Clock } from "#foundation/clock.ts";
import type { Keyring } from "#foundation/encryption.ts";
import type { Log } from "#foundation/log.ts";
import type { RenderSubject } from "#webhooks/outbox.ts";
import type { AttemptErrorCode } from "#webhooks/delivery-fault.ts";
import type { SafeSender } from "#webhooks/safe-request.ts";

/** Told what came of each attempt. */
export type AttemptObserver = (attempt: {
  /** A status, why there was none, or that it failed or was interrupted on our side. */
  readonly outcome: number | AttemptErrorCode | "fault" | "interrupted";
  readonly durationMs: number | null;
  /** Of the first attempt: for how long its event had waited. */
  readonly waitedMs: number | null;
}) => void;

export interface DispatchParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly keyring: Keyring;
  readonly sender: SafeSender;
  readonly render: RenderSubject;
  readonly log: Log;
  /** WEBHOOK_RETRY_SCALE. */
  readonly scale: number;
  readonly random?: () => number;
  /** Deliveries have been made, taken or recorded here. */
  readonly onMoved?: () => void;
  readonly onAttempt?: AttemptObserver;
  /** So many attempts at once. */
  readonly sendingMax?: number;
  /** How long `stop` waits for what is being sent. */
  readonly stopMsMax?: number;
}
