/**
 * The response cache: keeps answers of REST operations in memory until data in them changes. The database
 * sends a notice (NOTIFY) in each transaction that changes a catalog. A notice removes all answers that
 * depend on the changed data. Before an answer is taken from the cache, the cache confirms that all notices
 * that were committed before the request have arrived. If this cannot be confirmed, for example because the
 * database connection is broken, the answer is read from the database. So a cached answer is never older than
 * the request.
 */
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Clock } from "#foundation/clock.ts";
import type { InProcessEventEmitter } from "#foundation/events.ts";
import type { LimitedMemory } from "#foundation/limited-memory.ts";
import { type ContentEncoding, contentEncodings } from "#http/content-encoding.ts";
import type { ResponseCatalogDependency } from "./contract.ts";

/**
 * The part of an answer that the response cache stores: body, ETag and language. It is the same for all
 * callers.
 */
export interface CacheableResponse {
  readonly body: Buffer;
  readonly etag: string;
  /** The language of the answer's texts; undefined if the answer has no language. */
  readonly language: string | undefined;
}

/**
 * A function that is called each time a later request is answered from the response cache. `client` is the
 * key by which the caller's IP address is counted.
 */
export type CachedResponseReuseCallback = (client: string) => void;

export interface CachedResponse extends CacheableResponse {
  readonly onReuse: readonly CachedResponseReuseCallback[];
  /**
   * The compressed forms of the body that clients have asked for, by encoding. The value is a promise while
   * the body is being compressed.
   */
  readonly encoded: Partial<Record<ContentEncoding, Buffer | Promise<void>>>;
}

/** The conditions that remove an answer from the cache: a change of its data, or a point in time. */
export interface ResponseInvalidationConditions {
  /**
   * The cache tags of the answer. A cache tag names data in the answer, for example one product. A change of
   * this data removes the answer from the cache.
   */
  readonly dependencies: readonly string[];
  /**
   * The time at which the answer becomes out of date without a change of data, for example because a price
   * ends. Null if the answer has no such time.
   */
  readonly validUntil: Date | null;
}

/** The answer for which `ResponseInvalidationConditionsReader` finds out how long it may be cached. */
export interface ResponseToCache {
  /** The value of the member `data` in the body of the answer. */
  readonly data: unknown;
  /** The merchant of the caller's credential; null for anonymous callers. */
  readonly merchantId: string | null;
  /** The time at which the service began to read the answer from the database. */
  readonly beganAt: Date;
}

/** Finds the cache tags of answers, and the cache tags that a notice of the database reports as changed. */
export interface ResponseInvalidationConditionsReader {
  /**
   * Returns the cache tags that a notice of the database reports as changed. Returns "all" if all data may
   * have changed, and undefined if the notice is about something else.
   */
  readonly parseNotice: (text: string) => readonly string[] | "all" | undefined;
  /**
   * Reads the cache tags and the end of validity of an answer from the database. Must be called after the
   * answer was read, so that changes in between are noticed.
   */
  readonly read: (
    kind: ResponseCatalogDependency,
    response: ResponseToCache,
  ) => Promise<ResponseInvalidationConditions>;
}

interface CacheEntry extends ResponseInvalidationConditions {
  readonly response: CachedResponse;
  readonly validFrom: Date;
}

/**
 * A cache fill: one answer that is being read from the database for the response cache. Until `store` or
 * `abandon` is called, the cache records the changes that notices report.
 */
export interface PendingResponseCacheEntry {
  readonly key: string;
  readonly onReuse: CachedResponseReuseCallback[];
  readonly beganAt: Date;
  /** Caches the answer, unless data in the answer may have changed since the cache fill began. */
  readonly store: (response: CacheableResponse, validity: ResponseInvalidationConditions) => void;
  /** Ends the cache fill without storing an answer. */
  readonly abandon: () => void;
}

export interface ResponseCache {
  /** Returns the cached answer for a cache key; undefined if the answer must be read from the database. */
  readonly find: (key: string) => Promise<CachedResponse | undefined> | CachedResponse | undefined;
  /**
   * Begins a cache fill. Must be called before the answer is read from the database. The caller ends the
   * cache fill with `store` or `abandon`. Returns undefined if the answer cannot be cached, because this
   * process receives no notices or the cache key is too long.
   */
  readonly beginFill: (key: string) => PendingResponseCacheEntry | undefined;
  readonly validity: ResponseInvalidationConditionsReader;
}

