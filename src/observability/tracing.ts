/**
 * Sends traces to a collector by OpenTelemetry's protocol. Loaded only where OTEL_EXPORTER_OTLP_ENDPOINT
 * names one.
 */
import {
  type Context,
  context,
  type Link,
  ROOT_CONTEXT,
  type Span as SdkSpan,
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
  type Attributes,
  parseTraceparent,
  type Span,
  type SpanStart,
  type Tracer,
  useTracer,
} from "#foundation/tracing.ts";
import { BadSetting, type Environment } from "#foundation/failure.ts";

export interface TracingOptions {
  /** Where a collector listens for OTLP over HTTP, without `/v1/traces`. */
  readonly endpoint: string;
  readonly environment: Environment;
  readonly log: Log;
  /** How often spans are sent. */
  readonly everyMs?: number;
}

/** What waits for the collector beyond this is dropped. */
const waitingMax = 8_192;
const batchMax = 1_024;
/**
 * While the collector is away, the SDK begins one more with each that fails. At the end all that waits goes
 * at once, beside the one that is under way.
 */
const exportsMax = waitingMax / batchMax + 1;
const usualEveryMs = 1_000;
/** With its retries. */
const exportMsMax = 5_000;
/** A process that ends has ten seconds for everything, most of which are its requests' and webhooks'. */
const stopMsMax = 1_500;
/** A statement's text is what is longest. */
const textMax = 4_096;
/** More than there are events in one fan-out, each of which may have a cause of its own. */
const linksMax = 256;

