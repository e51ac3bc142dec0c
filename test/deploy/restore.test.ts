/**
 * The restore drill of docs/runbook.md, with its commands: a backup becomes another database on which the
 * service starts. Everything can be decrypted with the original keys; with other keys, the missing ones are
 * named. Needs PostgreSQL's programs.
 */
import { findFreePort } from "#foundation/free-port.ts";
import { execFile, spawnSync } from "node:child_process";
import { chownSync, cpSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readDemoJsonFile } from "#demo/demo-file.ts";
import { type Service, startService } from "#soak/service.ts";
import { demoPlace } from "#test/support/copies.ts";
import { runHere, temporaryFolder } from "#test/support/process.ts";
import { type Listening, startProgram } from "#test/support/program.ts";

/** Several cold starts on a busy machine. */
const startsMsMax = 180_000;
const keys = `soak:${Buffer.alloc(32, 7).toString("base64")}`;
const newKey = `restored:${Buffer.alloc(32, 9).toString("base64")}`;
const otherKey = `other:${Buffer.alloc(32, 8).toString("base64")}`;

const runbook = readFileSync(new URL("../../docs/runbook.md", import.meta.url), "utf8");
/** The commands below a heading of the runbook: for this machine's programs, and for the Compose setup. */
const commandsOf = (heading: string): { readonly here: string; readonly composed: string } => {
  const [section = ""] = runbook.slice(runbook.indexOf(`\n## ${heading}\n`) + 1).split(/\n(?=## )/);
  const [here = "", composed = ""] = [...section.matchAll(/```sh\n([\s\S]+?)```/g)].map(([, text]) => text);
  return { here, composed };
};
/** Replaces Docker: runs a program on the database's host. */
const docker = 'docker() { [ "$1 $2 $3 $4" = "compose exec -T database" ] && shift 4 && "$@"; }\n';

const binaries = globSync("/usr/lib/postgresql/*/bin").toSorted().at(-1);
if (binaries === undefined)
  process.stderr.write(
    "test/deploy/restore.test.ts is skipped in part: PostgreSQL is not installed (Debian: postgresql).\n",
  );

/** Reads an order back with its merchant and its encrypted rows. */
async function readBack(service: Service, folder: string): Promise<unknown> {
  const demo = readDemoJsonFile(folder);
  const headers = { authorization: `Bearer ${demo?.keys.full}` };
  const order = await service.ask({
    method: "GET",
    url: `/api/v1/open/storefront/orders/${demo?.orders?.placed}`,
    headers,
    body: undefined,
  });
  const signed = `/api/v1/open/webhooks/endpoints/${demo?.webhooks?.endpoint}/signature-fixture`;
  const fixture = await service.ask({ method: "GET", url: signed, headers, body: undefined });
  return { order: order.status, fixture: fixture.status, id: JSON.parse(order.text).data?.id };
}

describe.runIf(binaries !== undefined)("a dump of PostgreSQL", () => {
  const stack = new AsyncDisposableStack();
  let server: Listening;
  let folder: string;
  const urlOf = (name: string): string => `postgres://postgres@127.0.0.1:${server.port}/${name}`;
  const environment = (name: string, encryptionKeys: string): Record<string, string> => ({
    DATABASE_URL: urlOf(name),
    ENCRYPTION_KEYS: encryptionKeys,
    DATA_DIR: folder,
    DEMO: "0",
  });
  const drill = async (heading: string): Promise<void> => {
    const env = {
      PATH: `${binaries}:${process.env["PATH"]}`,
      DATABASE_URL: urlOf("shop"),
      OWNER_URL: urlOf("shop"),
      RESTORED_URL: urlOf("restored"),
      BACKUPS: folder,
    };
    await promisify(execFile)("bash", ["--norc", "-euc", commandsOf(heading).here], { env, cwd: folder });
  };
  const composedDrill = async (heading: string): Promise<void> => {
    const env = {
      PATH: `${binaries}:${process.env["PATH"]}`,
      PGHOST: "127.0.0.1",
      PGPORT: String(server.port),
      BACKUPS: folder,
    };
    await promisify(execFile)("bash", ["--norc", "-euc", docker + commandsOf(heading).composed], {
      env,
      cwd: folder,
    });
  };
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "commerce-gateway-drill-"));
    stack.defer(() => rmSync(folder, { recursive: true, force: true }));
    server = stack.use(await startCluster(binaries ?? ""));
    await promisify(execFile)(join(binaries ?? "", "createdb"), [
      `--maintenance-db=${urlOf("postgres")}`,
      "shop",
    ]);
    await runHere(["seed"], environment("shop", keys));
    await drill("Backups");
    await drill("Restoring");
  }, startsMsMax);
  afterAll(() => stack.disposeAsync());

  it(
    "restores a database on which the service starts, with an unchanged order and secret",
    async () => {
      await using service = await startService({
        databaseUrl: urlOf("restored"),
        folder,
        environment: { ENCRYPTION_KEYS: keys },
      });
      expect(await readBack(service, folder)).toEqual({
        order: 200,
        fixture: 200,
        id: readDemoJsonFile(folder)?.orders?.placed,
      });
      expect(service.faults).toEqual([]);
    },
    startsMsMax,
  );

  it(
    "can be decrypted with its original keys, and names the missing one with other keys",
    async () => {
      const lacking = await runHere(["keys", "check"], environment("restored", otherKey));
      expect(lacking.code).toBe(1);
      expect(lacking.stderr).toMatch(
        /^webhook_secret\.sealed of whs_\w+ was encrypted with the key soak, which is not in ENCRYPTION_KEYS\.$/m,
      );
      expect(lacking.stderr).toMatch(
        /^personal_data\.sealed of \w+ was encrypted with the key soak, which is not in ENCRYPTION_KEYS\.$/m,
      );
      const opened = await runHere(["keys", "check", "--json"], environment("restored", keys));
      expect(opened.code).toBe(0);
      expect(JSON.parse(opened.stdout)).toMatchObject({ broken: [], webhook_secret: 1 });
      // The check changed nothing: another first key still has all rows to rewrap.
      const { code, stdout } = await runHere(
        ["keys", "rewrap", "--json"],
        environment("restored", `${newKey},${keys}`),
      );
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ key: "restored", left: 0, broken: [], webhook_secret: 1 });
    },
    startsMsMax,
  );

  it(
    "is created and restored in the Compose setup as well",
    async () => {
      const run = (program: string, ...args: string[]): Promise<unknown> =>
        promisify(execFile)(join(binaries ?? "", program), args);
      await run("dropdb", `--maintenance-db=${urlOf("postgres")}`, "restored");
      await run("psql", urlOf("postgres"), "--command=create role commerce superuser login");
      await run("psql", urlOf("postgres"), "--command=alter database shop rename to commerce");
      await composedDrill("Backups");
      await composedDrill("Restoring");
      expect(await runHere(["keys", "check"], environment("restored", keys))).toMatchObject({
        code: 0,
        stderr: "",
      });
    },
    startsMsMax,
  );
});

