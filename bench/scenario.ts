/** Types and helper functions of scenarios. */
import { print, visit } from "graphql";
import { readInlined } from "#test/support/documents.ts";
import { createSeededRandom, shuffle } from "./random.ts";

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

/** A scenario that consists of the requests of other scenarios. */
export interface MixedScenario {
  readonly name: string;
  readonly parts: readonly {
    readonly scenario: Scenario;
    /** How many of each hundred requests belong to this part. */
    readonly perHundred: number;
  }[];
}

export type MeasuredScenario = Scenario | MixedScenario;

/** Returns the scenarios whose requests a scenario consists of. */
export const getScenarioParts = (measured: MeasuredScenario): readonly Scenario[] =>
  "parts" in measured ? measured.parts.map(({ scenario }) => scenario) : [measured];

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

/** Shuffles a list with a fixed seed, so that all servers get the requests in the same order in all rounds. */
export const shuffleWithFixedSeed = <Item>(items: readonly Item[]): Item[] =>
  shuffle(items, createSeededRandom(20_260_101));
