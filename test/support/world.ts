/**
 * The whole service on a separate database with the demo data, called in process: `await using world = await
 * createWorld()` frees everything.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ServiceApp, type ServiceAppOptions, createServiceApp } from "#app/app.ts";
import type { ProcessRole } from "#app/background.ts";
import { parseServiceSettings } from "#app/settings.ts";
import type { OpenedDatabase } from "#database/connect.ts";
import { type DemoJsonFileContent, readDemoJsonFile } from "#demo/demo-file.ts";
import { createLog } from "#foundation/log.ts";
import { isTracingEnabled } from "#foundation/tracing.ts";
import { openGraphqlMesh, type OpenedMesh } from "#mesh/open-mesh.ts";
import type { HostNameResolver } from "#webhooks/safe-addresses.ts";
import { copyDemo, publicUrl } from "./copies.ts";
import { findUndocumentedFailures } from "./documented-failures.ts";
import { type Engine, fewConnections, openCopy, type OpenOptions } from "./databases.ts";
import { TestClock } from "./test-clock.ts";

export { publicUrl };

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  // eslint-disable-next-line typescript/no-explicit-any -- Tests look into answers of any shape.
  readonly body: any;
}

/** One executed statement. The times are milliseconds of `performance.now()`. */
export interface StatementExecution {
  readonly text: string;
  readonly sentAt: number;
  readonly answeredAt: number;
}

export interface World extends AsyncDisposable {
  readonly app: ServiceApp;
  readonly database: OpenedDatabase;
  readonly demo: DemoJsonFileContent;
  readonly clock: TestClock;
  /** The SQL of every statement since the array was last emptied. */
  readonly statements: string[];
  /** The same statements with the times between which they ran. */
  readonly executions: StatementExecution[];
  /** The log lines, parsed from JSON. */
  readonly logged: Record<string, unknown>[];
  readonly get: (url: string, headers?: Record<string, string>) => Promise<Answer>;
  readonly send: (request: {
    method: string;
    url: string;
    headers?: Record<string, string>;
    body?: unknown;
  }) => Promise<Answer>;
  /** Sends a GET request with an API key of demo.json. */
  readonly getWithKey: (url: string, key?: keyof DemoJsonFileContent["keys"]) => Promise<Answer>;
  readonly graphql: (
    query: string,
    options?: { variables?: Record<string, unknown>; token?: string | null },
  ) => Promise<Answer>;
}

export interface WorldOptions {
  /** Added to the environment from which the settings are read. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Resolves host names; by default no name resolves. */
  readonly resolveName?: HostNameResolver;
  /** The number of connections to PostgreSQL; 4 by default. */
  readonly poolSize?: number;
  /** The process's role: which background work runs beside serving; everything by default. */
  readonly role?: ProcessRole;
  /** The folder of an alternative `.meshrc.yaml`. */
  readonly meshFolder?: string;
  /** Fetches the metadata documents of agents; by default only from public addresses. */
  readonly fetchDocument?: NonNullable<ServiceAppOptions["fetchDocument"]>;
}

let sharedMesh: Promise<OpenedMesh> | undefined;

/**
 * Opens the project's GraphQL Mesh once per test process, because opening Mesh and compiling the documents
 * take half of the time that a world needs. Mesh holds no data of a world. No world closes the shared Mesh.
 * All worlds get the same object, because the service builds the REST operations and compiles their schemas
 * once for each Mesh object.
 */
function openSharedMesh(): Promise<OpenedMesh> {
  sharedMesh ??= openGraphqlMesh().then((mesh) => ({ ...mesh, close: () => undefined }));
  return sharedMesh;
}

export async function createWorld(
  engine: Engine = "postgres",
  {
    environment = {},
    resolveName = () => Promise.resolve([]),
    role = "all",
    poolSize = fewConnections,
    ...options
  }: WorldOptions = {},
): Promise<World> {
  const statements: string[] = [];
  const executions: StatementExecution[] = [];
  const logged: Record<string, unknown>[] = [];
  const dataDir = mkdtempSync(join(tmpdir(), "world-"));
  const { database, seededAt } = await openDemo(engine, {
    dataDir,
    poolSize,
    onStatement: ({ query, queryDurationMillis }) => {
      statements.push(query.sql);
      const answeredAt = performance.now();
      executions.push({ text: query.sql, sentAt: answeredAt - queryDurationMillis, answeredAt });
    },
  });
  const clock = new TestClock(seededAt);
  const demo = readDemo(dataDir);
  const settings = parseServiceSettings({
    PORT: "4000",
    PUBLIC_URL: publicUrl,
    DATA_DIR: dataDir,
    RATE_LIMIT_SCALE: "0",
    DATABASE_POOL: String(poolSize),
    ...environment,
  });
  const log = createLog("info", {
    write: (line: string) => void logged.push(JSON.parse(line) as Record<string, unknown>),
  });
  // Mesh checks when it is opened whether tracing is on.
  const isShared = options.meshFolder === undefined && !isTracingEnabled();
  const mesh = isShared ? { mesh: await openSharedMesh() } : {};
  const app = await createServiceApp({
    settings,
    log,
    clock,
    database,
    resolveName,
    role,
    ...mesh,
    ...options,
  });
  statements.length = 0;

  const send: World["send"] = async ({ method, url, headers = {}, body }) => {
    const payload =
      body === undefined ? {} : { payload: typeof body === "string" ? body : JSON.stringify(body) };
    const contentType = body === undefined ? {} : { "content-type": "application/json" };
    const response = await app.server.inject({
      method: method as "GET",
      url,
      headers: { ...contentType, ...headers },
      ...payload,
    });
    const answer = {
      status: response.statusCode,
      headers: response.headers as Answer["headers"],
      text: response.body,
      body: parse(response.body),
    };
    const undocumented = url === "/graphql" ? findUndocumentedFailures(body, answer.body) : [];
    if (undocumented.length > 0)
      throw new Error(`The description of a mutation lacks an error code: ${undocumented.join(", ")}`);
    return answer;
  };
  const get: World["get"] = (url, headers) =>
    send({ method: "GET", url, ...(headers === undefined ? {} : { headers }) });
  return {
    app,
    database,
    demo,
    clock,
    statements,
    executions,
    logged,
    get,
    send,
    getWithKey: (url, key = "full") => get(url, { authorization: `Bearer ${demo.keys[key]}` }),
    graphql: (query, { variables, token = "admin" } = {}) => {
      const value =
        token === null
          ? undefined
          : token in demo.tokens
            ? demo.tokens[token as keyof DemoJsonFileContent["tokens"]]
            : token;
      return send({
        method: "POST",
        url: "/graphql",
        headers: value === undefined ? {} : { authorization: `Bearer ${value}` },
        body: { query, variables },
      });
    },
    async [Symbol.asyncDispose]() {
      await app.close();
      await database.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

interface DemoPlace extends Pick<OpenOptions, "onStatement" | "poolSize"> {
  readonly dataDir: string;
}

async function openDemo(
  engine: Engine,
  { dataDir, ...options }: DemoPlace,
): Promise<{ database: OpenedDatabase; seededAt: Date }> {
  const { database, seededAt, fill } = await copyDemo(engine);
  fill(dataDir);
  return { database: await openCopy({ ...database, ...options }), seededAt };
}

function readDemo(dataDir: string): DemoJsonFileContent {
  const demo = readDemoJsonFile(dataDir);
  if (demo === undefined) throw new Error("There is no demo.json.");
  return demo as DemoJsonFileContent;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
