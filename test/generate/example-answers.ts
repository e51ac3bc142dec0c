/**
 * Records the real answers of all operations for documentation without a demo: sends every example of the
 * reference once to a separate demo at a fixed time, and replaces random ids, secrets and signatures by
 * constant ones.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ServiceApp, createServiceApp } from "#app/app.ts";
import { parseServiceSettings } from "#app/settings.ts";
import { prepareDemoDataAndFile } from "#demo/prepare-demo.ts";
import { createLog } from "#foundation/log.ts";
import {
  type OpenApiDocument,
  type OpenApiDocumentOperation,
  listOpenApiOperations,
} from "#pages/docs/api-document.ts";
import {
  createRequestExampleProvider,
  type RequestExampleProvider,
  shortenExampleAnswer,
  storedAnswersBaseUrl,
} from "#pages/docs/examples.ts";
import {
  type ExampleHttpRequest,
  createExampleHttpRequest,
  newIdempotencyKeyPlaceholder,
} from "#pages/docs/code/example-request.ts";
import { encryptionKeys, publicUrl } from "#test/support/copies.ts";
import { openFresh } from "#test/support/databases.ts";
import { createTokenClient } from "#test/support/token-client.ts";
import { TestClock } from "#test/support/test-clock.ts";
import type { World } from "#test/support/world.ts";
import { createNormaliser } from "./normalised.ts";

const now = new Date("2026-01-31T09:15:00.000Z");

export async function exampleAnswers(): Promise<Record<string, unknown>> {
  const dataDir = mkdtempSync(join(tmpdir(), "answers-"));
  const environment = {
    PORT: "4000",
    PUBLIC_URL: publicUrl,
    DATA_DIR: dataDir,
    ENCRYPTION_KEYS: encryptionKeys,
  };
  const clock = new TestClock(now);
  const database = await openFresh("postgres");
  const app = await createServiceApp({
    settings: parseServiceSettings(environment),
    log: createLog("silent"),
    clock,
    database,
  });
  try {
    const demo = await prepareDemoDataAndFile(app.database, { ...app.services, dataDir, now });
    if (demo === undefined) throw new Error("There is no demo.");
    const world = { app, database: app.database, demo, clock } as unknown as World;
    return await askAll(app, {
      examples: createRequestExampleProvider(demo),
      credentials: await credentialsOf(world),
    });
  } finally {
    await app.close();
    await database.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

type Credentials = Readonly<Record<"$KEY" | "$ACCESS_TOKEN" | "$DPOP_PROOF", string>>;

/** Creates an API key, and an access token with a new client. */
async function credentialsOf(world: World): Promise<Credentials> {
  const client = await createTokenClient(world);
  const token = await client.token();
  return {
    $KEY: world.demo.keys.full,
    $ACCESS_TOKEN: token,
    $DPOP_PROOF: await client.proof({ url: "/api/v1/oauth/authorize" }, token),
  };
}

interface Asking {
  readonly examples: RequestExampleProvider;
  readonly credentials: Credentials;
}

/** Sends reads first, so that they show the state before any change. */
async function askAll(app: ServiceApp, asking: Asking): Promise<Record<string, unknown>> {
  const { body } = await app.server.inject({ url: "/openapi.json" });
  const operations = listOpenApiOperations(JSON.parse(body) as OpenApiDocument);
  const answers = new Map<string, unknown>();
  for (const operation of operations.toSorted(
    (one, other) => Number(other.method === "GET") - Number(one.method === "GET"),
  ))
    answers.set(operation.id, await ask(app, operation, asking));
  return Object.fromEntries(operations.map(({ id }) => [id, answers.get(id)]));
}

async function ask(
  app: ServiceApp,
  operation: OpenApiDocumentOperation,
  { examples, credentials }: Asking,
): Promise<unknown> {
  const example = examples.of(operation);
  const request = createExampleHttpRequest(operation, example, publicUrl);
  const send = async (sent: ExampleHttpRequest, body: unknown) => {
    const url = sent.url.slice(publicUrl.length);
    const headers = Object.fromEntries(
      Object.entries(sent.headers).map(([name, value]) => [name, filled(value, credentials)]),
    );
    const payload = body === null ? {} : { payload: JSON.stringify(body) };
    const answer = await app.server.inject({ method: sent.method as "GET", url, headers, ...payload });
    if (answer.statusCode !== 200) throw new Error(`${operation.id}: ${answer.statusCode} ${answer.body}`);
    return answer;
  };
  if (request.before !== null) await send(request.before, request.before.body);
  const seen =
    request.versionUrl === null
      ? undefined
      : await send({ ...request, method: "GET", url: request.versionUrl }, null);
  const version = Number(/\d+/.exec(String(seen?.headers["etag"] ?? 0))?.[0]);
  const { body } = await send(
    request,
    request.versionUrl === null ? request.body : { ...request.body, expectedVersion: version },
  );
  const normalise = createNormaliser(placesOf(operation, examples));
  return shortenExampleAnswer(normalise(JSON.parse(body.replaceAll(publicUrl, storedAnswersBaseUrl))));
}

const filled = (value: string, credentials: Credentials): string =>
  value === newIdempotencyKeyPlaceholder
    ? crypto.randomUUID()
    : value.replaceAll(/\$[A-Z_]+/g, (name) => credentials[name as keyof Credentials]);

/** Maps the ids in the request to those that the reference shows without a demo. */
function placesOf(
  operation: OpenApiDocumentOperation,
  examples: RequestExampleProvider,
): ReadonlyMap<string, string> {
  const [real, stored] = [
    examples.of(operation).parameters,
    createRequestExampleProvider(undefined).of(operation).parameters,
  ];
  return new Map(
    Object.entries(real).flatMap(([name, value]) =>
      /_[0-9a-z]{26}$/.test(value) ? [[value, stored[name] ?? value] as const] : [],
    ),
  );
}