/** Gives what sends the last spans and ends it. */
export function startTracing({
  endpoint,
  environment,
  log,
  everyMs = usualEveryMs,
}: TracingOptions): () => Promise<void> {
  const exporter = new OTLPTraceExporter({
    url: `${endpoint}/v1/traces`,
    timeoutMillis: exportMsMax,
    concurrencyLimit: exportsMax,
  });
  const processor = new BatchSpanProcessor({
    exporter: logCollectorOutages(exporter, log),
    maxQueueSize: waitingMax,
    maxExportBatchSize: batchMax,
    scheduledDelayMillis: everyMs,
    exportTimeoutMillis: 2 * exportMsMax,
  });
  const ids = createIds();
  const provider = new TracerProvider({
    resource: describeService(),
    sampler: chooseSampler(environment),
    idGenerator: ids,
    spanProcessors: [processor],
    spanLimits: { attributeValueLengthLimit: textMax, linkCountLimit: linksMax },
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  useTracer(createTracer(provider, ids));
  return async () => {
    useTracer(undefined);
    let patience: NodeJS.Timeout | undefined;
    const over = new Promise<void>((resolve) => (patience = setTimeout(resolve, stopMsMax)));
    // Spans that do not arrive are lost; nobody is kept waiting for them.
    await Promise.race([provider.shutdown().catch(() => undefined), over]);
    clearTimeout(patience);
    context.disable();
  };
}

function describeService(): Resource {
  const detectors = [serviceInstanceIdDetector, resourceAttributesEnvDetector, serviceNameEnvDetector];
  const ours = resourceFromAttributes({ "service.name": "commerce-gateway", "process.pid": process.pid });
  return ours.merge(detectResources({ detectors }));
}

/** One line when the collector begins to be out of reach, and one when it is there again. */
export function logCollectorOutages(exporter: SpanExporter, log: Log): SpanExporter {
  let isAway = false;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const wasAway = isAway;
        isAway = result.code !== 0;
        if (isAway && !wasAway)
          log.warn(
            { event: "traces_lost", err: result.error },
            "Traces do not reach their collector: they are dropped meanwhile.",
          );
        if (!isAway && wasAway) log.info({ event: "traces_sent" }, "Traces reach their collector again.");
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
}

const samplers: Readonly<Record<string, (share: number) => Sampler>> = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: (share) => new TraceIdRatioBasedSampler(share),
  parentbased_always_on: () => new ParentBasedSampler({ root: withItsCause(new AlwaysOnSampler()) }),
  parentbased_always_off: () => new ParentBasedSampler({ root: withItsCause(new AlwaysOffSampler()) }),
  parentbased_traceidratio: (share) =>
    new ParentBasedSampler({ root: withItsCause(new TraceIdRatioBasedSampler(share)) }),
};

/** The standard names, which this version of the SDK does not read by itself. */
function chooseSampler(environment: Environment): Sampler {
  const name = environment["OTEL_TRACES_SAMPLER"] || "parentbased_always_on";
  const share = Number(environment["OTEL_TRACES_SAMPLER_ARG"] || "1");
  const create = Object.hasOwn(samplers, name) ? samplers[name] : undefined;
  if (create === undefined)
    throw new BadSetting(`OTEL_TRACES_SAMPLER must be one of ${Object.keys(samplers).join(", ")}.`);
  if (!(share >= 0 && share <= 1))
    throw new BadSetting("OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1.");
  return create(share);
}

/**
 * What was brought about by something that is recorded is recorded too: a webhook's attempts with the request
 * that they tell of.
 */
function withItsCause(sampler: Sampler): Sampler {
  return {
    // eslint-disable-next-line max-params -- The SDK's own signature.
    shouldSample: (at, traceId, name, kind, attributes, links) =>
      links.some((link) => (link.context.traceFlags & TraceFlags.SAMPLED) !== 0)
        ? { decision: SamplingDecision.RECORD_AND_SAMPLED }
        : sampler.shouldSample(at, traceId, name, kind, attributes, links),
    toString: () => `WithItsCause{${sampler.toString()}}`,
  };
}

interface Ids extends IdGenerator {
  /** The trace that is begun by the work has this id. */
  withTraceId<Result>(traceId: string | undefined, work: () => Result): Result;
}

function createIds(): Ids {
  const random = new RandomIdGenerator();
  let wanted: string | undefined;
  return {
    generateTraceId: () => wanted ?? random.generateTraceId(),
    generateSpanId: () => random.generateSpanId(),
    withTraceId: (traceId, work) => {
      wanted = traceId;
      try {
        return work();
      } finally {
        wanted = undefined;
      }
    },
  };
}

const kinds = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;

function createTracer(provider: TracerProvider, ids: Ids): Tracer {
  const sdk = provider.getTracer("commerce-gateway");
  return {
    start: (start) => {
      const { name, kind = "internal", attributes, ownTrace, causes = [], startedAt } = start;
      const options = {
        kind: kinds[kind],
        ...(attributes === undefined ? {} : { attributes }),
        ...(startedAt === undefined ? {} : { startTime: startedAt }),
        links: causes.flatMap(linkTo),
      };
      return new RunningSpan(
        ids.withTraceId(ownTrace?.id, () => sdk.startSpan(name, options, parentOf(start))),
      );
    },
    current: () => {
      const span = trace.getActiveSpan();
      return span === undefined ? undefined : new RunningSpan(span);
    },
  };
}

function parentOf({ caller, ownTrace }: SpanStart): Context {
  if (ownTrace !== undefined) return ROOT_CONTEXT;
  const asked = caller === undefined ? undefined : parseTraceparent(caller);
  if (asked === undefined) return context.active();
  const { traceId, spanId, isSampled } = asked;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    isRemote: true,
    traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
  });
}

function linkTo(traceparent: string): Link[] {
  const cause = parseTraceparent(traceparent);
  if (cause === undefined) return [];
  const { traceId, spanId, isSampled } = cause;
  return [
    {
      context: {
        traceId,
        spanId,
        isRemote: true,
        traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
      },
    },
  ];
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
  set(attributes: Attributes): void {
    this.#span.setAttributes(attributes);
  }
  fail(error: unknown): void {
    this.#span.setAttribute("error.type", typeOf(error));
    // What a caller did wrong is no fault of ours.
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

/** A message may quote what was sent; a code never does. */
function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return "code" in error && typeof error.code === "string" && /^\w{1,64}$/.test(error.code)
    ? error.code
    : error.name;
}
