/**
 * Commands for staff members, apps and maintenance: their effects, the secrets that they print once, and
 * their entries in the audit log.
 */
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { expect, it, vi } from "vitest";
import {
  appendAuditEntries,
  buildAuditEntrySqlQuery,
  type AuditEntryRow,
  commandLineActor,
} from "#access/audit.ts";
import { authenticateStaffByPassword } from "#access/people/staff-sign-in.ts";
import { type Database, openDatabase } from "#database/connect.ts";
import { runInTransaction } from "#database/transaction.ts";
import { readDemoJsonFile } from "#demo/demo-file.ts";
import {
  type DemoPlace,
  demoPlace,
  encryptionKeys,
  migratedPlace,
  toEnvironment,
} from "#test/support/copies.ts";
import { runCommand, runHere as runCommandHere, temporaryFolder } from "#test/support/process.ts";

type Run = (...args: string[]) => Promise<Record<string, unknown>>;

/** Each test needs several cold starts on a busy machine. */
vi.setConfig({ testTimeout: 180_000 });

interface Commands {
  readonly place: DemoPlace;
  /** The settings of both. A test may change them. */
  readonly environment: Record<string, string>;
  /** Runs a command in another process; used at least once per command. */
  readonly run: Run;
  /** Runs a command in this process, without the cost of a start. */
  readonly runHere: Run;
}

async function commands(opening: Promise<DemoPlace> = migratedPlace()): Promise<Commands> {
  const place = await opening;
  const environment = toEnvironment(place);
  const shown =
    (start: typeof runCommand): Run =>
    async (...args) => {
      const { code, stdout, stderr } = await start([...args, "--json"], environment);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      return JSON.parse(stdout) as Record<string, unknown>;
    };
  return { place, environment, run: shown(runCommand), runHere: shown(runCommandHere) };
}

async function inDatabase<Result>(
  { folder, databaseUrl }: DemoPlace,
  work: (db: Database) => Promise<Result>,
): Promise<Result> {
  const database = await openDatabase(databaseUrl === undefined ? { folder } : { url: databaseUrl });
  try {
    return await work(database.db);
  } finally {
    await database.close();
  }
}

const entriesIn = (place: DemoPlace): Promise<AuditEntryRow[]> =>
  inDatabase(place, (db) => buildAuditEntrySqlQuery(db, { merchantId: null }).orderBy("id").execute());
const brief = ({ action, actor, merchantId, targetType, targetId }: AuditEntryRow): unknown[] => [
  action,
  actor,
  merchantId,
  targetType,
  targetId,
];

it("the command line creates and disables staff members, prints a password once, and audits it", async () => {
  const { place, environment, run, runHere } = await commands();
  const shop = ["--slug", "shop", "--name", "Shop", "--locale", "en", "--market", "DE"];
  const merchantId = String((await runHere("merchant", "create", ...shop))["id"]);
  const merchant = ["--merchant", merchantId];
  const person = await run("staff", "create", ...merchant, "--email", "Ana@Shop.example", "--name", "Ana");
  expect(await runHere("staff", "role", String(person["id"]), "analyst")).toEqual({
    id: person["id"],
    role: "analyst",
  });
  expect(person).toEqual({
    id: expect.stringMatching(/^stf_/),
    email: "Ana@Shop.example",
    password: expect.stringMatching(/^[\w-]{20}$/),
  });
  const given = await typed(
    ["staff", "create", ...merchant, "--email", "b@shop.example", "--name", "B", "--password-stdin"],
    environment,
  );
  expect(given).toEqual({ code: 0, stdout: expect.not.stringContaining("typed") });
  expect(await run("staff", "disable", String(person["id"]))).toEqual({ id: person["id"], disabled: true });
  const people = (await run("staff", "list", ...merchant)) as unknown as Record<string, unknown>[];
  expect(people.map(({ email, role, disabledAt }) => [email, role, disabledAt])).toEqual([
    ["Ana@Shop.example", "analyst", expect.any(String)],
    ["b@shop.example", "admin", null],
  ]);
  expect(JSON.stringify(people)).not.toContain("argon2");

  await inDatabase(place, async (db) => {
    expect(
      await authenticateStaffByPassword(db, "ana@shop.example", String(person["password"])),
    ).toBeUndefined();
    expect(await authenticateStaffByPassword(db, "b@shop.example", "typed in by hand")).toMatchObject({
      name: "B",
    });
  });
  const entries = await entriesIn(place);
  expect(entries.map(brief)).toEqual([
    ["merchantCreate", "command", merchantId, "merchant", merchantId],
    ["staffCreate", "command", merchantId, "staff", person["id"]],
    ["staffRoleSet", "command", merchantId, "staff", person["id"]],
    ["staffCreate", "command", merchantId, "staff", expect.stringMatching(/^stf_/)],
    ["staffDisable", "command", merchantId, "staff", person["id"]],
  ]);
  expect(JSON.stringify(entries)).not.toMatch(/shop\.example|Ana|typed/);
});

