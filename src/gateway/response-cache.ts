/**
 * Keeps answers of REST operations in memory while nothing that they depend on has changed. The database
 * sends a notice in each transaction that changes a catalog, and a notice drops all answers that depend on
 * the change. Before an answer is taken from the cache, the cache confirms that every notice has arrived that
 * was committed before the request. If this cannot be confirmed, for example because the connection is
 * broken, the answer is read from the database. So an answer from the cache is never older than its request.
 */
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { LRUCache } from "lru-cache";
import type { Clock } from "#foundation/clock.ts";
import type { InProcessEvents } from "#foundation/events.ts";
import { type ContentEncoding, contentEncodings } from "#http/content-encoding.ts";
import type { ResponseDependency } from "./contract.ts";

/** The parts of an answer that are the same for all callers, and are sent again from the cache. */
export interface CacheableResponse {
  readonly body: Buffer;
  readonly etag: string;
  /** The language of the answer's texts; undefined if the answer has no language. */
  readonly language: string | undefined;
}

/** Called for each later request that gets the same answer, with the key of the caller's network address. */
export type ResponseReuseCallback = (client: string) => void;

export interface CachedResponse extends CacheableResponse {
  readonly onReuse: readonly ResponseReuseCallback[];
  /** The body in the encodings that clients have asked for; a promise while it is being compressed. */
  readonly encoded: Partial<Record<ContentEncoding, Buffer | Promise<void>>>;
}

/** How long an answer stays right. */
export interface ResponseValidity {
  /**
   * Cache tags: the names of the data in the answer, for example of one product. A change of it removes the
   * answer.
   */
  readonly dependencies: readonly string[];
  /** The time from which the answer is wrong although nothing changes; null if there is no such time. */
  readonly validUntil: Date | null;
}

/** The answer whose validity is read. */
export interface ResponseToValidate {
  /** The value of `data` in the body. */
  readonly data: unknown;
  /** The merchant of the caller's credential; null for anonymous callers. */
  readonly merchantId: string | null;
  /** The time at which the answer began to be read. */
  readonly beganAt: Date;
}

/** Knows the data that answers depend on. */
export interface ResponseValidityReader {
  /**
   * Returns the names of the data that a notice of the database reports as changed; "all" if everything can
   * have changed, and undefined for a notice about something else.
   */
  readonly parseNotice: (text: string) => readonly string[] | "all" | undefined;
  /** Reads how long an answer stays right. Must be called after the answer was read. */
  readonly read: (kind: ResponseDependency, response: ResponseToValidate) => Promise<ResponseValidity>;
}

interface CacheEntry extends ResponseValidity {
  readonly response: CachedResponse;
  readonly validFrom: Date;
}

/** Collects the notices that arrive while an answer is being read from the database. */
export interface ResponseCacheFill {
  readonly key: string;
  readonly onReuse: ResponseReuseCallback[];
  readonly beganAt: Date;
  /** Keeps the answer, unless data that it depends on may have changed since the fill began. */
  readonly store: (response: CacheableResponse, validity: ResponseValidity) => void;
  /** Ends the fill without an answer. */
  readonly abandon: () => void;
}

export interface ResponseCache {
  /** Returns the answer of a key; undefined if it must be read from the database. */
  readonly find: (key: string) => Promise<CachedResponse | undefined> | CachedResponse | undefined;
  /**
   * Begins to read an answer. Must be called before the read begins, and ended by `store` or `abandon`.
   * Returns undefined if the answer cannot be kept, because this process does not receive notices.
   */
  readonly beginFill: (key: string) => ResponseCacheFill | undefined;
  readonly validity: ResponseValidityReader;
  readonly usage: () => { readonly bytes: number; readonly entries: number };
}

export interface ResponseCacheOptions {
  readonly clock: Clock;
  readonly events: InProcessEvents;
  readonly validity: ResponseValidityReader;
  /** Returns true if this process receives notices. */
  readonly isCurrent: () => boolean;
  /** Returns true if every notice that was committed before the call has arrived. */
  readonly confirm: () => Promise<boolean> | boolean;
  /** The maximum size of all kept answers in bytes, with their compressed forms. */
  readonly bytesMax: number;
}

/**
 * Milliseconds for which an answer is kept although no notice has dropped it, as a bound for changes that
 * send no notice, for example by a person who has switched off the triggers.
 */
const keptMsMax = 60_000;
/** The estimated size in bytes of an entry without its texts. */
const entryBytes = 1_000;
/** Bodies below this number of bytes are not compressed. */
const compressedBytesMin = 1_000;
const keyLengthMax = 2_000;

