/**
 * Types and helpers of scenarios. The order of a scenario's requests is shuffled with a fixed seed, so that
 * it is the same for every server and every round.
 */
import { print, visit } from "graphql";
import { readInlined } from "#test/support/documents.ts";

export interface BenchRequest {
  readonly method: "GET" | "PUT";
  readonly path: string;
  /**
   * The request headers. An Idempotency-Key with the value `keyPlaceholder` is replaced by a new key each
   * time.
   */
  readonly headers: Readonly<Record<string, string>>;
  /** The headers for requests to this service's /graphql, instead of `headers`. */
  readonly internalHeaders?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The variables of the GraphQL document. */
  readonly variables: Readonly<Record<string, unknown>>;
}

/** How the answers of a writing scenario are compared. Each answer depends on the requests before it. */
export interface WriteEffect {
  /** Returns the version in the answer, which rises by one with every request to the same path. */
  readonly versionOf: (body: unknown) => number;
  /** Returns the answer without the version. The same changes must give the same result. */
  readonly withoutVersion: (body: unknown) => unknown;
}

export interface Scenario {
  readonly name: string;
  /** True if this service gets the requests by POST /graphql, as from internal frontends; otherwise over REST. */
  readonly isInternal?: boolean;
  /** The operation's GraphQL document, without the directives of the gateway. */
  readonly document: string;
  /** The path from `data` of the GraphQL answer to the body of the REST answer. */
  readonly envelope: readonly string[];
  readonly asks: readonly BenchRequest[];
  /** Returns why an answer would make the comparison unfair; undefined if it is fair. */
  readonly fault: (body: unknown) => string | undefined;
  /** How changes are compared; null for a scenario that only reads. */
  readonly effect: WriteEffect | null;
}

export interface ScenarioSource {
  readonly databaseUrl: string;
  /** An API key with all scopes. */
  readonly apiKey: string;
  /** The internal token of a storefront of the same merchant. */
  readonly storefrontToken: string;
  /** Maximum number of different requests of a scenario. */
  readonly asksMax: number;
}

export function readDocument(name: string): string {
  const bare = visit(readInlined(`operations/${name}.graphql`), {
    Directive: () => null,
    OperationDefinition: ({ description: _description, ...definition }) => definition,
  });
  return print(bare);
}

/**
 * Shuffles a list with the random generator Mulberry32 and a fixed seed, so that the order is always the
 * same.
 */
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
