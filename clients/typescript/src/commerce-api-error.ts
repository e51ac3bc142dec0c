/**
 * The error that the client throws if a request fails: an error of the service with its HTTP status, or a
 * missing or unreadable answer.
 */
import type { components } from "./schema.ts";

type Refusal = components["schemas"]["PublicErrorResponse"]["error"];

interface ErrorFields
  extends
    Pick<Refusal, "code" | "message" | "retryable">,
    Partial<Pick<Refusal, "retryAfterSeconds" | "details" | "conflict" | "docUrl">> {
  readonly requestId?: string | null;
  readonly status: number;
  readonly idempotencyKey: string | null;
  readonly cause?: unknown;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export class CommerceApiError extends Error {
  override readonly name = "CommerceApiError";
  /**
   * The error code of the service (`docs/errors.md`), or `no_answer` or `unreadable_answer`. Programs should
   * decide by this code, not by the message.
   */
  readonly code: string;
  /** The HTTP status; 0 if there was no answer. */
  readonly status: number;
  /** True if the same request, with the same `idempotencyKey`, may succeed later. */
  readonly retryable: boolean;
  readonly retryAfterSeconds: number | null;
  /**
   * The idempotency key of a change; null for other requests. With another key, a retry may make the change
   * twice.
   */
  readonly idempotencyKey: string | null;
  /** The id of the request, for questions to support; null if there was no answer. */
  readonly requestId: string | null;
  /** All faults of the request, each with the place of the wrong value. */
  readonly details: Refusal["details"];
  /** For status 409: the object that prevents the request, and its current version; otherwise null. */
  readonly conflict: Refusal["conflict"];
  readonly docUrl: string | null;

  constructor(fields: ErrorFields) {
    super(fields.message, { cause: fields.cause });
    this.code = fields.code;
    this.status = fields.status;
    this.retryable = fields.retryable;
    this.retryAfterSeconds = fields.retryAfterSeconds ?? null;
    this.idempotencyKey = fields.idempotencyKey;
    this.requestId = fields.requestId ?? null;
    this.details = fields.details ?? [];
    this.conflict = fields.conflict ?? null;
    this.docUrl = fields.docUrl ?? null;
  }
}

/**
 * Creates the error of an answer. If the answer came from a proxy, the error's cause contains the beginning
 * of its body.
 */
export function toCommerceApiError(
  { status, headers, text }: Answer,
  idempotencyKey: string | null,
): CommerceApiError {
  const refusal = readRefusal(text);
  if (refusal !== undefined) return new CommerceApiError({ ...refusal, status, idempotencyKey });
  return new CommerceApiError({
    code: "unreadable_answer",
    message: `The answer with status ${status} is not from the service.`,
    status,
    retryable: isTemporaryStatus(status),
    retryAfterSeconds: readRetryAfter(headers),
    requestId: headers.get("x-request-id"),
    idempotencyKey,
    cause: text.slice(0, 1000),
  });
}

/** Creates the error of a request without an answer. The message contains the URL without its query string. */
export function createNoAnswerError({ method, url, headers }: Request, cause: unknown): CommerceApiError {
  const { origin, pathname } = new URL(url);
  return new CommerceApiError({
    code: "no_answer",
    message: `${method} ${origin}${pathname} got no answer: ${reasonOf(cause)}`,
    status: 0,
    retryable: true,
    idempotencyKey: headers.get("idempotency-key"),
    cause,
  });
}

/**
 * Returns the reason for a failed `fetch`. In Node, the cause of the fetch error is the error of the
 * operating system.
 */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "the request failed.";
  const { cause } = error;
  const detail = cause instanceof Error ? ` (${"code" in cause ? String(cause.code) : cause.message})` : "";
  return `${error.message.replace(/\.$/, "")}${detail}.`;
}

/** True if an HTTP status without an error body of the service means a temporary failure. */
export const isTemporaryStatus = (status: number): boolean =>
  status === 408 || status === 429 || status >= 500;

/**
 * Parses the Retry-After header (RFC 9110), which contains seconds or a date; null if it is missing or in the
 * past.
 */
export function readRetryAfter(headers: Headers): number | null {
  const header = headers.get("retry-after") ?? "";
  if (/^\d+$/.test(header)) return Number(header);
  const seconds = /^[A-Z]/.test(header) ? Math.ceil((Date.parse(header) - Date.now()) / 1000) : 0;
  return seconds > 0 ? seconds : null;
}

export function isJsonObject(text: string): boolean {
  try {
    const answer: unknown = JSON.parse(text);
    return typeof answer === "object" && answer !== null;
  } catch {
    return false;
  }
}

export function readRefusal(text: string): Refusal | undefined {
  try {
    const { error } = JSON.parse(text) as { readonly error?: Partial<Refusal> };
    return typeof error?.code === "string" &&
      typeof error.message === "string" &&
      typeof error.retryable === "boolean"
      ? (error as Refusal)
      : undefined;
  } catch {
    return undefined;
  }
}