export function createResponseCache({
  clock,
  events,
  validity,
  isCurrent,
  confirm,
  bytesMax,
}: ResponseCacheOptions): ResponseCache {
  const index = createDependencyIndex();
  const fills = new Set<RunningFill>();
  const entries = new LRUCache<string, CacheEntry>({
    maxSize: bytesMax,
    sizeCalculation: estimateEntryBytes,
    ttl: keptMsMax,
    dispose: ({ dependencies }, key) => index.remove(key, dependencies),
  });
  const drop = (changed: readonly string[] | "all"): void => {
    if (changed === "all") {
      entries.clear();
      for (const fill of fills) fill.isOutdated = true;
      return;
    }
    for (const dependency of changed) {
      for (const key of index.keysOf(dependency)) entries.delete(key);
      for (const fill of fills) fill.changed.add(dependency);
    }
  };
  events.on("noticeReceived", (text) => {
    const changed = validity.parseNotice(text);
    if (changed !== undefined) drop(changed);
  });
  const findValid = (key: string): CachedResponse | undefined => {
    const entry = entries.get(key);
    if (entry === undefined || isValidAt(entry, clock.now())) return entry?.response;
    entries.delete(key);
    return undefined;
  };
  const beginFill = (key: string): ResponseCacheFill | undefined => {
    if (!isCurrent() || key.length > keyLengthMax) return undefined;
    const fill: RunningFill = { changed: new Set(), isOutdated: false };
    const onReuse: ResponseReuseCallback[] = [];
    const beganAt = clock.now();
    fills.add(fill);
    return {
      key,
      onReuse,
      beganAt,
      store: (response, { dependencies, validUntil }) => {
        fills.delete(fill);
        if (fill.isOutdated || dependencies.some((name) => fill.changed.has(name))) return;
        const kept = { ...response, onReuse, encoded: {} };
        entries.set(key, { response: kept, dependencies, validFrom: beganAt, validUntil });
        // An answer that is larger than the whole cache is not kept.
        if (entries.has(key)) index.add(key, dependencies);
      },
      abandon: () => void fills.delete(fill),
    };
  };
  return {
    find: (key) => {
      if (!entries.has(key)) return undefined;
      const isConfirmed = confirm();
      if (isConfirmed instanceof Promise)
        return isConfirmed.then((isTrue) => (isTrue ? findValid(key) : undefined));
      return isConfirmed ? findValid(key) : undefined;
    },
    beginFill,
    validity,
    usage: () => ({ bytes: entries.calculatedSize, entries: entries.size }),
  };
}

/** The changes that were reported while an answer is being read. */
interface RunningFill {
  readonly changed: Set<string>;
  /** True if everything can have changed. */
  isOutdated: boolean;
}

/** The compressed forms of a body are together at most as large as the body itself (`compressBodyForCache`). */
const estimateEntryBytes = ({ response, dependencies }: CacheEntry, key: string): number =>
  entryBytes + 2 * response.body.length + 4 * key.length + 100 * dependencies.length;

/** An entry is not valid before `validFrom`: the system clock was then set back. */
const isValidAt = ({ validFrom, validUntil }: CacheEntry, now: Date): boolean =>
  now >= validFrom && (validUntil === null || now < validUntil);

interface DependencyIndex {
  readonly add: (key: string, dependencies: readonly string[]) => void;
  readonly remove: (key: string, dependencies: readonly string[]) => void;
  readonly keysOf: (dependency: string) => Iterable<string>;
}

/** Creates the index of the keys of all answers that depend on the same data. */
function createDependencyIndex(): DependencyIndex {
  const keysByDependency = new Map<string, Set<string>>();
  return {
    add: (key, dependencies) => {
      for (const name of dependencies) {
        const keys = keysByDependency.get(name);
        if (keys === undefined) keysByDependency.set(name, new Set([key]));
        else keys.add(key);
      }
    },
    remove: (key, dependencies) => {
      for (const name of dependencies) {
        const keys = keysByDependency.get(name);
        keys?.delete(key);
        if (keys?.size === 0) keysByDependency.delete(name);
      }
    },
    keysOf: (dependency) => keysByDependency.get(dependency) ?? [],
  };
}

/**
 * Returns the body of a cached answer in an encoding; undefined if the body is not compressed yet, or would
 * not become much smaller. The first call begins to compress the body.
 */
export function getEncodedBody(
  { body, encoded }: CachedResponse,
  encoding: ContentEncoding,
): Buffer | undefined {
  const existing = encoded[encoding];
  if (existing instanceof Promise || body.length < compressedBytesMin) return undefined;
  if (existing !== undefined) return existing.length === 0 ? undefined : existing;
  encoded[encoding] = compressBodyForCache(body, encoding).then(
    (compressed) => void (encoded[encoding] = compressed),
    () => void (encoded[encoding] = notCompressed),
  );
  return undefined;
}

/** The value in `encoded` for a body whose compressed form is not stored, because it saves too little space. */
const notCompressed = Buffer.alloc(0);

const compressors = {
  br: (body: Buffer): Promise<Buffer> =>
    promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (body: Buffer): Promise<Buffer> => promisify(gzip)(body),
} as const satisfies Record<ContentEncoding, unknown>;

/** Compresses a body; returns `notCompressed` if all compressed forms together could be larger than the body. */
async function compressBodyForCache(body: Buffer, encoding: ContentEncoding): Promise<Buffer> {
  const compressed = await compressors[encoding](body);
  return compressed.length * contentEncodings.length <= body.length ? compressed : notCompressed;
}
