/** A local collector of traces that accepts what the service exports: OTLP over HTTP as JSON. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** The parent span's id; undefined for the root span of a trace. */
  readonly parentSpanId: string | undefined;
  readonly name: string;
  /** The span's kind in OTLP: 1 internal, 2 server, 3 client. */
  readonly kind: number;
  /** Whether the span's status is "error". */
  readonly isFailed: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  /** The name of the service that exported the span. */
  readonly service: unknown;
}

export interface Collector extends AsyncDisposable {
  readonly endpoint: string;
  readonly spans: CollectedSpan[];
  /** The bodies of the received requests, as JSON texts. */
  readonly texts: string[];
  /** The headers of the last request. */
  readonly headers: () => Readonly<Record<string, string | string[] | undefined>>;
}

interface Value {
  readonly stringValue?: string;
  readonly intValue?: number;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
  readonly arrayValue?: { readonly values: readonly Value[] };
}
type Pairs = readonly { readonly key: string; readonly value: Value }[];

interface Sent {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Pairs };
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
  }[];
}

interface SentSpan extends Omit<
  CollectedSpan,
  "attributes" | "isFailed" | "service" | "parentSpanId" | "links"
> {
  readonly parentSpanId?: string;
  readonly links?: CollectedSpan["links"];
  readonly attributes: Pairs;
  readonly status: { readonly code: number };
}

export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const texts: string[] = [];
  let headers: ReturnType<Collector["headers"]> = {};
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const sent = await json(request);
    texts.push(JSON.stringify(sent));
    spans.push(...read(sent as Sent));
    response
      .writeHead(request.url === "/v1/traces" ? 200 : 404, { "content-type": "application/json" })
      .end("{}");
  };
  const server = createServer((request, response) => {
    ({ headers } = request);
    void take(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    texts,
    headers: () => headers,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

function read({ resourceSpans }: Sent): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = toObject(resource.attributes)["service.name"];
    return scopeSpans.flatMap(({ spans }) =>
      spans.map(({ parentSpanId, attributes, status, links = [], ...span }) => ({
        ...span,
        links,
        parentSpanId: parentSpanId === "" ? undefined : parentSpanId,
        attributes: toObject(attributes),
        isFailed: status.code === 2,
        service,
      })),
    );
  });
}

const toObject = (pairs: Pairs): Record<string, unknown> =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, toPlain(value)]));

function toPlain({ arrayValue, ...value }: Value): unknown {
  return arrayValue === undefined ? Object.values(value)[0] : arrayValue.values.map(toPlain);
}
