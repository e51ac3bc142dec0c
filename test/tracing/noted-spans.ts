/** A tracer that records the started spans, for tests without a collector. */
import { AsyncLocalStorage } from "node:async_hooks";
import { onTestFinished } from "vitest";
import { type SpanAttributes, type Span, type Tracer, setTracer } from "#foundation/tracing.ts";

export interface NotedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly attributes: SpanAttributes;
  readonly isFailed: boolean;
  readonly isEnded: boolean;
}

/** Records spans until the end of the test. */
export function noteSpans(): readonly NotedSpan[] {
  const noted: NotedSpan[] = [];
  const current = new AsyncLocalStorage<Span>();
  const start: Tracer["start"] = ({ name, ownTrace, attributes = {} }) => {
    const traceId =
      (ownTrace === undefined ? current.getStore()?.traceId : undefined) ?? `trace ${noted.length}`;
    const state = { name, traceId, attributes, isFailed: false, isEnded: false };
    noted.push(state);
    const markFailed = (): void => void (state.isFailed = true);
    const span: Span = {
      traceId,
      traceparent: traceId,
      isRecorded: true,
      set: (more) => {
        // Attributes set to undefined do not exist.
        if (!state.isEnded)
          state.attributes = { ...state.attributes, ...(JSON.parse(JSON.stringify(more)) as SpanAttributes) };
      },
      fail: markFailed,
      markFailed,
      end: () => void (state.isEnded = true),
      run: (work) => current.run(span, work),
    };
    return span;
  };
  setTracer({ start, current: () => current.getStore() });
  onTestFinished(() => setTracer(undefined));
  return noted;
}
