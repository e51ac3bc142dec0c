/** The other commands: help, JSON output, exit codes, and their effects. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { openDatabase } from "#database/connect.ts";
import { runCommand, runHere, temporaryFolder } from "#test/support/process.ts";

const commands = [
  "serve",
  "migrate",
  "seed",
  "merchant create",
  "app create",
  "installation create",
  "key create",
  "key revoke",
  "key list",
  "token create",
  "token revoke",
  "token list",
  "staff create",
  "staff password",
  "staff disable",
  "staff enable",
  "staff list",
  "oauth-client create",
  "grant revoke",
  "grant list",
  "signing-key rotate",
  "keys check",
  "keys rewrap",
  "privacy erase",
  "audit export",
  "webhook replay",
  "payment-provider connect",
  "payment-provider disconnect",
  "payment-provider list",
  "config",
];

it("the command line explains every command with --help, and mentions --json if it applies", async () => {
  for (const command of commands) {
    const { code, stdout, stderr } = await runHere([...command.split(" "), "--help"]);
    expect({ command, code, stderr }).toEqual({ command, code: 0, stderr: "" });
    expect(stdout).toMatch(new RegExp(`^Usage: (commerce )?${command} `));
    if (command !== "serve") expect(stdout).toContain("--json");
  }
  const all = await runCommand(["--help"]);
  expect(all).toEqual(await runHere(["--help"]));
  expect(all.code).toBe(0);
  for (const name of new Set(commands.map((command) => command.split(" ")[0])))
    expect(all.stdout).toContain(`\n  ${name} `);
});

it("the command line exits with 2 on invalid arguments, also as a process", async () => {
  const [none, unknown] = await Promise.all([runCommand([]), runCommand(["nonsense"])]);
  expect(none).toEqual(await runHere([]));
  expect(unknown).toEqual({
    code: 2,
    stdout: "",
    stderr: expect.stringContaining("error: unknown command 'nonsense'") as string,
  });
});

it.each([
  ["no command", [], "Usage: commerce"],
  ["an unknown command", ["nonsense"], "error: unknown command 'nonsense'"],
  ["an unknown option", ["serve", "--nonsense"], "error: unknown option '--nonsense'"],
  ["a missing option", ["key", "create"], "error: required option '--installation <id>' not specified"],
  ["a missing argument", ["key", "revoke"], "error: missing required argument 'id'"],
  ["half a command", ["key"], "Usage: commerce key"],
  [
    "a payment provider of no merchant",
    ["payment-provider", "connect"],
    "error: required option '--merchant <id>' not specified",
  ],
  [
    "the end of no connection",
    ["payment-provider", "disconnect", "--merchant", "mer_1"],
    "error: missing required argument 'id'",
  ],
  [
    "a value that breaks its rule",
    ["merchant", "create", "--slug", "A b"],
    "error: option '--slug <slug>' argument 'A b' is invalid.",
  ],
  [
    "an unknown scope",
    ["key", "create", "--scopes", "all"],
    "error: option '--scopes <list>' argument 'all' is invalid. all is not a scope",
  ],
  [
    "an unknown role",
    ["token", "create", "--role", "root"],
    "error: option '--role <role>' argument 'root' is invalid.",
  ],
  [
    "a status that lost deliveries do not have",
    ["webhook", "replay", "--status", "succeeded"],
    "error: option '--status <status>' argument 'succeeded'",
  ],
  [
    "an overlap that is too long",
    ["key", "rotate", "key_none", "--overlap", "169"],
    "error: option '--overlap <hours>' argument '169' is invalid.",
  ],
  [
    "a way of authentication that there is not",
    ["oauth-client", "create", "--auth", "client_secret_basic"],
    "error: option '--auth <method>' argument",
  ],
  [
    "keys that are no set of keys",
    ["oauth-client", "create", "--jwks", "[]"],
    "error: option '--jwks <json>' argument '[]' is invalid.",
  ],
  [
    "nothing to erase",
    ["privacy", "erase"],
    "error: give exactly one of --buyer-reference, --cart, --order and --address-token",
  ],
  [
    "two things to erase",
    ["privacy", "erase", "--cart", "c", "--order", "o"],
    "error: give exactly one of --buyer-reference, --cart, --order",
  ],
  [
    "a buyer of no merchant",
    ["privacy", "erase", "--buyer-reference", "b"],
    "error: --buyer-reference requires --merchant",
  ],
  [
    "a time that is none",
    ["audit", "export", "--from", "yesterday"],
    "error: option '--from <time>' argument 'yesterday' is invalid.",
  ],
  [
    "a number that is none",
    ["seed", "--products", "many"],
    "error: option '--products <number>' argument 'many' is invalid.",
  ],
])("the command line exits with 2 on %s", async (_name, args, message) => {
  const { code, stdout, stderr } = await runHere(args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(message);
});

it.each([
  [["key", "list"]],
  [["keys", "check"]],
  [["merchant", "create", "--slug", "a", "--name", "A", "--locale", "en", "--market", "DE"]],
  [["audit", "export"]],
])("the command %j refuses a folder without a database, and creates none", async (args) => {
  const DATA_DIR = join(temporaryFolder(), "typo");
  expect(await runHere(args, { DATA_DIR })).toEqual({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(
      `^Setting DATA_DIR names the folder ${DATA_DIR}, which contains no database\\. .+ migrate`,
    ) as string,
  });
  expect(existsSync(DATA_DIR)).toBe(false);
});

/** Two cold starts, and ten openings of the database, on a busy machine. */
const startsMsMax = 180_000;

