/**
 * Reads the events of an installation from the service, without a public address: each request waits until
 * there are events. If the connection breaks, the next request continues with the same cursor, so no event is
 * lost. The service stores nothing about a listener, so a listener that ends removes nothing.
 */
import { setTimeout as wait } from "node:timers/promises";
import { printError } from "./command-context.ts";
import { request, RequestFailed, type Target } from "./service.ts";

/** A webhook request as an endpoint of the installation would receive it. */
export interface SignedRequest {
  readonly event: { readonly id: string; readonly type: string; readonly occurredAt: string };
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface ListenPage {
  readonly installation: { readonly id: string; readonly mode: string; readonly appName: string };
  readonly secret: string;
  readonly requests: readonly SignedRequest[];
  readonly cursor: unknown;
}

export interface ListenOptions {
  readonly eventTypes: readonly string[];
  /** The time of the first event; undefined for events from now on. */
  readonly since?: Date | undefined;
  readonly installationId?: string | undefined;
  /** True to end after the events that exist now, instead of waiting for further events. */
  readonly isOnce?: boolean;
  readonly signal: AbortSignal;
}

const retryMsMin = 500;
const retryMsMax = 5_000;

/** Yields pages of events until the signal is aborted. The first page is yielded at once, even if it is empty. */
export async function* listenToEvents(target: Target, options: ListenOptions): AsyncGenerator<ListenPage> {
  const { signal, isOnce = false } = options;
  let cursor: unknown = null;
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    const page = await readPage(target, { ...options, cursor, waitSeconds: isFirst || isOnce ? 0 : 20 });
    if (page === undefined) return;
    cursor = page.cursor;
    yield page;
    if (isOnce && page.requests.length === 0) return;
  }
}

interface PageOptions extends ListenOptions {
  readonly cursor: unknown;
  readonly waitSeconds: number;
}

/**
 * Reads one page of events, and repeats the request while the service is not reachable. Returns undefined if
 * the signal is aborted. The first request of a command is not repeated, so that a wrong URL is reported at
 * once.
 */
async function readPage(target: Target, options: PageOptions): Promise<ListenPage | undefined> {
  const { signal, cursor } = options;
  const body = toBody(options);
  for (let failures = 0; ; failures += 1) {
    try {
      const answer = (await request(target, "/listen", { method: "POST", body, signal })) as {
        data: ListenPage;
      };
      if (failures > 0) printError("Connected again. No event was lost.");
      return answer.data;
    } catch (error) {
      if (signal.aborted) return undefined;
      if (!(error instanceof RequestFailed) || !error.isTemporary || cursor === null) throw error;
      if (failures === 0) printError(`Connection lost, reconnecting: ${error.message}`);
      const pauseMs = Math.min(retryMsMax, retryMsMin * 2 ** failures);
      await pause(Math.max(pauseMs, (error.retryAfterSeconds ?? 0) * 1000), signal);
    }
  }
}

const toBody = ({ eventTypes, cursor, since, installationId, waitSeconds }: PageOptions): unknown => ({
  eventTypes,
  cursor,
  since: since?.toISOString() ?? null,
  installationId: installationId ?? null,
  waitSeconds,
});

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  wait(ms, undefined, { signal }).catch(() => undefined);
