/**
 * Traces: what a request did, and how long each part of it took. Nothing of OpenTelemetry is loaded by this
 * file: where a collector is named, `src/observability/tracing.ts` puts a tracer here, and without one
 * everything is a single look whether there is any. A span has names, ids and counts of ours, and nothing
 * that somebody sent.
 */
export type Attributes = Readonly<Record<string, string | number | boolean | string[] | undefined>>;

export interface SpanStart {
  readonly name: string;
  readonly kind?: "internal" | "server" | "client";
  readonly attributes?: Attributes;
  /** Who asked for it, elsewhere: a `traceparent` as it came. Otherwise it belongs to what is under way here. */
  readonly caller?: string | undefined;
  /** It belongs to nothing: a trace of its own, of this id where it has one. */
  readonly ownTrace?: { readonly id?: string };
  /** What brought it about and did not wait for it, as `traceparent`s. */
  readonly causes?: readonly string[];
  readonly startedAt?: Date;
}

export interface Span {
  readonly traceId: string;
  /** W3C Trace Context: for whoever goes on elsewhere. */
  readonly traceparent: string;
  /** False: it was left out, and so is all that belongs to it. */
  readonly isRecorded: boolean;
  set(attributes: Attributes): void;
  /** Only what kind of error it was. */
  fail(error: unknown): void;
  /** By a fault of ours. */
  markFailed(): void;
  end(): void;
  /** What is begun by the work belongs to this. */
  run<Result>(work: () => Result): Result;
}

export interface Tracer {
  start(start: SpanStart): Span;
  /** What is under way here. */
  current(): Span | undefined;
}

let tracer: Tracer | undefined;

/** One for the whole process; undefined: nothing is traced any more. */
export function useTracer(chosen: Tracer | undefined): void {
  tracer = chosen;
}

export const isTracing = (): boolean => tracer !== undefined;

export const startSpan = (start: SpanStart): Span | undefined => tracer?.start(start);

/** What is under way here, where it is recorded. */
export function recordedSpan(): Span | undefined {
  const span = tracer?.current();
  return span?.isRecorded === true ? span : undefined;
}

/** The work as a span. */
export function traced<Result>(start: SpanStart, work: (span: Span | undefined) => Result): Result {
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

/** The same for what is of interest only as a part of something: by itself it is not traced. */
export function tracedPart<Result>(start: SpanStart, work: (span: Span | undefined) => Result): Result {
  return recordedSpan() === undefined ? work(undefined) : traced(start, work);
}

export interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

const form =
  /^(?<version>[\da-f]{2})-(?<traceId>[\da-f]{32})-(?<spanId>[\da-f]{16})-(?<flags>[\da-f]{2})(?<more>-.*)?$/;

/**
 * W3C Trace Context, section 3.2: later versions may have more behind it; what is not valid is as if it were
 * not there.
 */
export function parseTraceparent(text: string): TraceContext | undefined {
  const { version = "", traceId = "", spanId = "", flags = "", more } = form.exec(text)?.groups ?? {};
  const isUnknown = version === "ff" || (version === "00" && more !== undefined);
  if (isUnknown || /^0*$/.test(traceId) || /^0*$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