it(
  "creates a merchant, an app, an installation, keys and tokens, each as one JSON value, and shows " +
    "each secret once",
  async () => {
    const environment = { DATA_DIR: join(temporaryFolder(), "data"), DEMO: "0" };
    const runBy =
      (start: typeof runCommand) =>
      async (...args: string[]): Promise<Record<string, string>> => {
        const { code, stdout, stderr } = await start([...args, "--json"], environment);
        expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
        return JSON.parse(stdout) as Record<string, string>;
      };
    // Each process loads all modules again, so only `migrate` and `seed` are processes.
    const run = runBy(runHere);
    const { applied } = (await runBy(runCommand)("migrate")) as unknown as { applied: string[] };
    expect(applied.length).toBeGreaterThan(0);
    const merchant = await run(
      "merchant",
      "create",
      "--slug",
      "one",
      "--name",
      "One",
      "--locale",
      "de-de",
      "--market",
      "DE",
    );
    const app = await run("app", "create", "--name", "App");
    const installation = await run(
      "installation",
      "create",
      "--merchant",
      merchant["id"] ?? "",
      "--app",
      app["id"] ?? "",
      "--scopes",
      "catalog:read",
    );
    const scopes = ["--scopes", "catalog:read"];
    const key = await run(
      "key",
      "create",
      "--installation",
      installation["id"] ?? "",
      "--name",
      "Key",
      ...scopes,
    );
    expect(Object.keys(key)).toEqual(["id", "key"]);
    expect(key["key"]).toMatch(/^cpk_test_/);
    const list = (await run("key", "list")) as unknown as Record<string, unknown>[];
    expect(list).toMatchObject([{ id: key["id"], scopes: ["catalog:read"], revokedAt: null }]);
    expect(JSON.stringify(list)).not.toContain(key["key"]?.slice(-49));
    const successor = await run("key", "rotate", key["id"] ?? "", "--overlap", "1");
    expect(successor).toEqual({
      id: expect.stringMatching(/^key_/),
      key: expect.stringMatching(/^cpk_test_/),
      rotated: key["id"],
    });
    expect(await run("key", "revoke", key["id"] ?? "")).toEqual({ id: key["id"], revoked: true });
    expect(await publishedEvents(environment.DATA_DIR)).toEqual([
      {
        type: "api_key.created",
        subjectId: key["id"],
        subjectVersion: 1,
        installationId: installation["id"],
      },
      {
        type: "api_key.created",
        subjectId: successor["id"],
        subjectVersion: 1,
        installationId: installation["id"],
      },
      {
        type: "api_key.rotated",
        subjectId: key["id"],
        subjectVersion: 2,
        installationId: installation["id"],
      },
      {
        type: "api_key.revoked",
        subjectId: key["id"],
        subjectVersion: 3,
        installationId: installation["id"],
      },
    ]);

    const excess = await runHere(
      ["key", "create", "--installation", installation["id"] ?? "", "--name", "Key"],
      environment,
    );
    expect(excess).toEqual({
      code: 1,
      stdout: "",
      stderr: "The installation does not have the scopes checkout:quote, webhooks:read, webhooks:write.\n",
    });
    const unknown = await runHere(["key", "revoke", "key_none"], environment);
    expect(unknown).toEqual({ code: 1, stdout: "", stderr: "There is no API key with this id.\n" });
    const seed = await runCommand(["seed", "--products", "1"], environment);
    expect(seed).toMatchObject({
      code: 1,
      stderr: "The database contains data other than the demo: name the merchant with --merchant.\n",
    });
  },
  startsMsMax,
);

async function publishedEvents(folder: string): Promise<unknown[]> {
  const database = await openDatabase({ folder });
  const events = await database.db
    .selectFrom("event")
    .select(["type", "subjectId", "subjectVersion", "installationId"])
    .orderBy("id")
    .execute();
  await database.close();
  return events;
}

it("the command line shows the settings in force with secrets masked", async () => {
  const environment = {
    PORT: "0",
    RATE_LIMIT_SCALE: "2",
    REDIS_URL: "redis://:hunter2@127.0.0.1",
    DATA_DIR: "somewhere",
  };
  const { code, stdout } = await runCommand(["config", "--json"], environment);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    HOST: "127.0.0.1",
    PORT: "0",
    DATABASE_URL: null,
    DATABASE_POOL: "10",
    DATA_DIR: "somewhere",
    REDIS_URL: "********",
    RATE_LIMIT_SCALE: "2",
    DEMO: "1",
    LOG_LEVEL: "info",
  });
  expect(stdout).not.toContain("hunter2");
  expect((await runHere(["config", "--json"], { PORT: "x" })).code).toBe(1);
});

it("the command line runs on Node 26 under npm, whatever Node is installed", async () => {
  const { stdout } = await promisify(execFile)(
    "npm",
    ["run", "--silent", "commerce", "--", "config", "--json"],
    {
      cwd: new URL("../../", import.meta.url),
    },
  );
  expect(JSON.parse(stdout)).toMatchObject({ HOST: "127.0.0.1" });
  const version = await promisify(execFile)("npm", ["exec", "-c", "node --print process.versions.node"], {
    cwd: new URL("../../", import.meta.url),
  });
  expect(version.stdout).toMatch(/^26\./);
});
