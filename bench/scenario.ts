/** Types and helper functions of scenarios. */
import { print, visit } from "graphql";
import { readInlined } from "#test/support/documents.ts";

export interface BenchRequest {
  readonly method: "GET" | "PUT";
  readonly path: string;
  /**
   * The request headers. The header Idempotency-Key has the value `keyPlaceholder`, which is replaced by a
   * new key in each request.
   */
  readonly headers: Readonly<Record<string, string>>;
  /** The headers for requests to this service's /graphql, instead of `headers`. */
  readonly internalHeaders?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The variables of the GraphQL document. */
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Functions for comparing the answers of a writing scenario, which depend on earlier requests. */
export interface WriteEffect {
  /** Returns the version in an answer. It increases by one with every request to the same path. */
  readonly versionOf: (body: unknown) => number;
  /** Returns the answer without its version. The same changes must give the same result. */
  readonly withoutVersion: (body: unknown) => unknown;
}

export interface Scenario {
  readonly name: string;
  /** True to send the requests to this service by POST /graphql, as internal frontends do, not over REST. */
  readonly isInternal?: boolean;
  /** The operation's GraphQL document, without the directives of the gateway. */
  readonly document: string;
  /** The path from `data` of the GraphQL answer to the body of the REST answer. */
  readonly envelope: readonly string[];
  readonly requests: readonly BenchRequest[];
  /** Returns why an answer makes the comparison unfair; undefined if the comparison is fair. */
  readonly fault: (body: unknown) => string | undefined;
  /** Functions for comparing changes; null if the scenario only reads. */
  readonly effect: WriteEffect | null;
  /**
   * Changes data in the database. During load, each hundredth request is replaced by a call of this function.
   * Left out if the data stay the same.
   */
  readonly change?: () => Promise<void>;
}

export interface ScenarioSource {
  readonly databaseUrl: string;
  /** An API key with all scopes. */
  readonly apiKey: string;
  /** The internal token of a storefront of the same merchant. */
  readonly storefrontToken: string;
  /** The maximum number of different requests of a scenario. */
  readonly requestsMax: number;
}

export function readDocument(name: string): string {
  const bare = visit(readInlined(`operations/${name}.graphql`), {
    Directive: () => null,
    OperationDefinition: ({ description: _description, ...definition }) => definition,
  });
  return print(bare);
}

/**
 * Shuffles a list with the random number generator Mulberry32 and a fixed seed, so that all servers get the
 * requests in the same order in all rounds.
 */
export function shuffleWithFixedSeed<Item>(items: readonly Item[]): Item[] {
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