/** Starts a PostgreSQL cluster. PostgreSQL refuses to run as root. */
async function startCluster(programs: string): Promise<Listening> {
  const folder = mkdtempSync(join(tmpdir(), "commerce-gateway-cluster-"));
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, "data");
  await promisify(execFile)(
    join(programs, "initdb"),
    ["-D", data, "-U", "postgres", "-A", "trust", "--locale=C", "--encoding=UTF8", "--no-sync"],
    {
      ...user,
      cwd: folder,
    },
  );
  const port = await findFreePort();
  const args = ["-D", data, "-p", String(port), "-h", "127.0.0.1", "-k", "", "-c", "fsync=off"];
  const cluster = await startProgram({ file: join(programs, "postgres"), args, port, folder, user });
  // The port accepts connections before the server has finished its start, and refuses queries until then.
  const isReady = ["-h", "127.0.0.1", "-p", String(port), "--quiet"];
  while (spawnSync(join(programs, "pg_isready"), isReady).status !== 0) await sleep(50);
  return cluster;
}

describe("a copy of DATA_DIR", () => {
  it(
    "taken while the service is stopped restores the shop; without its keys, unreadable values are named",
    async () => {
      // A data folder of a service that was stopped.
      const { folder } = await demoPlace("pglite");
      const copy = join(temporaryFolder(), "data");
      cpSync(folder, copy, { recursive: true });
      await using restored = await startService({ folder: copy, environment: { DEMO: "0" } });
      expect(await readBack(restored, copy)).toEqual({
        order: 200,
        fixture: 200,
        id: readDemoJsonFile(copy)?.orders?.placed,
      });
      expect(await restored.stop()).toBe(0);
      rmSync(join(copy, "encryption-keys"));
      const lacking = await runHere(["keys", "check"], { DATA_DIR: copy });
      expect(lacking).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("which is not in ENCRYPTION_KEYS."),
      });
    },
    startsMsMax,
  );
});
