/**
 * Sends traces to an OpenTelemetry collector with OTLP over HTTP. This file is loaded only if
 * OTEL_EXPORTER_OTLP_ENDPOINT is set.
 */
import {
  type Context,
  context,
  type Link,
  ROOT_CONTEXT,
  type Span as SdkSpan,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import {
  detectResources,
  type Resource,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
  serviceNameEnvDetector,
} from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  type IdGenerator,
  ParentBasedSampler,
  RandomIdGenerator,
  type Sampler,
  SamplingDecision,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { Failure } from "#foundation/failure.ts";
import type { Log } from "#foundation/log.ts";
import {
  type SpanAttributes,
  parseTraceparent,
  type Span,
  type SpanOptions,
  type Tracer,
  setTracer,
} from "#foundation/tracing.ts";
import { InvalidSettingError, type EnvironmentVariables } from "#foundation/failure.ts";

/** Options of the export of traces. */
export interface TracingOptions {
  /** The URL of the OpenTelemetry collector for OTLP over HTTP, without `/v1/traces`. */
  readonly endpoint: string;
  readonly environment: EnvironmentVariables;
  readonly log: Log;
  /** Milliseconds between two exports of spans to the collector. */
  readonly intervalMs?: number;
}

/** The maximum number of trace spans that may wait to be sent to the collector. Further spans are dropped. */
const waitingMax = 8_192;
const batchMax = 1_024;
/**
 * The maximum number of exports of spans that run at the same time. When the service stops, all waiting spans
 * are exported at once, in batches, while an earlier export may still be running.
 */
const exportsMax = waitingMax / batchMax + 1;
const defaultIntervalMs = 1_000;
/** The maximum number of milliseconds that one export of spans may take, including its retries. */
const exportMsMax = 5_000;
/**
 * The maximum number of milliseconds to wait for the last export of spans when the process stops. A process
 * has ten seconds to stop, and requests and webhooks need most of them.
 */
const stopMsMax = 1_500;
/** The maximum number of characters of the value of a span attribute. SQL statements are the longest values. */
const textMax = 4_096;
/**
 * The maximum number of links of a span. A single span may create the deliveries of several events, and link
 * to the trace of each event.
 */
const linksMax = 256;

/** Starts tracing. Returns the function that exports the last spans and stops tracing. */
export function startTracing({
  endpoint,
  environment,
  log,
  intervalMs = defaultIntervalMs,
}: TracingOptions): () => Promise<void> {
  const exporter = new OTLPTraceExporter({
    url: `${endpoint}/v1/traces`,
    timeoutMillis: exportMsMax,
    concurrencyLimit: exportsMax,
  });
  const processor = new BatchSpanProcessor({
    exporter: createSpanExporterLoggingOutages(exporter, log),
    maxQueueSize: waitingMax,
    maxExportBatchSize: batchMax,
    scheduledDelayMillis: intervalMs,
    exportTimeoutMillis: 2 * exportMsMax,
  });
  const ids = createIdGenerator();
  const provider = new TracerProvider({
    resource: describeService(),
    sampler: chooseSampler(environment),
    idGenerator: ids,
    spanProcessors: [processor],
    spanLimits: { attributeValueLengthLimit: textMax, linkCountLimit: linksMax },
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  setTracer(createTracer(provider, ids));
  return async () => {
    setTracer(undefined);
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, stopMsMax)));
    // When the process stops, the spans that cannot be exported within `stopMsMax` milliseconds are lost.
    await Promise.race([provider.shutdown().catch(() => undefined), timeout]);
    clearTimeout(timer);
    context.disable();
  };
}

function describeService(): Resource {
  const detectors = [serviceInstanceIdDetector, resourceAttributesEnvDetector, serviceNameEnvDetector];
  const defaults = resourceFromAttributes({ "service.name": "commerce-gateway", "process.pid": process.pid });
  return defaults.merge(detectResources({ detectors }));
}

/**
 * Wraps an exporter of spans. Logs one line when the collector stops answering, and one line when it answers
 * again.
 */
export function createSpanExporterLoggingOutages(exporter: SpanExporter, log: Log): SpanExporter {
  let isAway = false;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const wasAway = isAway;
        isAway = result.code !== 0;
        if (isAway && !wasAway)
          log.warn(
            { event: "traces_lost", err: result.error },
            "The trace collector does not answer. Traces are dropped until it answers again.",
          );
        if (!isAway && wasAway) log.info({ event: "traces_sent" }, "The trace collector answers again.");
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
}

const samplers: Readonly<Record<string, (share: number) => Sampler>> = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: (share) => new TraceIdRatioBasedSampler(share),
  parentbased_always_on: () => new ParentBasedSampler({ root: sampleWithCauses(new AlwaysOnSampler()) }),
  parentbased_always_off: () => new ParentBasedSampler({ root: sampleWithCauses(new AlwaysOffSampler()) }),
  parentbased_traceidratio: (share) =>
    new ParentBasedSampler({ root: sampleWithCauses(new TraceIdRatioBasedSampler(share)) }),
};

/**
 * Creates the sampler that OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG name. This version of the SDK does
 * not read these variables itself.
 */
