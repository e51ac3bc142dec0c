/**
 * Reads the environment into one frozen object, or fails with one line that names the setting and the
 * violated rule.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
  findMisspelledSettings,
  parseServiceSettings,
  settingNames,
  formatMaskedSettings,
} from "#app/settings.ts";
import { InvalidSettingError } from "#foundation/failure.ts";
import { temporaryFolder } from "#test/support/process.ts";

const key = Buffer.alloc(32, 1).toString("base64");
const otherKey = Buffer.alloc(32, 2).toString("base64");
const keys = { ENCRYPTION_KEYS: `k1:${key}` };
const whole = (name: string, from: number, to: number): string =>
  `${name} must be an integer from ${from} to ${to}.`;
const listOfKeys = "ENCRYPTION_KEYS must be a comma-separated list of id:base64, each key 32 bytes.";

it.each([
  [{ PORT: "abc" }, whole("PORT", 0, 65_535)],
  [{ PORT: "65536" }, whole("PORT", 0, 65_535)],
  [{ PORT: "-1" }, whole("PORT", 0, 65_535)],
  [{ PORT: "80.5" }, whole("PORT", 0, 65_535)],
  [{ DATABASE_POOL: "0" }, whole("DATABASE_POOL", 1, 200)],
  [{ PROCESSES: "65" }, whole("PROCESSES", 1, 64)],
  [{ TRUST_PROXY: "11" }, whole("TRUST_PROXY", 0, 10)],
  [{ PUBLIC_URL: "x" }, "PUBLIC_URL must be an address like https://api.example.com."],
  [{ PUBLIC_URL: "ftp://x" }, "PUBLIC_URL must be an address like https://api.example.com."],
  [{ PUBLIC_URL: "https://api.test/" }, "PUBLIC_URL must not end with a slash."],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318" },
    "OTEL_EXPORTER_OTLP_ENDPOINT must be an address like http://collector:4318.",
  ],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318/?key=x" },
    "OTEL_EXPORTER_OTLP_ENDPOINT must not have a query or a fragment.",
  ],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318#x" },
    "OTEL_EXPORTER_OTLP_ENDPOINT must not have a query or a fragment.",
  ],
  [{ RATE_LIMIT_SCALE: "-1" }, "RATE_LIMIT_SCALE must be a decimal number of 0 or more."],
  [{ RATE_LIMIT_SCALE: "1e3" }, "RATE_LIMIT_SCALE must be a decimal number of 0 or more."],
  [{ WEBHOOK_RETRY_SCALE: "fast" }, "WEBHOOK_RETRY_SCALE must be a decimal number of 0 or more."],
  [{ DEMO: "yes" }, "DEMO must be 0 or 1."],
  [{ DATABASE_PREPARED: "true" }, "DATABASE_PREPARED must be 0 or 1."],
  [{ LOG_LEVEL: "loud" }, "LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent."],
  [{ REDIS_URL: "http://x" }, "REDIS_URL must be an address like redis://host:6379."],
  [{ METRICS_TOKEN: "short" }, "METRICS_TOKEN must have at least 16 characters."],
  [
    { CORS_ORIGINS: "https://a.example/path" },
    "CORS_ORIGINS must be a comma-separated list of origins like https://shop.example.",
  ],
  [
    { DATABASE_URL: "mysql://x" },
    "DATABASE_URL must be an address like postgres://user:password@host:5432/name.",
  ],
  [
    { DATABASE_URL: "postgres://h/x" },
    "ENCRYPTION_KEYS is required with DATABASE_URL: a comma-separated list of id:base64, each key 32 bytes.",
  ],
  [{ ENCRYPTION_KEYS: "k1:short" }, listOfKeys],
  [{ ENCRYPTION_KEYS: key }, listOfKeys],
  [{ ENCRYPTION_KEYS: `k1:${key},` }, listOfKeys],
  [{ ENCRYPTION_KEYS: `k1:${key}:x` }, listOfKeys],
  [{ ENCRYPTION_KEYS: `k 1:${key}` }, listOfKeys],
  [{ ENCRYPTION_KEYS: `k1:${key.slice(0, 20)}*${key.slice(20)}` }, listOfKeys],
  [{ ENCRYPTION_KEYS: `k1:${Buffer.alloc(33).toString("base64")}` }, listOfKeys],
  [{ ENCRYPTION_KEYS: `k1:${key},k2:${key},k1:${otherKey}` }, "ENCRYPTION_KEYS must not repeat an id."],
])("the environment %o is refused with the setting and the rule", (environment, message) => {
  expect(() => parseServiceSettings(environment)).toThrow(new InvalidSettingError(message));
});

it("the reader of settings has the documented defaults, and treats an empty value as missing", () => {
  const documented = {
    HOST: "127.0.0.1",
    PORT: "4000",
    PUBLIC_URL: null,
    DATABASE_URL: null,
    DATABASE_POOL: "10",
    DATA_DIR: ".data",
    DATABASE_DIRECT_URL: null,
    DATABASE_OWNER_URL: null,
    DATABASE_READ_URL: null,
    DATABASE_READ_LAG_MAX: "5",
    DATABASE_PREPARED: "1",
    DATABASE_COMMENTS: "0",
    REDIS_URL: null,
    ENCRYPTION_KEYS: null,
    DEMO: "1",
    RATE_LIMIT_SCALE: "1",
    GRAPHQL_QUOTA_SCALE: "1",
    WEBHOOK_ALLOW_LOOPBACK: "1",
    WEBHOOK_RETRY_SCALE: "1",
    CORS_ORIGINS: null,
    METRICS_TOKEN: null,
    PROCESSES: "1",
    RESPONSE_CACHE_MB: "64",
    CART_RETENTION_DAYS: "731",
    LOG_LEVEL: "info",
    TRUST_PROXY: "0",
    DRAIN_SECONDS: "5",
    MIGRATE: "1",
    WATCHDOG_SECONDS: "300",
    OTEL_EXPORTER_OTLP_ENDPOINT: null,
    STRIPE_API_BASE: "https://api.stripe.com",
  };
  expect(formatMaskedSettings({})).toEqual(documented);
  expect(formatMaskedSettings(Object.fromEntries(settingNames.map((name) => [name, ""])))).toEqual(
    documented,
  );
  expect(formatMaskedSettings({ DATABASE_URL: "postgres://u:hunter2@h/x", ...keys })).toEqual({
    ...documented,
    DATABASE_URL: "********",
    ENCRYPTION_KEYS: "********",
    DEMO: "0",
    WEBHOOK_ALLOW_LOOPBACK: "0",
    WATCHDOG_SECONDS: "60",
  });
});

it("the reader of settings masks passwords in URLs", () => {
  const withPassword = {
    OTEL_EXPORTER_OTLP_ENDPOINT: "https://tenant:hunter2@otlp.example:4318",
    REDIS_URL: "redis://:hunter2@h",
  };
  expect(JSON.stringify(formatMaskedSettings(withPassword))).not.toContain("hunter2");
});

it("the reader of settings ignores a trailing slash of a collector's address", () => {
  for (const end of ["", "/", "//"])
    expect(
      parseServiceSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://h:4318/otlp${end}` }).tracesEndpoint,
    ).toBe("http://h:4318/otlp");
});

it("the reader of settings keeps the encryption keys in order, and has none by default", () => {
  expect(parseServiceSettings({ ENCRYPTION_KEYS: `k2:${otherKey}, k1:${key}` }).encryptionKeys).toEqual([
    { id: "k2", key: Buffer.alloc(32, 2) },
    { id: "k1", key: Buffer.alloc(32, 1) },
  ]);
  expect(parseServiceSettings({}).encryptionKeys).toBeUndefined();
});

it("the reader of settings reads the environment once, and its result cannot be changed", () => {
  expect(Object.isFrozen(parseServiceSettings({}))).toBe(true);
});

it.each([
  ["RATE_LIMIT_SCAEL", ["RATE_LIMIT_SCALE"]],
  ["RATE_LIMIT_SLACE", []],
  ["RATE_LIMIT_SCAL", ["RATE_LIMIT_SCALE"]],
  ["DATABASE_URLS", ["DATABASE_URL"]],
  ["DATABSE_URL", ["DATABASE_URL"]],
  ["PROCESSOS", ["PROCESSES"]],
  ["DATABASE_URL", []],
  ["PATH", []],
])("the name %s is recognized as a misspelling of %j", (name, meant) => {
  expect(findMisspelledSettings({ [name]: "1" }).map((slip) => slip.meant)).toEqual(meant);
});

it("a secret setting is read from the file that its variable with _FILE names", () => {
  const folder = temporaryFolder();
  const write = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const environment = {
    DATABASE_URL_FILE: write("url", "postgres://user:secret@host/name\r\n"),
    ENCRYPTION_KEYS_FILE: write("keys", `k1:${key}\n`),
    METRICS_TOKEN_FILE: write("token", "token of 18 signs "),
    REDIS_URL_FILE: "",
  };
  expect(parseServiceSettings(environment)).toMatchObject({
    databaseUrl: "postgres://user:secret@host/name",
    encryptionKeys: [{ id: "k1" }],
    metricsToken: "token of 18 signs ",
    redisUrl: undefined,
  });
  expect(formatMaskedSettings(environment)).toMatchObject({ METRICS_TOKEN: "********", REDIS_URL: null });
  const parse = (more: Readonly<Record<string, string>>) => () =>
    parseServiceSettings({ ...environment, ...more });
  expect(parse({ METRICS_TOKEN: "x".repeat(16) })).toThrow(
    "METRICS_TOKEN_FILE must not be set together with METRICS_TOKEN.",
  );
  expect(parse({ REDIS_URL_FILE: join(folder, "none") })).toThrow(
    /^REDIS_URL_FILE names a file that cannot be read: .*ENOENT/,
  );
  expect(parse({ ENCRYPTION_KEYS_FILE: write("short", "k1:short") })).toThrow(listOfKeys);
  const empty = write("empty", "\n");
  expect(parse({ METRICS_TOKEN_FILE: empty })().metricsToken).toBeUndefined();
  expect(parse({ ENCRYPTION_KEYS_FILE: empty })).toThrow("ENCRYPTION_KEYS is required");
  expect(parse({ DATABASE_URL_FILE: empty })).toThrow("DATABASE_URL_FILE names an empty file.");
  // A setting without secrets has no file.
  expect(parse({ HOST_FILE: write("host", "0.0.0.0") })().host).toBe("127.0.0.1");
});

it("a misspelt name of a file of a secret is found", () => {
  expect(findMisspelledSettings({ ENCRYPTION_KEY_FILE: "x", ENCRYPTION_KEYS_FILE: "x" })).toEqual([
    { given: "ENCRYPTION_KEY_FILE", meant: "ENCRYPTION_KEYS_FILE" },
  ]);
});