export interface ResponseCacheOptions {
  readonly clock: Clock;
  readonly events: InProcessEventEmitter;
  readonly validity: ResponseInvalidationConditionsReader;
  /** Returns true if notices of changed rows (NOTIFY) reach this process. */
  readonly isCurrent: () => boolean;
  /** Returns true if all notices (NOTIFY) that were committed before this call have reached this process. */
  readonly confirm: () => Promise<boolean> | boolean;
  /** The memory that keeps the answers, with their compressed bodies. */
  readonly memory: LimitedMemory;
}

/**
 * Maximum time in milliseconds for which an answer stays in the cache. It limits the age of answers after
 * changes that send no notice, for example while an operator has disabled the database triggers.
 */
const keptMsMax = 60_000;
/** Estimated memory in bytes of one cache entry, without its body, cache key and cache tags. */
const entryBytes = 1_000;
/** Minimum size in bytes of a body that is compressed; smaller bodies are sent uncompressed. */
const compressedBytesMin = 1_000;
const keyLengthMax = 2_000;

export function createResponseCache({
  clock,
  events,
  validity,
  isCurrent,
  confirm,
  memory,
}: ResponseCacheOptions): ResponseCache {
  const index = createDependencyIndex();
  const fills = new Set<RunningFill>();
  const entries = memory.createSection<CacheEntry>({
    estimateBytes: estimateEntryBytes,
    keptMsMax,
    onRemove: ({ dependencies }, key) => index.remove(key, dependencies),
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
  const beginFill = (key: string): PendingResponseCacheEntry | undefined => {
    if (!isCurrent() || key.length > keyLengthMax) return undefined;
    const fill: RunningFill = { changed: new Set(), isOutdated: false };
    const onReuse: CachedResponseReuseCallback[] = [];
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
        // The memory has not stored an answer that is larger than the whole memory. Such an answer must not be
        // added to the index.
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
  };
}

/** The cache tags that notices have reported as changed during one cache fill. */
interface RunningFill {
  readonly changed: Set<string>;
  /** True if a notice has reported that all data may have changed. */
  isOutdated: boolean;
}

/**
 * Estimates the memory of a cache entry. The body counts twice, because its compressed forms together are at
 * most as large as the body itself (`compressBodyForCache`).
 */
const estimateEntryBytes = ({ response, dependencies }: CacheEntry, key: string): number =>
  entryBytes + 2 * response.body.length + 4 * key.length + 100 * dependencies.length;

/**
 * Returns whether a cache entry is valid at the given time. A time before `validFrom` means that the system
 * clock was set back, so the entry is not used.
 */
const isValidAt = ({ validFrom, validUntil }: CacheEntry, now: Date): boolean =>
  now >= validFrom && (validUntil === null || now < validUntil);

interface DependencyIndex {
  readonly add: (key: string, dependencies: readonly string[]) => void;
  readonly remove: (key: string, dependencies: readonly string[]) => void;
  readonly keysOf: (dependency: string) => Iterable<string>;
}

/** Creates the index that finds the cache keys of all answers with a given cache tag. */
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
 * Returns the compressed body of a cached answer. Returns undefined if the body is not compressed yet, is
 * small, or would not become much smaller. The first call for an encoding starts the compression.
 */
export function getCompressedCachedResponseBody(
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

/** The value in `encoded` if compression saves too little space. The body is then sent uncompressed. */
const notCompressed = Buffer.alloc(0);

const compressors = {
  br: (body: Buffer): Promise<Buffer> =>
    promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (body: Buffer): Promise<Buffer> => promisify(gzip)(body),
} as const satisfies Record<ContentEncoding, unknown>;

/**
 * Compresses the body of a cached answer. Returns `notCompressed` if all compressed forms together could be
 * larger than the body.
 */
async function compressBodyForCache(body: Buffer, encoding: ContentEncoding): Promise<Buffer> {
  const compressed = await compressors[encoding](body);
  return compressed.length * contentEncodings.length <= body.length ? compressed : notCompressed;
}
