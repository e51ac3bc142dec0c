/**
 * Replaces the clocks, timers and random sources of this process by those of the simulation. Modules import
 * some of them by name, so that the exports of Node's modules are replaced too. A process that has called
 * these functions serves for nothing else.
 */
import { createRequire, syncBuiltinESMExports } from "node:module";
import type { SeededRandom } from "./seeded-random.ts";
import type { VirtualWorld } from "./virtual-world.ts";

const require = createRequire(import.meta.url);
type MutableModule = Record<string, unknown>;
const cryptoModule = require("node:crypto") as MutableModule;
const timersModule = require("node:timers") as MutableModule;
const timerPromises = require("node:timers/promises") as MutableModule;

/** The sources that the replaced functions use at the moment. */
export interface SimulationSources {
  nowMs: () => number;
  random: SeededRandom;
}

/** Replaces the clocks and the random sources. Timers stay real, so that the first database can be filled. */
export function replaceClocksAndRandom(sources: SimulationSources): void {
  const RealDate = Date;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args: [], newTarget) =>
      Reflect.construct(target, args.length === 0 ? [sources.nowMs()] : args, newTarget),
    apply: () => new RealDate(sources.nowMs()).toString(),
    get: (target, name, receiver) =>
      name === "now" ? () => Math.floor(sources.nowMs()) : Reflect.get(target, name, receiver),
  });
  performance.now = () => sources.nowMs() - startMs;
  Math.random = () => sources.random.next();
  const fill = <Bytes extends ArrayBufferView>(bytes: Bytes): Bytes => {
    sources.random.fillBytes(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    return bytes;
  };
  const randomUuid = (): string => toUuid(fill(new Uint8Array(16)));
  Object.assign(cryptoModule, {
    randomBytes: (size: number, callback?: (error: null, bytes: Buffer) => void) => {
      const bytes = fill(Buffer.alloc(size));
      if (callback !== undefined) process.nextTick(callback, null, bytes);
      return bytes;
    },
    randomFillSync: (bytes: Uint8Array, offset = 0) => {
      fill(bytes.subarray(offset));
      return bytes;
    },
    randomInt: (first: number, second?: number) =>
      second === undefined ? sources.random.below(first) : first + sources.random.below(second - first),
    randomUUID: randomUuid,
  });
  Object.assign(globalThis.crypto, { randomUUID: randomUuid, getRandomValues: fill });
  syncBuiltinESMExports();
}

/** The virtual time at which `performance.now()` is 0. */
const startMs = 1_700_000_000_000;

function toUuid(bytes: Uint8Array): string {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const text = Buffer.from(bytes).toString("hex");
  return [
    [0, 8],
    [8, 12],
    [12, 16],
    [16, 20],
    [20, 32],
  ]
    .map(([from, to]) => text.slice(from, to))
    .join("-");
}

class VirtualTimer {
  #cancel: () => void = () => undefined;
  readonly #start: () => () => void;
  constructor(start: () => () => void) {
    this.#start = start;
    this.refresh();
  }
  refresh(): this {
    this.#cancel();
    this.#cancel = this.#start();
    return this;
  }
  close(): void {
    this.#cancel();
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  hasRef(): boolean {
    return true;
  }
  [Symbol.dispose](): void {
    this.close();
  }
}

function clearVirtualTimer(timer: unknown): void {
  if (timer instanceof VirtualTimer) timer.close();
}

/** Replaces all timers. `world` returns the world whose events the timers become. */
export function replaceTimers(world: () => VirtualWorld): void {
  type Callback = (...args: unknown[]) => void;
  const setTimeout = (callback: Callback, ms = 0, ...args: unknown[]): VirtualTimer =>
    new VirtualTimer(() => world().plan(toDelayMs(ms), "timer", () => callback(...args)));
  const setImmediate = (callback: Callback, ...args: unknown[]): VirtualTimer =>
    new VirtualTimer(() => world().plan(0, "immediate", () => callback(...args)));
  const setInterval = (callback: Callback, ms = 0, ...args: unknown[]): VirtualTimer => {
    const timer: VirtualTimer = new VirtualTimer(() =>
      world().plan(toDelayMs(ms), "interval", () => {
        timer.refresh();
        callback(...args);
      }),
    );
    return timer;
  };
  const timers = {
    setTimeout,
    setInterval,
    setImmediate,
    clearTimeout: clearVirtualTimer,
    clearInterval: clearVirtualTimer,
    clearImmediate: clearVirtualTimer,
  };
  Object.assign(globalThis, timers);
  Object.assign(timersModule, timers);
  Object.assign(timerPromises, {
    setTimeout: (ms = 0, value?: unknown, options: WaitOptions = {}) =>
      waitFor(world(), toDelayMs(ms), { value, ...options }),
    setImmediate: (value?: unknown, options: WaitOptions = {}) => waitFor(world(), 0, { value, ...options }),
  });
  AbortSignal.timeout = (ms) => {
    const controller = new AbortController();
    world().plan(ms, "abort", () => controller.abort(new DOMException("The time is over.", "TimeoutError")));
    return controller.signal;
  };
  syncBuiltinESMExports();
}

interface WaitOptions {
  readonly signal?: AbortSignal;
}

function waitFor(
  world: VirtualWorld,
  ms: number,
  { value, signal }: WaitOptions & { readonly value: unknown },
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason);
    const cancel = world.plan(ms, "wait", () => resolve(value));
    signal?.addEventListener("abort", () => {
      cancel();
      reject(signal.reason);
    });
  });
}

/** Node waits at least 1 ms. */
const toDelayMs = (ms: number): number => (ms >= 1 && ms < Infinity ? ms : 1);