it("the command line changes an account's password, enables the account again, and audits it", async () => {
  const { place, environment, run, runHere } = await commands();
  const shop = ["--slug", "shop", "--name", "Shop", "--locale", "en", "--market", "DE"];
  const merchantId = String((await runHere("merchant", "create", ...shop))["id"]);
  const { id } = await runHere(
    "staff",
    "create",
    "--merchant",
    merchantId,
    "--email",
    "ana@shop.example",
    "--name",
    "Ana",
  );
  const staffId = String(id);
  const given = await typed(["staff", "password", staffId, "--password-stdin"], environment);
  expect(given).toEqual({ code: 0, stdout: expect.not.stringContaining("typed") });
  expect(await runHere("staff", "disable", staffId)).toEqual({ id, disabled: true });
  const made = await runHere("staff", "password", staffId, "--revoke-grants");
  expect(made).toEqual({ id, password: expect.stringMatching(/^[\w-]{20}$/), grantsRevoked: true });
  expect(await run("staff", "enable", staffId)).toEqual({ id, disabled: false });
  const unknown = await runCommandHere(["staff", "password", "stf_none"], environment);
  expect(unknown).toEqual({ code: 1, stdout: "", stderr: "There is no staff account with this id.\n" });
  await inDatabase(place, async (db) => {
    expect(await authenticateStaffByPassword(db, "ana@shop.example", "typed in by hand")).toBeUndefined();
    expect(await authenticateStaffByPassword(db, "ana@shop.example", String(made["password"]))).toMatchObject(
      {
        staffId,
        version: 5,
      },
    );
  });
  const entries = await entriesIn(place);
  expect(entries.slice(1).map(brief)).toEqual(
    ["staffCreate", "staffPasswordSet", "staffDisable", "staffPasswordSet", "staffEnable"].map((action) => [
      action,
      "command",
      merchantId,
      "staff",
      id,
    ]),
  );
  expect(JSON.stringify(entries)).not.toMatch(/shop\.example|Ana|typed/);
});

it("disables, enables and lists OAuth clients, and audits it", async () => {
  const { place, run, runHere } = await commands();
  const app = String((await runHere("app", "create", "--name", "App"))["id"]);
  const uri = "https://app.example/callback";
  const id = String((await run("oauth-client", "create", "--app", app, "--redirect-uri", uri))["id"]);
  expect(await run("oauth-client", "disable", id)).toEqual({ id, disabled: true });
  const listed = {
    id,
    appId: app,
    redirectUris: [uri],
    authMethod: "none",
    version: 2,
    disabledAt: expect.any(String) as string,
  };
  expect(await run("oauth-client", "list", "--app", app)).toMatchObject([listed]);
  expect(await run("oauth-client", "enable", id)).toEqual({ id, disabled: false });
  expect((await entriesIn(place)).map(brief)).toEqual([
    ["appCreate", "command", null, "app", app],
    ...["oauthClientCreate", "oauthClientDisable", "oauthClientEnable"].map((action) => [
      action,
      "command",
      null,
      "oauth_client",
      id,
    ]),
  ]);
});

