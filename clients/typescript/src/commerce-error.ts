/**
 * What is thrown: the service's refusal as it stands in its answer, with the status; or that there was no
 * answer.
 */
import type { components } from "./schema.ts";

type Refusal = components["schemas"]["PublicErrorResponse"]["error"];

interface Told
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

export class CommerceError extends Error {
  override readonly name = "CommerceError";
  /** One of the service's (`docs/errors.md`), or `no_answer` and `unreadable_answer`. Branch on it. */
  readonly code: string;
  /** Of HTTP; 0 where nothing was answered. */
  readonly status: number;
  /** Whether the same request, with the same `idempotencyKey`, may succeed later. */
  readonly retryable: boolean;
  readonly retryAfterSeconds: number | null;
  /** Of a change, the key it was sent with: whoever sends it again under another may do it twice. */
  readonly idempotencyKey: string | null;
  /** What to name when asking for help. */
  readonly requestId: string | null;
  /** Each fault of the request, with where it is. */
  readonly details: Refusal["details"];
  /** With 409: what stands in the way, and its version now. */
  readonly conflict: Refusal["conflict"];
  readonly docUrl: string | null;

  constructor(told: Told) {
    super(told.message, { cause: told.cause });
    this.code = told.code;
    this.status = told.status;
    this.retryable = told.retryable;
    this.retryAfterSeconds = told.retryAfterSeconds ?? null;
    this.idempotencyKey = told.idempotencyKey;
    this.requestId = told.requestId ?? null;
    this.details = told.details ?? [];
    this.conflict = told.conflict ?? null;
    this.docUrl = told.docUrl ?? null;
  }
}

/** What a proxy says of its own is no refusal of the service's; the beginning of it is the cause. */
export function refusalOf({ status, headers, text }: Answer, idempotencyKey: string | null): CommerceError {
  const refusal = readRefusal(text);
  if (refusal !== undefined) return new CommerceError({ ...refusal, status, idempotencyKey });
  return new CommerceError({
    code: "unreadable_answer",
    message: `Something that is not the service answered with ${status}.`,
    status,
    retryable: isPassing(status),
    retryAfterSeconds: retryAfterOf(headers),
    requestId: headers.get("x-request-id"),
    idempotencyKey,
    cause: text.slice(0, 1000),
  });
}

export function noAnswer(cause: unknown, idempotencyKey: string | null): CommerceError {
  return new CommerceError({
    code: "no_answer",
    message: "Nothing was answered.",
    status: 0,
    retryable: true,
    idempotencyKey,
    cause,
  });
}

/** Where nobody but the status says it. */
export const isPassing = (status: number): boolean => status === 408 || status === 429 || status >= 500;

/** A proxy's word (RFC 9110): seconds or a date. One that is over says nothing. */
export function retryAfterOf(headers: Headers): number | null {
  const said = headers.get("retry-after") ?? "";
  if (/^\d+$/.test(said)) return Number(said);
  const seconds = /^[A-Z]/.test(said) ? Math.ceil((Date.parse(said) - Date.now()) / 1000) : 0;
  return seconds > 0 ? seconds : null;
}

export function isAnswer(text: string): boolean {
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
