/**
 * A memory whose total size in bytes is limited. It consists of sections, one for each kind of value, so that
 * all sections together stay within one limit. If the memory is full, the values that were not used for the
 * longest time are removed, in all sections.
 */
import { LRUCache } from "lru-cache";

export interface MemorySection<Value> {
  readonly has: (key: string) => boolean;
  readonly get: (key: string) => Value | undefined;
  /** Stores a value, unless it is larger than the whole memory. */
  readonly set: (key: string, value: Value) => void;
  readonly delete: (key: string) => void;
  /** Removes all values of this section. */
  readonly clear: () => void;
}

export interface MemorySectionOptions<Value> {
  /** Returns the estimated size of a value and its key in bytes. */
  readonly estimateBytes: (value: Value, key: string) => number;
  /** Maximum time in milliseconds for which a value stays in the section; left out if there is no maximum. */
  readonly keptMsMax?: number;
  /** Called with each value that is removed or replaced. */
  readonly onRemove?: (value: Value, key: string) => void;
}

export interface LimitedMemory {
  readonly createSection: <Value>(options: MemorySectionOptions<Value>) => MemorySection<Value>;
  readonly usage: () => { readonly bytes: number; readonly entries: number };
}

/** The size and the time limits of all values, by key. The values themselves are in the sections. */
type SizeIndex = LRUCache<string, () => void>;

/** Creates a memory. `bytesMax` is the maximum of the estimated sizes of all values together. */
export function createLimitedMemory(bytesMax: number): LimitedMemory {
  const index: SizeIndex = new LRUCache({
    maxSize: bytesMax,
    dispose: (remove) => remove(),
  });
  let sections = 0;
  return {
    createSection: (options) => createSection(index, `${(sections += 1)} `, options),
    usage: () => ({ bytes: index.calculatedSize, entries: index.size }),
  };
}

function createSection<Value>(
  index: SizeIndex,
  prefix: string,
  { estimateBytes, keptMsMax, onRemove }: MemorySectionOptions<Value>,
): MemorySection<Value> {
  const values = new Map<string, Value>();
  const ttl = keptMsMax === undefined ? {} : { ttl: keptMsMax };
  const remove = (key: string, value: Value): void => {
    values.delete(key);
    onRemove?.(value, key);
  };
  return {
    has: (key) => index.has(prefix + key),
    get: (key) => (index.get(prefix + key) === undefined ? undefined : values.get(key)),
    set: (key, value) => {
      index.set(prefix + key, () => remove(key, value), { size: estimateBytes(value, key), ...ttl });
      if (index.has(prefix + key)) values.set(key, value);
    },
    delete: (key) => void index.delete(prefix + key),
    clear: () => {
      for (const key of values.keys()) index.delete(prefix + key);
    },
  };
}
