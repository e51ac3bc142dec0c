/**
 * Creates the spans of traces. This file loads no part of OpenTelemetry. If a collector is configured,
 * `src/observability/tracing.ts` installs a tracer here. Without a tracer, the functions below create no
 * spans and cost almost no time. Spans contain names, ids and counts, never values that a caller sent.
 */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | string[] | undefined>>;

export interface SpanOptions {
  readonly name: string;
  readonly kind?: "internal" | "server" | "client";
  readonly attributes?: SpanAttributes;
  /**
   * The `traceparent` header that a remote caller sent; undefined if the new span is a child of the current
   * span of this process.
   */
  readonly caller?: string | undefined;
  /**
   * If given, the span begins a new trace instead of belonging to the current trace. `id` is the id of the
   * new trace; without `id`, the trace gets a random id.
   */
  readonly ownTrace?: { readonly id?: string };
  /**
   * The `traceparent` values of earlier spans that caused this span without waiting for it. For example, a
   * request queues a webhook delivery, which is sent later. The new span gets a link to each of them.
   */
  readonly causes?: readonly string[];
  /** The time at which the span starts; the current time if left out. */
  readonly startedAt?: Date;
}

export interface Span {
  readonly traceId: string;
  /** The `traceparent` header (W3C Trace Context) that identifies this span in requests to other services. */
  readonly traceparent: string;
  /**
   * False if the span belongs to a trace that is not recorded, because only a sample of all traces is
   * recorded. Child spans of an unrecorded span are not recorded either.
   */
  readonly isRecorded: boolean;
  set(attributes: SpanAttributes): void;
  /**
   * Records the error code or the class name of an error, and marks the span as failed if the error is a
   * fault of this service. The error's message is not recorded, because it may quote values of the request.
   */
  fail(error: unknown): void;
  /**
   * Marks the span as failed. Called only for errors of this service; an error of the caller does not make a
   * span failed.
   */
  markFailed(): void;
  end(): void;
  /**
   * Runs the given function with this span as the current span, so that spans that the function starts become
   * children of this span.
   */
  run<Result>(work: () => Result): Result;
}

export interface Tracer {
  start(start: SpanOptions): Span;
  /**
   * Returns the span (also one that is not recorded) inside which the calling code runs; undefined if the
   * code runs outside of every span.
   */
  current(): Span | undefined;
}

let tracer: Tracer | undefined;

/** Sets the tracer that creates the spans of this process; undefined switches tracing off. */
export function setTracer(chosen: Tracer | undefined): void {
  tracer = chosen;
}

export const isTracingEnabled = (): boolean => tracer !== undefined;

export const startSpan = (start: SpanOptions): Span | undefined => tracer?.start(start);

/**
 * Returns the span inside which the calling code runs. Returns undefined if the code runs outside of every
 * span, or if the span is not in the recorded sample of traces.
 */
export function getCurrentRecordedSpan(): Span | undefined {
  const span = tracer?.current();
  return span?.isRecorded === true ? span : undefined;
}

/**
 * Runs `work` inside a new span. The span ends when `work` returns or throws, or when the promise that `work`
 * returns is settled.
 */
export function runInSpan<Result>(start: SpanOptions, work: (span: Span | undefined) => Result): Result {
  const span = tracer?.start(start);
  if (span === undefined) return work(undefined);
  const failSpan = (error: unknown): never => {
    span.fail(error);
    span.end();
    throw error;
  };
  const endSpan = <Value>(value: Value): Value => {
    span.end();
    return value;
  };
  return span.run(() => {
    let result: Result;
    try {
      result = work(span);
    } catch (error) {
      return failSpan(error);
    }
    return result instanceof Promise ? (result.then(endSpan, failSpan) as Result) : endSpan(result);
  });
}

/**
 * Runs `work` inside a new child span if the current span is recorded. Otherwise runs `work` without creating
 * a span.
 */
export function runInChildSpan<Result>(start: SpanOptions, work: (span: Span | undefined) => Result): Result {
  return getCurrentRecordedSpan() === undefined ? work(undefined) : runInSpan(start, work);
}

/**
 * The parsed values of a `traceparent` header (W3C Trace Context): the trace id, the span id, and whether the
 * trace is recorded.
 */
export interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

const traceparentPattern =
  /^(?<version>[\da-f]{2})-(?<traceId>[\da-f]{32})-(?<spanId>[\da-f]{16})-(?<flags>[\da-f]{2})(?<more>-.*)?$/;

/**
 * Parses a `traceparent` header (W3C Trace Context, section 3.2). Additional fields after those of version 00
 * are ignored if the header has a later version. Returns undefined if the header is invalid.
 */
export function parseTraceparent(text: string): TraceContext | undefined {
  const {
    version = "",
    traceId = "",
    spanId = "",
    flags = "",
    more,
  } = traceparentPattern.exec(text)?.groups ?? {};
  const isUnknown = version === "ff" || (version === "00" && more !== undefined);
  if (isUnknown || /^0*$/.test(traceId) || /^0*$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