function chooseSampler(environment: EnvironmentVariables): Sampler {
  const name = environment["OTEL_TRACES_SAMPLER"] || "parentbased_always_on";
  const share = Number(environment["OTEL_TRACES_SAMPLER_ARG"] || "1");
  const create = Object.hasOwn(samplers, name) ? samplers[name] : undefined;
  if (create === undefined)
    throw new InvalidSettingError(`OTEL_TRACES_SAMPLER must be one of ${Object.keys(samplers).join(", ")}.`);
  if (!(share >= 0 && share <= 1))
    throw new InvalidSettingError("OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1.");
  return create(share);
}

/**
 * Wraps a sampler so that a span is recorded if it links to a recorded span. For example, the attempts to
 * deliver a webhook are recorded if the request that caused the event is recorded.
 */
function sampleWithCauses(sampler: Sampler): Sampler {
  return {
    // eslint-disable-next-line max-params -- The SDK's own signature.
    shouldSample: (parent, traceId, name, kind, attributes, links) =>
      links.some((link) => (link.context.traceFlags & TraceFlags.SAMPLED) !== 0)
        ? { decision: SamplingDecision.RECORD_AND_SAMPLED }
        : sampler.shouldSample(parent, traceId, name, kind, attributes, links),
    toString: () => `SampleWithCauses{${sampler.toString()}}`,
  };
}

interface TraceIdGenerator extends IdGenerator {
  /**
   * Runs `work` synchronously. If `work` starts a new trace, the trace gets the id `traceId`, or a random id
   * if `traceId` is undefined.
   */
  withTraceId<Result>(traceId: string | undefined, work: () => Result): Result;
}

function createIdGenerator(): TraceIdGenerator {
  const random = new RandomIdGenerator();
  let nextTraceId: string | undefined;
  return {
    generateTraceId: () => nextTraceId ?? random.generateTraceId(),
    generateSpanId: () => random.generateSpanId(),
    withTraceId: (traceId, work) => {
      nextTraceId = traceId;
      try {
        return work();
      } finally {
        nextTraceId = undefined;
      }
    },
  };
}

const kinds = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;

function createTracer(provider: TracerProvider, ids: TraceIdGenerator): Tracer {
  const sdk = provider.getTracer("commerce-gateway");
  return {
    start: (start) => {
      const { name, kind = "internal", attributes, ownTrace, causes = [], startedAt } = start;
      const options = {
        kind: kinds[kind],
        ...(attributes === undefined ? {} : { attributes }),
        ...(startedAt === undefined ? {} : { startTime: startedAt }),
        links: causes.flatMap(toLinks),
      };
      return new RunningSpan(
        ids.withTraceId(ownTrace?.id, () => sdk.startSpan(name, options, findParent(start))),
      );
    },
    current: () => {
      const span = trace.getActiveSpan();
      return span === undefined ? undefined : new RunningSpan(span);
    },
  };
}

function findParent({ caller, ownTrace }: SpanOptions): Context {
  if (ownTrace !== undefined) return ROOT_CONTEXT;
  const remote = caller === undefined ? undefined : toSpanContext(caller);
  return remote === undefined ? context.active() : trace.setSpanContext(ROOT_CONTEXT, remote);
}

function toLinks(traceparent: string): Link[] {
  const cause = toSpanContext(traceparent);
  return cause === undefined ? [] : [{ context: cause }];
}

function toSpanContext(traceparent: string): SpanContext | undefined {
  const parsed = parseTraceparent(traceparent);
  if (parsed === undefined) return undefined;
  const { traceId, spanId, isSampled } = parsed;
  return { traceId, spanId, isRemote: true, traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE };
}

class RunningSpan implements Span {
  readonly #span: SdkSpan;
  constructor(span: SdkSpan) {
    this.#span = span;
  }
  get traceId(): string {
    return this.#span.spanContext().traceId;
  }
  get traceparent(): string {
    const { traceId, spanId, traceFlags } = this.#span.spanContext();
    return `00-${traceId}-${spanId}-${(traceFlags & TraceFlags.SAMPLED) === 0 ? "00" : "01"}`;
  }
  get isRecorded(): boolean {
    return this.#span.isRecording();
  }
  set(attributes: SpanAttributes): void {
    this.#span.setAttributes(attributes);
  }
  fail(error: unknown): void {
    this.#span.setAttribute("error.type", getErrorType(error));
    // A failure with a status below 500 was caused by the caller, so the span is not marked as failed.
    if (!(error instanceof Failure) || error.status >= 500) this.markFailed();
  }
  markFailed(): void {
    this.#span.setStatus({ code: SpanStatusCode.ERROR });
  }
  end(): void {
    this.#span.end();
  }
  run<Result>(work: () => Result): Result {
    return context.with(trace.setSpan(context.active(), this.#span), work);
  }
}

/**
 * Returns the code or the class name of an error. The message is not used, because it may quote values of the
 * request.
 */
function getErrorType(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return "code" in error && typeof error.code === "string" && /^\w{1,64}$/.test(error.code)
    ? error.code
    : error.name;
}
