/** Requests to the service: over REST and over GraphQL, with the credential of the command. */
import { setTimeout as wait } from "node:timers/promises";
import type { Credential } from "./credentials.ts";
import { field, parseJson, textOf } from "./json.ts";

export interface Target {
  /** The URL of the service without a slash at the end. */
  readonly url: string;
  readonly credential: Credential;
}

/**
 * The error of a request that got no answer or was refused. `status` is the HTTP status of the answer; null
 * if there was no answer.
 */
export class RequestFailed extends Error {
  readonly status: number | null;
  readonly code: string | null;
  readonly retryAfterSeconds: number | null;

  constructor(
    message: string,
    { status, code, retryAfterSeconds }: Pick<RequestFailed, "status" | "code" | "retryAfterSeconds">,
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  /**
   * True if the service refused the request because of load or a rate limit. The service has then executed
   * nothing.
   */
  get isRefusedForNow(): boolean {
    return this.status === 429 || this.status === 503;
  }

  /** True if the same request can succeed later. */
  get isTemporary(): boolean {
    return this.status === null || this.status === 429 || this.status >= 500;
  }
}

export interface ServiceAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON body of the answer; null if the body is not JSON. */
  readonly body: unknown;
}

export interface ServiceRequest {
  readonly method?: "GET" | "POST";
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  readonly credential?: Credential | undefined;
}

/** Sends a request and returns the answer, whatever its status is. Throws if there is no answer. */
export async function send(url: string, path: string, given: ServiceRequest = {}): Promise<ServiceAnswer> {
  const { method = "GET", body, signal, credential } = given;
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      accept: "application/json",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(credential === undefined ? {} : toHeaders(credential, url)),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  }).catch((error: unknown) => {
    throw signal?.aborted === true ? error : toConnectionFailure(url, error);
  });
  const text = await response.text().catch((error: unknown) => {
    throw signal?.aborted === true ? error : toConnectionFailure(url, error);
  });
  return { status: response.status, headers: response.headers, body: parseJson(text) };
}

/** Sends a request, and throws if the answer is not 2xx. */
export async function request(target: Target, path: string, given: ServiceRequest = {}): Promise<unknown> {
  const answer = await send(target.url, path, { credential: target.credential, ...given });
  if (answer.status >= 200 && answer.status < 300) return answer.body;
  throw toRefusal(answer, field(answer.body, "error"));
}

const attemptsMax = 5;
const retrySecondsMax = 10;

/**
 * Runs a GraphQL document and returns its data. Repeats a request that the service refused because of load or
 * a rate limit; all mutations of this program have an idempotency key, so none is executed twice.
 */
export async function graph<Data>(
  target: Target,
  query: string,
  variables: Readonly<Record<string, unknown>> = {},
): Promise<Data> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await graphOnce<Data>(target, query, variables);
    } catch (error) {
      if (!(error instanceof RequestFailed) || !error.isRefusedForNow || attempt === attemptsMax) throw error;
      await wait(Math.min(error.retryAfterSeconds ?? 1, retrySecondsMax) * 1000);
    }
  }
}

async function graphOnce<Data>(
  { url, credential }: Target,
  query: string,
  variables: Readonly<Record<string, unknown>>,
): Promise<Data> {
  const answer = await send(url, "/graphql", { method: "POST", body: { query, variables }, credential });
  const errors = field(answer.body, "errors");
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined;
  if (first !== undefined || answer.status >= 400)
    throw toRefusal(answer, field(first, "extensions") ?? first);
  return field(answer.body, "data") as Data;
}

function toRefusal({ status, headers }: ServiceAnswer, error: unknown): RequestFailed {
  const code = textOf(error, "code") ?? null;
  const details = field(error, "details");
  const [detail] = Array.isArray(details) ? (details as unknown[]) : [];
  const message = textOf(detail, "message") ?? textOf(error, "message") ?? `The service answered ${status}.`;
  const retryAfter = Number(headers.get("retry-after") ?? Number.NaN);
  return new RequestFailed(code === null ? message : `${message} (${code})`, {
    status,
    code,
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : null,
  });
}

function toConnectionFailure(url: string, error: unknown): RequestFailed {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const reason = textOf(cause, "code") ?? (cause instanceof Error ? cause.message : "no answer");
  return new RequestFailed(
    `The service at ${url} does not answer (${reason}). Start it with \`npm start\`, or set --url.`,
    { status: null, code: null, retryAfterSeconds: null },
  );
}

function toHeaders(credential: Credential, url: string): Record<string, string> {
  if (credential.kind !== "session") return { authorization: `Bearer ${credential.value}` };
  // A login creates a session of the console, and the service accepts such a session only with these headers.
  return { cookie: credential.value, origin: new URL(url).origin, "x-commerce-console": "1" };
}
