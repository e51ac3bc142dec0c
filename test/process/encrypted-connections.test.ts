/**
 * The service reaches a PostgreSQL and a Redis that accept only TLS. It refuses to start if the certificate
 * of the database belongs to an authority that it does not trust.
 */
import { findFreePort } from "#foundation/free-port.ts";
import { chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openDatabase } from "#database/connect.ts";
import { hasRedis } from "#test/support/balancer.ts";
import { type PostgresServer, startPostgres } from "#test/support/postgres.ts";
import { type Ended, runCommand, startService, temporaryFolder } from "#test/support/process.ts";
import { type Listening, startProgram } from "#test/support/program.ts";
import { selfSignedCertificate, selfSignedKey } from "#test/webhooks/self-signed.ts";

/** Cold starts on a busy machine. */
vi.setConfig({ testTimeout: 180_000 });

if (!hasRedis)
  process.stderr.write(
    "test/process/encrypted-connections.test.ts tests no Redis: Redis is not installed (Debian: redis-server).\n",
  );

interface Certificate extends Disposable {
  readonly certificate: string;
  readonly key: string;
  /** Accepts only connections with TLS. */
  readonly accessRules: string;
}

/** Writes the certificate of `localhost` into files that the servers accept. */
function writeCertificate(): Certificate {
  const folder = mkdtempSync(join(tmpdir(), "commerce-gateway-tls-"));
  const write = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    // PostgreSQL refuses a key that another user owns. A root process runs PostgreSQL as `nobody`.
    if (process.getuid?.() === 0) chownSync(path, 65_534, 65_534);
    return path;
  };
  if (process.getuid?.() === 0) chownSync(folder, 65_534, 65_534);
  return {
    certificate: write("server.crt", selfSignedCertificate),
    key: write("server.key", selfSignedKey),
    accessRules: write("pg_hba.conf", "hostssl all all 127.0.0.1/32 trust\n"),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

const startEncryptedPostgres = ({ certificate, key, accessRules }: Certificate): Promise<PostgresServer> =>
  startPostgres({ ssl: "on", ssl_cert_file: certificate, ssl_key_file: key, hba_file: accessRules });

async function startEncryptedRedis({ certificate, key }: Certificate): Promise<Listening> {
  const port = await findFreePort();
  const folder = mkdtempSync(join(tmpdir(), "commerce-gateway-redis-"));
  const tls = [
    "--port",
    "0",
    "--tls-port",
    String(port),
    "--tls-cert-file",
    certificate,
    "--tls-key-file",
    key,
  ];
  return startProgram({
    file: "redis-server",
    args: [...tls, "--tls-auth-clients", "no", "--bind", "127.0.0.1", "--dir", folder, "--save", ""],
    port,
    folder,
  });
}

const encryptionKeys = `k1:${Buffer.alloc(32, 7).toString("base64")}`;

describe("a database that accepts only TLS", () => {
  const files = writeCertificate();
  let server: PostgresServer | undefined;
  beforeAll(async () => {
    server = await startEncryptedPostgres(files);
  });
  afterAll(async () => {
    await server?.stop();
    files[Symbol.dispose]();
  });
  /** Returns the URL of the server, with the name that its certificate has. */
  const toUrl = (parameters: string): string =>
    `${(server?.url ?? "").replace("127.0.0.1", "localhost")}?${parameters}`;
  const migrateThrough = (url: string): Promise<Ended> =>
    runCommand(["migrate"], { DATABASE_URL: url, ENCRYPTION_KEYS: encryptionKeys });

  it("refuses a connection without TLS", async () => {
    const { code, stderr } = await migrateThrough(server?.url ?? "");
    expect(code).toBe(1);
    expect(stderr).toContain("no encryption");
  });

  it("is refused by the service if the service does not trust the certificate's authority", async () => {
    const { code, stderr } = await migrateThrough(toUrl("sslmode=verify-full"));
    expect(code).toBe(1);
    expect(stderr).toContain("certificate");
  });

  it("is used if the URL names the authority's certificate", async () => {
    const url = toUrl(`sslmode=verify-full&sslrootcert=${files.certificate}`);
    const database = await openDatabase({ url });
    try {
      const statement = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";
      expect(await database.script((run) => run(statement))).toEqual([[{ ssl: true }]]);
      expect((await sql.raw(statement).execute(database.db)).rows).toEqual([{ ssl: true }]);
    } finally {
      await database.close();
    }
  });

  it.runIf(hasRedis)(
    "serves with an encrypted Redis if NODE_EXTRA_CA_CERTS names their authority",
    async () => {
      await using redis = await startEncryptedRedis(files);
      const { address } = await startService({
        NODE_EXTRA_CA_CERTS: files.certificate,
        DATABASE_URL: toUrl("sslmode=verify-full"),
        DATA_DIR: temporaryFolder(),
        REDIS_URL: `rediss://localhost:${redis.port}`,
        ENCRYPTION_KEYS: encryptionKeys,
        DEMO: "1",
      });
      const search = "q=tent&locale=en&market=DE&sort=relevance&page=1&pageSize=1";
      // A command to Redis that takes longer than 250 ms on a busy machine counts as away until the next one.
      const searchAndReadMetrics = async (): Promise<string> => {
        expect((await fetch(`${address}/api/v1/search?${search}`)).status).toBe(200);
        return (await fetch(`${address}/metrics`)).text();
      };
      await expect.poll(searchAndReadMetrics).toMatch(/^commerce_rate_limiter_away 0$/m);
    },
  );
});
