/**
 * Sends the requests of concurrent clients and records them as a history. A client sometimes stops waiting
 * for an answer, and sometimes cuts its connection; the outcome of the operation is then unknown.
 */
import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { createHttpSender } from "../service.ts";
import { type HttpRequest, parseAnswer, type ParsedAnswer, requireData, type SendRequest } from "../shop.ts";
import type { HistoryOperation, HistoryStep } from "./history.ts";

export interface RecordedRequest {
  /** What the operation does, for explanations. */
  readonly name: string;
  readonly request: HttpRequest;
  /** The writes of the operation as far as the client knows them without an answer. */
  readonly intended: readonly HistoryStep[];
  /** Returns what the operation wrote and read, from the data of its answer. */
  readonly toSteps: (data: Readonly<Record<string, unknown>>) => readonly HistoryStep[];
}

export interface HistoryClient {
  readonly number: number;
  readonly send: SendRequest;
  /** Cuts the connections of the client; does nothing if the client has none of its own. */
  readonly cut: () => void;
}

/** Creates clients with connections of their own. Client n is connected to one port after the other. */
export function createHistoryClients(ports: readonly number[], count: number): HistoryClient[] {
  return Array.from({ length: count }, (_, number) => {
    const agents = ports.map(() => new Agent({ keepAlive: true }));
    const senders = ports.map((port, index) => createHttpSender(port, "127.0.0.1", agents[index]));
    let turn = number;
    return {
      number,
      send: (request) => {
        turn += 1;
        const sender = senders[turn % senders.length];
        if (sender === undefined) throw new Error("The client has no port.");
        return sender(request);
      },
      cut: () => {
        for (const agent of agents) agent.destroy();
      },
    };
  });
}

/** Error codes that are correct answers to concurrent clients. */
const refusals = new Set([
  "cart_version_conflict",
  "version_conflict",
  "invalid_state",
  "invalid_field",
  "promotion_not_present",
  "promotion_not_applicable",
  "promotion_already_applied",
  "cart_empty",
  "cart_merged",
  "insufficient_stock",
]);

export interface RecorderOptions {
  /** The part of the requests, 0 to 1, whose client stops waiting, and of those whose connection is cut. */
  readonly impatience: number;
  readonly cuts: number;
}

/** The time in milliseconds after which an impatient client stops waiting, or a connection is cut. */
const patienceMsMax = 15;

export class HistoryRecorder {
  operations: HistoryOperation[] = [];
  readonly violations: string[] = [];
  readonly refused = new Map<string, number>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #options: RecorderOptions;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /** Sends a request and records the operation. Returns the data of the answer; undefined without success. */
  async perform(
    client: HistoryClient,
    recorded: RecordedRequest,
  ): Promise<Readonly<Record<string, unknown>> | undefined> {
    const { name, intended } = recorded;
    const startedAt = performance.now();
    const answer = await this.#send(client, recorded.request);
    const common = { name, client: client.number, startedAt, endedAt: performance.now() };
    if (answer === undefined || answer.code === "service_unavailable") {
      this.operations.push({ ...common, endedAt: Infinity, outcome: "unknown", steps: intended });
      return undefined;
    }
    if (answer.code !== undefined || answer.status !== 200) {
      this.#countRefusal(name, answer);
      this.operations.push({ ...common, outcome: "failed", steps: intended });
      return undefined;
    }
    const data = requireData(answer);
    this.operations.push({ ...common, outcome: "done", steps: recorded.toSteps(data) });
    return data;
  }

  /** Waits for the answers for which no client waits any more, and returns the recorded operations. */
  async takeOperations(): Promise<readonly HistoryOperation[]> {
    await Promise.all(this.#running);
    const taken = this.operations;
    this.operations = [];
    return taken;
  }

  async #send(client: HistoryClient, request: HttpRequest): Promise<ParsedAnswer | undefined> {
    const chance = Math.random();
    const { impatience, cuts } = this.#options;
    const sent = client.send(request).then(parseAnswer, () => undefined);
    const running = sent.finally(() => this.#running.delete(running));
    this.#running.add(running);
    if (chance < impatience)
      return Promise.race([sent, sleep(Math.random() * patienceMsMax).then(() => undefined)]);
    if (chance < impatience + cuts) {
      const cutting = setTimeout(client.cut, Math.random() * patienceMsMax);
      return sent.finally(() => clearTimeout(cutting));
    }
    return sent;
  }

  #countRefusal(name: string, { status, code = "", text }: ParsedAnswer): void {
    this.refused.set(code, (this.refused.get(code) ?? 0) + 1);
    if (!refusals.has(code))
      this.violations.push(`${name} was answered with ${status} ${code}: ${text.slice(0, 300)}`);
  }
}

/** The steps of an operation that changed an object from one version to the next. */
export function toVersionSteps(
  object: string,
  { version, seen }: { readonly version: number; readonly seen: number },
): HistoryStep[] {
  return [
    { kind: "read", object, value: String(seen), version: seen },
    { kind: "write", object, value: String(version), version },
  ];
}

/** A write of a value that the client does not know. */
export const toHiddenWrite = (object: string): HistoryStep => ({ kind: "write", object, value: null });

export const toVersionedRead = (object: string, value: string | number, version: number): HistoryStep => ({
  kind: "read",
  object,
  value: String(value),
  version,
});

export const toVersionedWrite = (object: string, value: string | number, version: number): HistoryStep => ({
  kind: "write",
  object,
  value: String(value),
  version,
});

export const pickRandom = <Item>(items: readonly Item[]): Item | undefined =>
  items[Math.floor(Math.random() * items.length)];