it("the command line creates OAuth clients, rotates signing keys, and audits it", async () => {
  const { place, environment, run, runHere } = await commands();
  const app = await runHere("app", "create", "--name", "App");
  const uris = ["--redirect-uri", "http://127.0.0.1:5000/callback", "https://app.example/callback"];
  const client = await runHere("oauth-client", "create", "--app", String(app["id"]), ...uris);
  expect(client).toEqual({ id: expect.stringMatching(/^oac_/), app: app["id"] });
  const key = await run("signing-key", "rotate");
  const { code, stderr } = await runCommand(["grant", "revoke", "grt_none"], environment);
  expect({ code, stderr }).toEqual({ code: 1, stderr: "There is no grant with this id.\n" });
  expect(await run("grant", "list")).toEqual([]);
  const made = await inDatabase(place, (db) => db.selectFrom("oauthSigningKey").select("id").execute());
  expect(made).toHaveLength(2);
  expect(made).toContainEqual({ id: key["id"] });
  expect((await entriesIn(place)).map(brief)).toEqual([
    ["appCreate", "command", null, "app", app["id"]],
    ["oauthClientCreate", "command", null, "oauth_client", client["id"]],
    ["signingKeyRotate", "command", null, "signing_key", key["id"]],
  ]);
});

it("the command line exports the audit log page by page, as CSV or one JSON object per line", async () => {
  const { place, environment } = await commands();
  const first = Date.parse("2026-03-01T12:00:00.000Z");
  await inDatabase(place, (db) =>
    runInTransaction(db, async (transaction) => {
      const entry = {
        ...commandLineActor,
        merchantId: null,
        action: "one",
        targetId: null,
        requestId: "req_1",
        details: { note: 'Said "no", twice.' },
      };
      for (let count = 0; count < 502; count += 1)
        await appendAuditEntries(transaction, { ...entry, now: new Date(first + count) });
    }),
  );
  const lines = async (start: typeof runCommand, ...args: string[]): Promise<string[]> =>
    (await start(["audit", "export", ...args], environment)).stdout.split(/\r?\n/).slice(0, -1);
  const json = (await lines(runCommand, "--json")).map((line) => JSON.parse(line) as AuditEntryRow);
  expect(json.map(({ at }) => Date.parse(String(at)))).toEqual(
    Array.from({ length: 502 }, (_, count) => first + count),
  );
  const csv = await lines(
    runCommandHere,
    "--from",
    "2026-03-01T12:00:00.500Z",
    "--to",
    "2026-03-01T12:00:00.501Z",
  );
  expect(csv).toEqual([
    "id,at,merchantId,actor,actorId,action,targetType,targetId,requestId,details",
    `${json[500]?.id},2026-03-01T12:00:00.500Z,,command,,one,,,req_1,"{""note"":""Said \\""no\\"", twice.""}"`,
  ]);
  expect(await lines(runCommandHere, "--merchant", "mer_none", "--json")).toEqual([]);
});

