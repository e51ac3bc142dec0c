/**
 * Sends the GraphQL operations that the reader runs in GraphiQL, and reads their answers (JSON or a stream of
 * events). Also measures the cost, duration and size of the answers.
 */
import { readServerSentEvents } from "#pages/shared/browser/server-sent-events.ts";
import { NoTokenEnteredError, type GraphiqlTokenManager } from "./token-keeper.ts";

/** The measurements of one GraphQL operation that the reader has run. */
export interface GraphqlOperationMeasurements {
  readonly durationMs: number;
  readonly bytes: number;
  readonly errorCount: number;
  readonly cost: GraphqlOperationCost | undefined;
  /** The error message of the exceeded quota that refused the operation; undefined if no quota was exceeded. */
  readonly quotaMessage: string | undefined;
}

interface GraphqlOperationCost {
  readonly requested: number;
  readonly limit: number;
  /** The remaining points of the caller's quota in the current minute; left out if rate limits are off. */
  readonly throttleStatus?: { readonly currentlyAvailable: number };
}

interface GraphqlOperation {
  readonly query: string;
  readonly operationName?: string | null;
  readonly variables?: unknown;
}

/** The options with which GraphiQL calls this file's function for sending an operation. */
interface FetcherOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly documentAST?: { readonly definitions: readonly Definition[] };
}

interface Definition {
  readonly operation?: string;
  readonly name?: { readonly value: string };
}

interface AnswerError {
  readonly message: string;
  readonly extensions?: { readonly code?: string };
}

interface Answer {
  readonly errors?: readonly AnswerError[];
  readonly extensions?: { readonly cost?: GraphqlOperationCost };
}

export type GraphiqlFetcher = (operation: GraphqlOperation, options?: FetcherOptions) => Promise<unknown>;

export interface GraphqlOperationRunListeners {
  /** The callback before an operation that the reader has started is sent. */
  readonly onRun: () => void;
  /** The callback after an operation that the reader has started was answered. */
  readonly onMeasured: (run: GraphqlOperationMeasurements) => void;
}

export function createGraphiqlFetcher(
  keeper: GraphiqlTokenManager,
  { onRun, onMeasured }: GraphqlOperationRunListeners,
): GraphiqlFetcher {
  return async ({ query, operationName, variables }, options) => {
    const headers = new Headers(options?.headers ?? {});
    if (isSubscription(options, operationName)) headers.set("accept", "text/event-stream");
    // The cost and duration of GraphiQL's own request for the schema are not shown to the reader.
    const isPatient = operationName === "IntrospectionQuery";
    if (!isPatient) onRun();
    const stopper = new AbortController();
    const body = { query, variables, ...(operationName === null ? {} : { operationName }) };
    const sent = await keeper.send({ body, headers, isPatient, signal: stopper.signal }).catch(notSent);
    if (!("response" in sent)) return sent;
    const { response, sentAt } = sent;
    if (response.headers.get("content-type")?.startsWith("text/event-stream") === true)
      return eventsOf(response, () => stopper.abort());
    const text = await response.text().catch(() => "");
    const answer = parseAnswer(text, response.status);
    if (!isPatient)
      onMeasured({
        ...measure(answer),
        bytes: new Blob([text]).size,
        durationMs: performance.now() - sentAt,
      });
    return answer;
  };
}

/**
 * Converts a failure to send the request (no token, or no connection) to a GraphQL error. GraphiQL would show
 * a thrown error with its stack.
 */
function notSent(error: unknown): Pick<Answer, "errors"> {
  const message =
    error instanceof NoTokenEnteredError
      ? error.message
      : "The service could not be reached. Check your connection and run the operation again.";
  return { errors: [{ message }] };
}

/**
 * Parses the body of an answer as JSON. A body that is not JSON, for example the HTML error page of a proxy,
 * becomes a GraphQL error.
 */
function parseAnswer(text: string, status: number): Answer {
  try {
    return JSON.parse(text) as Answer;
  } catch {
    const message = `The service sent no GraphQL answer (status ${status}). Run the operation again in a moment.`;
    return { errors: [{ message }] };
  }
}

const measure = ({
  errors = [],
  extensions,
}: Answer): Pick<GraphqlOperationMeasurements, "errorCount" | "cost" | "quotaMessage"> => ({
  errorCount: errors.length,
  cost: extensions?.cost,
  quotaMessage: errors.find((error) => error.extensions?.code === "rate_limited")?.message,
});

function isSubscription(options: FetcherOptions | undefined, name: string | null | undefined): boolean {
  const operations =
    options?.documentAST?.definitions.filter(({ operation }) => operation !== undefined) ?? [];
  const chosen = operations.find((operation) => operation.name?.value === name) ?? operations[0];
  return chosen?.operation === "subscription";
}

/**
 * Returns the results of a subscription as an iterator, whose `return` calls `stop` to abort the request. The
 * function is not a generator, because a generator's `return` would wait for the pending read, which may
 * never end.
 */
function eventsOf({ body }: Response, stop: () => void): AsyncIterableIterator<unknown> {
  const results = resultsIn(body);
  const over = { done: true, value: undefined } as const;
  let isStopped = false;
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      try {
        return isStopped ? over : await results.next();
      } catch (error) {
        // The error of the aborted read is ignored if the reader has stopped the operation.
        if (isStopped) return over;
        throw error;
      }
    },
    return() {
      isStopped = true;
      stop();
      return Promise.resolve(over);
    },
  };
}

async function* resultsIn(body: Response["body"]): AsyncGenerator<unknown, void> {
  if (body === null) return;
  for await (const { event, data } of readServerSentEvents(body, () => undefined)) {
    if (event === "complete") return;
    if (data !== "") yield JSON.parse(data) as unknown;
  }
}
