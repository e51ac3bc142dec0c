/**
 * The scheduler of the simulation. Everything for which simulated code waits (a timer, an answer of the
 * database, a request) is an event with a virtual time. One event runs at a time, and the next event runs
 * only when all code that the last one has resumed waits again. The seed decides the order of events at the
 * same time.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { hash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers";
import { createSeededRandom, type SeededRandom } from "./seeded-random.ts";

/** A process of the simulated service, or of a client. The events of a dead process never run. */
export interface SimulatedProcess {
  readonly name: string;
  isDead: boolean;
}

interface WaitingEvent {
  readonly atMs: number;
  readonly order: number;
  readonly what: string;
  readonly process: SimulatedProcess | undefined;
  readonly run: () => void | Promise<void>;
}

/** The function of Node, before the simulation replaces it. */
const realSetImmediate = nextTurn;
const currentProcess = new AsyncLocalStorage<SimulatedProcess | undefined>();

export class VirtualWorld {
  readonly startedAtMs: number;
  readonly random: SeededRandom;
  /** The random numbers of the service: ids, tokens, keys and waits. */
  readonly serviceRandom: SeededRandom;
  /** The random numbers of the simulated clients. */
  readonly clientRandom: SeededRandom;
  readonly trace: string[] = [];
  nowMs: number;
  eventCount = 0;
  /** Replaces `random` while a process starts, because the number of its events is not part of the seed. */
  startRandom: SeededRandom | undefined;
  readonly #waiting = new Set<WaitingEvent>();

  constructor(seed: number, startedAtMs: number) {
    this.startedAtMs = startedAtMs;
    this.nowMs = startedAtMs;
    this.random = createSeededRandom(seed, 1);
    this.serviceRandom = createSeededRandom(seed, 2);
    this.clientRandom = createSeededRandom(seed, 3);
  }

  /** Adds a line to the trace, by which two runs of a seed are compared. */
  note(text: string): void {
    const process = currentProcess.getStore();
    this.trace.push(`${(this.nowMs - this.startedAtMs).toFixed(3)} ${process?.name ?? "-"} ${text}`);
  }

  /** Runs a function as a part of a process: its timers and waits end with the process. */
  runIn<Result>(process: SimulatedProcess, work: () => Result): Result {
    return currentProcess.run(process, work);
  }

  get process(): SimulatedProcess | undefined {
    return currentProcess.getStore();
  }

  /** Plans an event of the current process. Returns the function that cancels it. */
  plan(inMs: number, what: string, run: () => void | Promise<void>): () => void {
    const inContext = AsyncLocalStorage.snapshot();
    const event: WaitingEvent = {
      atMs: this.nowMs + Math.max(0, inMs),
      order: (this.startRandom ?? this.random).next(),
      what,
      process: currentProcess.getStore(),
      run: () => inContext(run),
    };
    this.#waiting.add(event);
    return () => void this.#waiting.delete(event);
  }

  /** Waits for a random time up to `msMax`. */
  wait(msMax: number, what: string): Promise<void> {
    return new Promise((resolve) => this.plan(this.random.next() * msMax, what, resolve));
  }

  /**
   * Runs events until the promise is settled. Throws if nothing waits any more, or if `eventsMax` events have
   * not been enough. `isIncluded` selects the events that may run; all by default.
   */
  async runUntil<Result>(
    promise: Promise<Result>,
    eventsMax: number,
    isIncluded: (process: SimulatedProcess | undefined) => boolean = () => true,
  ): Promise<Result> {
    const state = { isSettled: false };
    const settle = (): void => void (state.isSettled = true);
    promise.then(settle, settle);
    for (let idleTurns = 0, events = 0; ;) {
      await this.#drain();
      if (state.isSettled) return promise;
      const event = this.#takeNext(isIncluded);
      if (event === undefined) {
        idleTurns += 1;
        if (idleTurns > idleTurnsMax) throw new Error("The simulation stands still: nothing is waiting.");
        continue;
      }
      idleTurns = 0;
      events += 1;
      if (events > eventsMax) throw new Error(`The simulation has not ended after ${eventsMax} events.`);
      await this.#run(event);
    }
  }

  /** Lets all code that can continue run until it waits for an event, also code that waits for a file. */
  async #drain(): Promise<void> {
    do await new Promise((resolve) => void realSetImmediate(resolve));
    while (process.getActiveResourcesInfo().some((resource) => resource.startsWith("FSReq")));
  }

  #takeNext(isIncluded: (process: SimulatedProcess | undefined) => boolean): WaitingEvent | undefined {
    let next: WaitingEvent | undefined;
    for (const event of this.#waiting) {
      if (event.process?.isDead === true) this.#waiting.delete(event);
      else if (isIncluded(event.process) && (next === undefined || isEarlier(event, next))) next = event;
    }
    if (next !== undefined) this.#waiting.delete(next);
    return next;
  }

  async #run(event: WaitingEvent): Promise<void> {
    this.nowMs = Math.max(this.nowMs, event.atMs);
    this.eventCount += 1;
    if (this.startRandom === undefined) currentProcess.run(event.process, () => this.note(event.what));
    await event.run();
  }

  /** Returns the SHA-256 of the trace. */
  hashTrace(): string {
    return hash("sha256", this.trace.join("\n"));
  }
}

const isEarlier = (event: WaitingEvent, other: WaitingEvent): boolean =>
  event.atMs < other.atMs || (event.atMs === other.atMs && event.order < other.order);

/** Turns of Node's event loop that a real wait, for example for a file, may take. */
const idleTurnsMax = 200_000;
