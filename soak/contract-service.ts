/** Runs the contract test (guarantee 14) against a service process. */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { openDatabase } from "#database/connect.ts";
import { type DemoJsonFileContent, readDemoJsonFile } from "#demo/demo-file.ts";
import { openWire, type Sent } from "#test/contract/wire.ts";
import { digestTables } from "#test/support/all-rows.ts";
import { createAppBrowser } from "./app-browser.ts";
import { type ContractPlan, runContract } from "./contract.ts";
import type { Report } from "./report.ts";
import { type Service, startService } from "./service.ts";

const publicUrl = "https://soak.example";
const environment = { PUBLIC_URL: publicUrl };

export interface ContractOptions {
  /** The URL of PostgreSQL; undefined for the embedded database. */
  readonly databaseUrl: string | undefined;
  readonly isOver: () => boolean;
  readonly requestsMax: number;
  readonly onStep: (text: string) => void;
}

/**
 * Runs the contract test. On PostgreSQL, the service runs as a gateway, so that no background work changes
 * rows. The rows of the embedded database are read while the service is stopped.
 */
export async function runContractAtService({
  databaseUrl,
  isOver,
  requestsMax,
  onStep,
}: ContractOptions): Promise<Report> {
  const command = databaseUrl === undefined ? "serve" : "gateway";
  await using service = await startService({
    databaseUrl,
    command,
    environment: { ...environment, DEMO: "1" },
  });
  using wire = openWire(service.port);
  const tokenFor = await authorizeApp(service);
  const report = await runContract({
    engine: service.engine,
    send: wire.send,
    demo: readDemoJsonFile(service.folder) as DemoJsonFileContent,
    seed: Number(process.env["PROPERTY_SEED"] ?? Math.trunc(Date.now() / 1000)),
    perOperation: 25,
    brokenPerOperation: 75,
    rows: () => digestRows(service, databaseUrl),
    tokenFor,
    isOver: ({ requests }) => requests >= requestsMax || isOver(),
    onStep,
  });
  return { ...report, violations: [...report.violations, ...service.faults] };
}

/**
 * The tables that are not compared, because reads write to them. The lists below have the tables to which
 * workers and sweeps write.
 */
const tablesOfRequests = ["api_request", "dpop_proof", "oauth_item"];
const tablesOfWorker = [
  "webhook_attempt",
  "webhook_delivery",
  "webhook_endpoint",
  "webhook_endpoint_health",
  "webhook_endpoint_hour",
];
const tablesOfSweeps = [
  "search_change",
  "search_document",
  "search_due",
  "search_offer",
  "search_query_day",
  "search_summary",
  "search_term",
];

async function digestRows(
  service: Service,
  databaseUrl: string | undefined,
): Promise<Readonly<Record<string, string>>> {
  const all =
    databaseUrl === undefined
      ? await digestRowsWhileStopped(service)
      : await digestRowsOfPostgres(databaseUrl);
  const ignoredTables = new Set([
    ...tablesOfRequests,
    ...tablesOfSweeps,
    ...(databaseUrl === undefined ? tablesOfWorker : []),
  ]);
  return Object.fromEntries(Object.entries(all).filter(([table]) => !ignoredTables.has(table)));
}

async function digestRowsWhileStopped(service: Service): Promise<Readonly<Record<string, string>>> {
  const rows = await service.inspect((database) => digestTables({ database }));
  await service.start();
  return rows;
}

async function digestRowsOfPostgres(url: string): Promise<Readonly<Record<string, string>>> {
  const database = await openDatabase({ url });
  return digestTables({ database }).finally(() => database.close());
}

/**
 * Returns a function that creates the headers of an authorized app. The function authorizes the app again
 * before the access token expires, which happens after ten minutes.
 */
async function authorizeApp({ ask, access }: Service): Promise<ContractPlan["tokenFor"]> {
  const { clientId, redirectUri } = access.oauthClient;
  const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
  const jwk = await exportJWK(publicKey);
  const prove = (claims: Readonly<Record<string, unknown>>): Promise<string> =>
    new SignJWT({ jti: randomUUID(), ...claims })
      .setProtectedHeader({ alg: "ES256", typ: "dpop+jwt", jwk })
      .setIssuedAt()
      .sign(privateKey);
  const redeem = async (): Promise<string> => {
    const verifier = randomBytes(32).toString("base64url");
    const challenge = createHash("sha256").update(verifier).digest("base64url");
    const code = await createAppBrowser({ ask, publicUrl, staff: access.staff }).authorize({
      clientId,
      redirectUri,
      challenge,
    });
    const fields = {
      grant_type: "authorization_code",
      client_id: clientId,
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
    };
    const dpop = await prove({ htm: "POST", htu: `${publicUrl}/oauth/token` });
    const headers = { "content-type": "application/x-www-form-urlencoded", dpop };
    const { text } = await ask({
      method: "POST",
      url: "/oauth/token",
      headers,
      body: new URLSearchParams(fields).toString(),
    });
    return (JSON.parse(text) as { readonly access_token: string }).access_token;
  };
  let current: { readonly token: Promise<string>; readonly until: number } | undefined;
  return async ({ method, url }: Pick<Sent, "method" | "url">) => {
    if (current === undefined || performance.now() > current.until)
      current = { token: redeem(), until: performance.now() + tokenMs };
    const token = await current.token;
    const ath = createHash("sha256").update(token).digest("base64url");
    return [
      ["Authorization", `DPoP ${token}`],
      ["DPoP", await prove({ htm: method, htu: publicUrl + url, ath })],
    ];
  };
}

const tokenMs = 300_000;
