/**
 * What a scenario is, and what those of any kind are made of. The order of its requests is mixed by a fixed
 * seed: every server and every round has the same.
 */
import { print, visit } from "graphql";
import { readInlined } from "#test/support/documents.ts";

export interface BenchRequest {
  readonly method: "GET" | "PUT";
  readonly path: string;
  /** An Idempotency-Key that is `keyPlaceholder` becomes another one each time it is sent. */
  readonly headers: Readonly<Record<string, string>>;
  /** In place of them, where our own /graphql is asked. */
  readonly internalHeaders?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** For GraphQL. */
  readonly variables: Readonly<Record<string, unknown>>;
}

/**
 * How the answers of a scenario that writes are compared: what a request answers hangs on what the one before
 * it left.
 */
export interface WriteEffect {
  /** Rises by one with every request to the same path. */
  readonly versionOf: (body: unknown) => number;
  /** The rest of the answer, which is the same after the same changes. */
  readonly withoutVersion: (body: unknown) => unknown;
}

export interface Scenario {
  readonly name: string;
  /** Whether ours is asked as internal frontends ask it, by POST /graphql; else over REST. */
  readonly isInternal?: boolean;
  /** The operation's document, without the directives of the gateway. */
  readonly document: string;
  /** The way from `data` of the GraphQL answer to the body of the REST answer. */
  readonly envelope: readonly string[];
  readonly asks: readonly BenchRequest[];
  /** What has to be true of an answer for the comparison to be fair. */
  readonly fault: (body: unknown) => string | undefined;
  /** Null: it only reads. */
  readonly effect: WriteEffect | null;
}

export interface ScenarioSource {
  readonly databaseUrl: string;
  /** Holds every scope. */
  readonly apiKey: string;
  /** Of a frontend of the same merchant. */
  readonly storefrontToken: string;
  /** How many different things a scenario asks for at most. */
  readonly asksMax: number;
}

export function readDocument(name: string): string {
  const bare = visit(readInlined(`operations/${name}.graphql`), {
    Directive: () => null,
    OperationDefinition: ({ description: _description, ...definition }) => definition,
  });
  return print(bare);
}

/** Mulberry32: a small generator of the same numbers every time. */
export function shuffleDeterministically<Item>(items: readonly Item[]): Item[] {
  let state = 20_260_101;
  const random = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
  return items
    .map((item) => ({ item, key: random() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ item }) => item);
}
