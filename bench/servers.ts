/**
 * The compared servers: the command that starts each server, and the functions that encode requests and
 * decode answers. A new server needs only an entry in `servers`.
 */
import { join } from "node:path";
import type { ServerProgram } from "./children.ts";
import { lowerCaseEnums } from "./enum-spelling.ts";
import { withNewIdempotencyKey } from "./idempotency-keys.ts";
import { type BenchRequest, getScenarioParts, type MeasuredScenario, type Scenario } from "./scenario.ts";
import { startMemoryEnvironment, startNodeOptions } from "./start-options.ts";
import { trustedCartDocumentId, withUniqueComment } from "./trusted-cart.ts";

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
  readonly request: (scenario: Scenario, request: BenchRequest) => Buffer;
  /** Converts an answer into the body that REST would return. */
  readonly unwrap: (scenario: Scenario, body: unknown) => unknown;
}

export const yardstickName = "yardstick";

/** The public URL of all servers, which answers contain. */
const publicUrl = "http://commerce.test";

const common = ({ databaseUrl }: ServerSettings): Record<string, string> => ({
  DATABASE_URL: databaseUrl,
  PUBLIC_URL: publicUrl,
});

/** The command that starts the service of the checkout in the given folder; of this checkout by default. */
export const createServiceCommand = (folder = ""): readonly string[] => [
  ...startNodeOptions,
  join(folder, "src/main.ts"),
  "serve",
];

export function createServiceEnvironment(settings: ServerSettings): Record<string, string> {
  return {
    ...common(settings),
    ...startMemoryEnvironment,
    HOST: "127.0.0.1",
    DATA_DIR: settings.dataFolder,
    ENCRYPTION_KEYS: `bench:${Buffer.alloc(32, 7).toString("base64")}`,
    // The rate limiter counts requests as in production, but the limits are too high to be reached.
    RATE_LIMIT_SCALE: "1000000",
    LOG_LEVEL: "info",
  };
}

const restRequest = (_scenario: Scenario, { method, path, headers, body }: BenchRequest): Buffer =>
  encodeRequest({ method, path, headers, body: body === undefined ? undefined : JSON.stringify(body) });

const graphqlRequest = ({ document }: Scenario, { variables, headers }: BenchRequest): Buffer =>
  encodeRequest({
    method: "POST",
    path: "/graphql",
    headers,
    body: JSON.stringify({ query: document, variables }),
  });

const internalRequest = (scenario: Scenario, request: BenchRequest): Buffer =>
  graphqlRequest(scenario, { ...request, headers: request.internalHeaders ?? {} });

const unchangedBody = (_scenario: Scenario, body: unknown): unknown => body;

function unwrapGraphql({ envelope }: Scenario, body: unknown): unknown {
  const { errors } = body as { readonly errors?: unknown };
  if (errors !== undefined) throw new Error(`GraphQL: ${JSON.stringify(errors).slice(0, 500)}`);
  const { data } = body as { readonly data: unknown };
  // The answer also contains the cost of the query, which is not compared.
  return ["data", ...envelope].reduce((value, step) => (value as Readonly<Record<string, unknown>>)[step], {
    data,
  } as unknown);
}

function unwrapInternal(scenario: Scenario, body: unknown): unknown {
  return lowerCaseEnums(scenario.document, unwrapGraphql(scenario, body));
}

/**
 * Converts an answer of SOFA, which consists of the value of the query field. The list of a search has the
 * name `items`.
 */
function unwrapSofa({ envelope }: Scenario, body: unknown): unknown {
  if (envelope.length === 0) return { data: body };
  const { items, ...rest } = body as { readonly items: unknown };
  return { data: items, ...rest };
}

const newTextRequest = (scenario: Scenario, request: BenchRequest): Buffer =>
  internalRequest({ ...scenario, document: withUniqueComment(scenario.document) }, request);

const trustedRequest = (_scenario: Scenario, { variables, internalHeaders = {} }: BenchRequest): Buffer =>
  encodeRequest({
    method: "POST",
    path: "/graphql",
    headers: internalHeaders,
    body: JSON.stringify({ documentId: trustedCartDocumentId, variables }),
  });

/** The scenarios that the plain schema (`servers/plain-schema.ts`) supports. */
const plainReads = ["product", "changes", "search", "words", "cart", "graphql"];

const serviceDefinition: Pick<BenchServer, "environment" | "request" | "unwrap"> = {
  environment: createServiceEnvironment,
  request: (scenario, request) =>
    scenario.isInternal === true ? internalRequest(scenario, request) : restRequest(scenario, request),
  unwrap: (scenario, body) => (scenario.isInternal === true ? unwrapInternal(scenario, body) : body),
};

/**
 * The environment variable BENCH_BEFORE names the folder of another checkout of this project, with installed
 * packages, whose code is compared with the current code.
 */
const { BENCH_BEFORE: beforeFolder } = process.env;
const before: readonly BenchServer[] =
  beforeFolder === undefined
    ? []
    : [
        { name: "before", command: createServiceCommand(beforeFolder), ...serviceDefinition },
        {
          ...serviceDefinition,
          name: "before-trusted",
          only: ["graphql"],
          command: createServiceCommand(beforeFolder),
          request: trustedRequest,
        },
      ];

export const servers: readonly BenchServer[] = [
  {
    name: yardstickName,
    command: ["bench/servers/yardstick.ts"],
    environment: common,
    request: restRequest,
    unwrap: unchangedBody,
  },
  {
    name: "yardstick-batched",
    command: ["bench/servers/yardstick.ts", "--batched"],
    environment: common,
    request: restRequest,
    unwrap: unchangedBody,
  },
  {
    name: "ours",
    command: createServiceCommand(),
    ...serviceDefinition,
  },
  ...before,
  {
    ...serviceDefinition,
    name: "ours-uncached",
    only: ["product", "search", "words", "changes"],
    command: createServiceCommand(),
    environment: (settings) => ({ ...createServiceEnvironment(settings), RESPONSE_CACHE_MB: "0" }),
  },
  {
    ...serviceDefinition,
    name: "ours-new-text",
    only: ["graphql"],
    command: createServiceCommand(),
    request: newTextRequest,
  },
  {
    ...serviceDefinition,
    name: "ours-trusted",
    only: ["graphql"],
    command: createServiceCommand(),
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
    request: (scenario, request) =>
      scenario.isInternal === true ? internalRequest(scenario, request) : graphqlRequest(scenario, request),
    unwrap: unwrapGraphql,
  },
  {
    name: "sofa",
    only: ["product", "changes", "search", "words", "cart"],
    command: ["bench/servers/sofa.ts"],
    environment: common,
    request: restRequest,
    unwrap: unwrapSofa,
  },
];

/** Returns whether a server supports all requests of a scenario. */
export const supportsScenario = ({ only }: BenchServer, scenario: MeasuredScenario): boolean =>
  getScenarioParts(scenario).every(({ name }) => only === undefined || only.includes(name));

interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export function encodeRequest({ method, path, headers, body }: Request): Buffer {
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

export function toServerProgram(
  server: BenchServer,
  settings: ServerSettings,
  measured: MeasuredScenario,
): ServerProgram {
  const [scenario] = getScenarioParts(measured);
  const request = scenario?.requests[0];
  if (scenario === undefined || request === undefined)
    throw new Error(`The scenario ${measured.name} has no requests.`);
  return {
    command: server.command,
    environment: server.environment(settings),
    firstRequest: withNewIdempotencyKey(server.request(scenario, request)),
  };
}
