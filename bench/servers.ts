/**
 * The compared servers: how each is started, and how the same requests are sent to each. A new server needs
 * only an entry in `servers`.
 */
import { join } from "node:path";
import type { ServerProgram } from "./children.ts";
import { lowerCaseEnums } from "./enum-spelling.ts";
import { withFreshKey } from "./idempotency-keys.ts";
import type { BenchRequest, Scenario } from "./scenario.ts";
import { trustedCartId, withOwnComment } from "./trusted-cart.ts";

export interface ServerSettings {
  readonly databaseUrl: string;
  readonly dataFolder: string;
}

export interface BenchServer {
  readonly name: string;
  /** The scenarios that the server supports; all if left out. */
  readonly only?: readonly string[];
  readonly command: readonly string[];
  readonly environment: (settings: ServerSettings) => Readonly<Record<string, string>>;
  readonly request: (scenario: Scenario, ask: BenchRequest) => Buffer;
  /** Converts an answer into the body that REST would return. */
  readonly unwrap: (scenario: Scenario, body: unknown) => unknown;
}

export const yardstick = "yardstick";

/** The public URL of all servers, which is part of their answers. */
const publicUrl = "http://commerce.test";

const common = ({ databaseUrl }: ServerSettings): Record<string, string> => ({
  DATABASE_URL: databaseUrl,
  PUBLIC_URL: publicUrl,
});

export function oursEnvironment(settings: ServerSettings): Record<string, string> {
  return {
    ...common(settings),
    HOST: "127.0.0.1",
    DATA_DIR: settings.dataFolder,
    ENCRYPTION_KEYS: `bench:${Buffer.alloc(32, 7).toString("base64")}`,
    // Requests are counted as in production, but the quotas are never reached.
    RATE_LIMIT_SCALE: "1000000",
    LOG_LEVEL: "info",
  };
}

const restRequest = (_scenario: Scenario, { method, path, headers, body }: BenchRequest): Buffer =>
  toRequest({ method, path, headers, body: body === undefined ? undefined : JSON.stringify(body) });

const graphqlRequest = ({ document }: Scenario, { variables, headers }: BenchRequest): Buffer =>
  toRequest({
    method: "POST",
    path: "/graphql",
    headers,
    body: JSON.stringify({ query: document, variables }),
  });

const internalRequest = (scenario: Scenario, ask: BenchRequest): Buffer =>
  graphqlRequest(scenario, { ...ask, headers: ask.internalHeaders ?? {} });

const unchangedBody = (_scenario: Scenario, body: unknown): unknown => body;

function unwrapGraphql({ envelope }: Scenario, body: unknown): unknown {
  const { errors } = body as { readonly errors?: unknown };
  if (errors !== undefined) throw new Error(`GraphQL: ${JSON.stringify(errors).slice(0, 500)}`);
  const { data } = body as { readonly data: unknown };
  // The answer also has the cost of the query, which is ignored.
  return ["data", ...envelope].reduce((value, step) => (value as Readonly<Record<string, unknown>>)[step], {
    data,
  } as unknown);
}

function unwrapInternal(scenario: Scenario, body: unknown): unknown {
  return lowerCaseEnums(scenario.document, unwrapGraphql(scenario, body));
}

/** Converts an answer of SOFA, which has only the field's value. In a search, its list is called `items`. */
function unwrapSofa({ envelope }: Scenario, body: unknown): unknown {
  if (envelope.length === 0) return { data: body };
  const { items, ...rest } = body as { readonly items: unknown };
  return { data: items, ...rest };
}

const newTextRequest = (scenario: Scenario, ask: BenchRequest): Buffer =>
  internalRequest({ ...scenario, document: withOwnComment(scenario.document) }, ask);

const trustedRequest = (_scenario: Scenario, { variables, internalHeaders = {} }: BenchRequest): Buffer =>
  toRequest({
    method: "POST",
    path: "/graphql",
    headers: internalHeaders,
    body: JSON.stringify({ documentId: trustedCartId, variables }),
  });

/** The scenarios that the plain resolvers support. */
const plainReads = ["product", "search", "words", "cart", "graphql"];

const oursDefinition: Pick<BenchServer, "environment" | "request" | "unwrap"> = {
  environment: oursEnvironment,
  request: (scenario, ask) =>
    scenario.isInternal === true ? internalRequest(scenario, ask) : restRequest(scenario, ask),
  unwrap: (scenario, body) => (scenario.isInternal === true ? unwrapInternal(scenario, body) : body),
};

/**
 * The environment variable BENCH_BEFORE is the folder of another checkout of this project, with its packages
 * installed. Its code is compared with the current code.
 */
const { BENCH_BEFORE: beforeFolder } = process.env;
const before: readonly BenchServer[] =
  beforeFolder === undefined
    ? []
    : [{ name: "before", command: [join(beforeFolder, "src/main.ts"), "serve"], ...oursDefinition }];

export const servers: readonly BenchServer[] = [
  {
    name: yardstick,
    command: ["bench/servers/yardstick.ts"],
    environment: common,
    request: restRequest,
    unwrap: unchangedBody,
  },
  {
    name: "ours",
    command: ["src/main.ts", "serve"],
    ...oursDefinition,
  },
  ...before,
  {
    ...oursDefinition,
    name: "ours-new-text",
    only: ["graphql"],
    command: ["src/main.ts", "serve"],
    request: newTextRequest,
  },
  {
    ...oursDefinition,
    name: "ours-trusted",
    only: ["graphql"],
    command: ["src/main.ts", "serve"],
    request: trustedRequest,
  },
  {
    name: "yoga-ours",
    command: ["bench/servers/yoga-ours.ts"],
    environment: common,
    request: graphqlRequest,
    unwrap: unwrapGraphql,
  },
  {
    name: "yoga",
    only: plainReads,
    command: ["bench/servers/yoga.ts"],
    environment: common,
    request: (scenario, ask) =>
      scenario.isInternal === true ? internalRequest(scenario, ask) : graphqlRequest(scenario, ask),
    unwrap: unwrapGraphql,
  },
  {
    name: "sofa",
    only: ["product", "search", "words", "cart"],
    command: ["bench/servers/sofa.ts"],
    environment: common,
    request: restRequest,
    unwrap: unwrapSofa,
  },
];

export const canAnswer = ({ only }: BenchServer, scenario: string): boolean =>
  only === undefined || only.includes(scenario);

interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export function toRequest({ method, path, headers, body }: Request): Buffer {
  const length =
    body === undefined
      ? {}
      : { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) };
  const lines = Object.entries({
    host: "commerce.test",
    accept: "application/json",
    ...headers,
    ...length,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body ?? ""}`);
}

export function programOf(server: BenchServer, settings: ServerSettings, scenario: Scenario): ServerProgram {
  const [ask] = scenario.asks;
  if (ask === undefined) throw new Error(`The scenario ${scenario.name} has no requests.`);
  return {
    command: server.command,
    environment: server.environment(settings),
    firstRequest: withFreshKey(server.request(scenario, ask)),
  };
}