/** Passes input on standard input, because other users can see arguments. */
async function typed(
  args: readonly string[],
  environment: Commands["environment"],
): Promise<{ code: number | null; stdout: string }> {
  const { PATH } = process.env;
  const child = spawn(process.execPath, ["src/main.ts", ...args, "--json"], {
    cwd: new URL("../../", import.meta.url).pathname,
    env: { PATH, ...environment },
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.end("typed in by hand\n");
  const [stdout, code] = await Promise.all([
    text(child.stdout),
    new Promise<number | null>((resolve) => child.on("close", resolve)),
  ]);
  return { code, stdout };
}

it("the command line rewraps all with the first encryption key, and names unreadable values", async () => {
  const { place, environment, run, runHere } = await commands(demoPlace("postgres"));
  const next = `next:${Buffer.alloc(32, 3).toString("base64")}`;
  environment["ENCRYPTION_KEYS"] = `${next},${encryptionKeys}`;
  const done = await run("keys", "rewrap");
  expect(done).toMatchObject({
    key: "next",
    left: 0,
    broken: [],
    personal_data: expect.any(Number),
    webhook_secret: 1,
  });
  expect(done["personal_data"]).toBeGreaterThan(5);
  expect(await runHere("keys", "rewrap")).toMatchObject({ key: "next", personal_data: 0, webhook_secret: 0 });
  const rewraps = (await entriesIn(place))
    .filter(({ action }) => action === "keysRewrap")
    .map(({ details }) => details);
  expect(rewraps).toEqual([
    { key: "next", state: "begun" },
    { key: "next", state: "done", rewrapped: expect.any(Number) },
    { key: "next", state: "begun" },
    { key: "next", state: "done", rewrapped: 0 },
  ]);
  // The old key is removed and no longer needed.
  environment["ENCRYPTION_KEYS"] = next;
  const opened = await runHere("keys", "check");
  expect(opened).toMatchObject({ broken: [], personal_data: expect.any(Number), webhook_secret: 1 });
  expect(opened["personal_data"]).toBeGreaterThan(5);
  expect(await runHere("keys", "rewrap")).toMatchObject({ personal_data: 0, left: 0 });

  environment["ENCRYPTION_KEYS"] = `other:${Buffer.alloc(32, 4).toString("base64")}`;
  const { code, stdout, stderr } = await runCommand(["keys", "rewrap"], environment);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^key +other$/m);
  expect(stderr).toMatch(
    /^webhook_secret\.sealed of whs_\w+ was encrypted with the key next, which is not in ENCRYPTION_KEYS\.$/m,
  );
  expect(stderr).toContain("webhook_secret: 1 value cannot be decrypted, for example:\n");
  const refused = await runCommand(["serve"], environment);
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toMatch(/^ENCRYPTION_KEYS lacks the key next, .+ run `keys rewrap`\.\n$/);
});

it("the command line refuses to check keys without encrypted values, and does not migrate", async () => {
  const { environment } = await commands();
  const empty = await runCommandHere(["keys", "check"], environment);
  expect(empty).toMatchObject({ code: 1, stderr: expect.stringContaining("has no encrypted values") });
  const DATA_DIR = temporaryFolder();
  await (await openDatabase({ folder: DATA_DIR })).close();
  const [checked, listed] = [
    await runCommandHere(["keys", "check"], { DATA_DIR }),
    await runCommandHere(["key", "list"], { DATA_DIR }),
  ];
  expect([checked, listed]).toMatchObject([
    {
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^Migration 0001-\S+ and \d+ later migrations are not applied/),
    },
    { code: 1, stdout: "", stderr: expect.stringMatching(/^Setting DATA_DIR names a database without/) },
  ]);
});

it("the command line erases a buyer's data, and reports it", async () => {
  const { place, environment, run } = await commands();
  await run("seed");
  const demo = readDemoJsonFile(place.folder);
  const order = demo?.orders?.delivered ?? "";
  const done = await run("privacy", "erase", "--order", order, "--force");
  expect(done).toMatchObject({ carts: 1, orders: 1, personalData: expect.any(Number) });
  expect(done["personalData"]).toBeGreaterThan(0);
  const [entry] = await entriesIn(place);
  expect(entry).toMatchObject({
    action: "privacyErase",
    actor: "command",
    targetType: "order",
    targetId: order,
    details: { ...done, forced: true },
  });
  const unknown = await runCommandHere(["privacy", "erase", "--cart", "cart_none"], environment);
  expect(unknown).toEqual({ code: 1, stdout: "", stderr: "No data was found for this cart.\n" });
});
