/**
 * Creates spans of traces. This file loads no part of OpenTelemetry: if a collector is configured,
 * `src/observability/tracing.ts` installs a tracer here; without a tracer, each call only checks whether
 * there is one. Spans contain names, ids and counts, never data that a caller sent.
 */
export type Attributes = Readonly<Record<string, string | number | boolean | string[] | undefined>>;

export interface SpanStart {
  readonly name: string;
  readonly kind?: "internal" | "server" | "client";
  readonly attributes?: Attributes;
  /** The `traceparent` that a remote caller sent; undefined for a child of the current span. */
  readonly caller?: string | undefined;
  /** Starts a new trace, with the given trace id if there is one. */
  readonly ownTrace?: { readonly id?: string };
  /** `traceparent`s of spans that caused this span without waiting for it; they become links. */
  readonly causes?: readonly string[];
  readonly startedAt?: Date;
}

export interface Span {
  readonly traceId: string;
  /** The W3C Trace Context of the span, to send to another service. */
  readonly traceparent: string;
  /** False if sampling dropped the span; its children are dropped too. */
  readonly isRecorded: boolean;
  set(attributes: Attributes): void;
  /** Records the kind of an error, without its message. */
  fail(error: unknown): void;
  /** Marks the span as failed because of an error of this service. */
  markFailed(): void;
  end(): void;
  /** Runs the work with this span as the current span. */
  run<Result>(work: () => Result): Result;
}

export interface Tracer {
  start(start: SpanStart): Span;
  /** Returns the current span. */
  current(): Span | undefined;
}

let tracer: Tracer | undefined;

/** Sets the tracer of the process; undefined switches tracing off. */
export function setTracer(chosen: Tracer | undefined): void {
  tracer = chosen;
}

export const isTracing = (): boolean => tracer !== undefined;

export const startSpan = (start: SpanStart): Span | undefined => tracer?.start(start);

/** Returns the current span if it is recorded. */
export function currentRecordedSpan(): Span | undefined {
  const span = tracer?.current();
  return span?.isRecorded === true ? span : undefined;
}

/** Runs the work inside a new span. */
export function runInSpan<Result>(start: SpanStart, work: (span: Span | undefined) => Result): Result {
  const span = tracer?.start(start);
  if (span === undefined) return work(undefined);
  const broken = (error: unknown): never => {
    span.fail(error);
    span.end();
    throw error;
  };
  const ended = <Value>(value: Value): Value => {
    span.end();
    return value;
  };
  return span.run(() => {
    let result: Result;
    try {
      result = work(span);
    } catch (error) {
      return broken(error);
    }
    return result instanceof Promise ? (result.then(ended, broken) as Result) : ended(result);
  });
}

/** Runs the work inside a new span if the current span is recorded; otherwise without a span. */
export function runInChildSpan<Result>(start: SpanStart, work: (span: Span | undefined) => Result): Result {
  return currentRecordedSpan() === undefined ? work(undefined) : runInSpan(start, work);
}

export interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

const form =
  /^(?<version>[\da-f]{2})-(?<traceId>[\da-f]{32})-(?<spanId>[\da-f]{16})-(?<flags>[\da-f]{2})(?<more>-.*)?$/;

/**
 * Parses a `traceparent` header (W3C Trace Context, section 3.2). Later versions may have further fields.
 * Returns undefined if the header is invalid.
 */
export function parseTraceparent(text: string): TraceContext | undefined {
  const { version = "", traceId = "", spanId = "", flags = "", more } = form.exec(text)?.groups ?? {};
  const isUnknown = version === "ff" || (version === "00" && more !== undefined);
  if (isUnknown || /^0*$/.test(traceId) || /^0*$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
