/**
 * Reads the settings from environment variables. If the value of a variable is invalid, the service does not
 * start, and the error names the variable and the broken rule.
 */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import type { RateLimitQuotaFactors } from "#access/viewer.ts";
import { stripeApiBase } from "#commerce/payments/stripe/stripe-client.ts";
import type { EncryptionKey } from "#foundation/encryption.ts";
import { InvalidSettingError, type EnvironmentVariables } from "#foundation/failure.ts";
import { logLevels } from "#foundation/log.ts";
import { computeEditDistance } from "#foundation/nearest.ts";
import { encryptionKeysRule, parseEncryptionKeys } from "./encryption-keys.ts";

const flag = z.enum(["0", "1"], { error: "must be 0 or 1" }).transform((value) => value === "1");
const integer = (min: number, max: number): z.ZodType<number, string> =>
  z
    .string()
    .regex(/^\d+$/, `must be an integer from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be an integer from ${min} to ${max}`);
const factor = z
  .string()
  .regex(/^\d+(\.\d+)?$/, "must be a decimal number of 0 or more")
  .transform(Number);
const address = (protocols: readonly string[], example: string): z.ZodType<string, string> =>
  z
    .string()
    .refine(
      (value) => URL.canParse(value) && protocols.includes(new URL(value).protocol),
      `must be an address like ${example}`,
    );
const postgresUrl = address(["postgres:", "postgresql:"], "postgres://user:password@host:5432/name");
const httpUrl = address(["http:", "https:"], "https://api.example.com").refine(
  (value) => !value.endsWith("/"),
  "must not end with a slash",
);
/** The URL of a trace collector. Slashes at its end, which some platforms add, are removed. */
const collectorUrl = address(["http:", "https:"], "http://collector:4318")
  .refine((value) => !/[?#]/.test(value), "must not have a query or a fragment")
  .transform((value) => value.replace(/\/+$/, ""));
const encryptionKeys = z.string().transform((value, context) => {
  const keys = parseEncryptionKeys(value);
  if (typeof keys !== "string") return keys;
  context.addIssue(keys);
  return z.NEVER;
});
const origins = z
  .string()
  .transform((value) => value.split(",").map((origin) => origin.trim()))
  .refine(
    (list) => list.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin),
    "must be a comma-separated list of origins like https://shop.example",
  );

const schema = z.object({
  HOST: z.string().default("127.0.0.1"),
  PORT: integer(0, 65_535).default(4000),
  PUBLIC_URL: httpUrl.optional(),
  DATABASE_URL: postgresUrl.optional(),
  DATABASE_POOL: integer(1, 200).default(10),
  DATA_DIR: z.string().default(".data"),
  DATABASE_DIRECT_URL: postgresUrl.optional(),
  DATABASE_OWNER_URL: postgresUrl.optional(),
  DATABASE_READ_URL: postgresUrl.optional(),
  DATABASE_READ_LAG_MAX: integer(1, 3600).default(5),
  DATABASE_PREPARED: flag.default(true),
  DATABASE_COMMENTS: flag.default(false),
  REDIS_URL: address(["redis:", "rediss:"], "redis://host:6379").optional(),
  ENCRYPTION_KEYS: encryptionKeys.optional(),
  DEMO: flag.optional(),
  RATE_LIMIT_SCALE: factor.default(1),
  GRAPHQL_QUOTA_SCALE: factor.default(1),
  WEBHOOK_ALLOW_LOOPBACK: flag.optional(),
  WEBHOOK_RETRY_SCALE: factor.default(1),
  CORS_ORIGINS: origins.default([]),
  METRICS_TOKEN: z.string().min(16, "must have at least 16 characters").optional(),
  PROCESSES: integer(1, 64).default(1),
  RESPONSE_CACHE_MB: integer(0, 16_384).default(64),
  CART_RETENTION_DAYS: integer(90, 36_500).default(731),
  LOG_LEVEL: z.enum(logLevels, { error: `must be one of ${logLevels.join(", ")}` }).default("info"),
  TRUST_PROXY: integer(0, 10).default(0),
  DRAIN_SECONDS: integer(0, 600).default(5),
  MIGRATE: flag.default(true),
  WATCHDOG_SECONDS: integer(0, 3600).optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: collectorUrl.optional(),
  STRIPE_API_BASE: httpUrl.default(stripeApiBase),
});

export const settingNames: readonly string[] = Object.keys(schema.shape);
/**
 * The names of the settings that can contain passwords or keys. Instead of such a setting, the variable
 * `NAME_FILE` can name a file that contains its value.
 */
const secretNames: ReadonlySet<string> = new Set([
  "DATABASE_URL",
  "DATABASE_DIRECT_URL",
  "DATABASE_OWNER_URL",
  "DATABASE_READ_URL",
  "REDIS_URL",
  "ENCRYPTION_KEYS",
  "METRICS_TOKEN",
  "OTEL_EXPORTER_OTLP_ENDPOINT",
]);
const fileNameOf = (name: string): string => `${name}_FILE`;
const variableNames: readonly string[] = [...settingNames, ...[...secretNames].map(fileNameOf)];

export interface ServiceSettings {
  readonly host: string;
  readonly port: number;
  /**
   * The base URL under which clients reach the service; undefined if the base URL is built from the settings
   * HOST and PORT.
   */
  readonly publicUrl: string | undefined;
  readonly databaseUrl: string | undefined;
  readonly databaseDirectUrl: string | undefined;
  /** The URL of the database role that owns the tables and applies migrations. */
  readonly databaseOwnerUrl: string | undefined;
  /**
   * The URL of the read replica of the database, for reports, analysts and reads without a credential;
   * undefined if they read from the primary database.
   */
  readonly databaseReadUrl: string | undefined;
  /** The lag of the read replica in seconds beyond which the primary database is read instead. */
  readonly databaseReadLagSecondsMax: number;
  readonly databasePool: number;
  readonly databasePrepared: boolean;
  /** Whether the SQL statements of a request contain the id of the request as a comment. */
  readonly databaseComments: boolean;
  readonly dataDir: string;
  readonly redisUrl: string | undefined;
  /**
   * The encryption keys of stored data: the first key encrypts new data, and every key can decrypt. Undefined
   * only with the embedded database if the setting is not set: the key file in `dataDir` is used then.
   */
  readonly encryptionKeys: readonly EncryptionKey[] | undefined;
  readonly demo: boolean;
  readonly rateLimitScale: number;
  /** The number of days after which a cart that ended without an order is deleted. */
  readonly cartRetentionDays: number;
  /**
   * The factor by which the quotas of `/graphql`, CSV reports and exports are multiplied; 0 switches the rate
   * limits off.
   */
  readonly graphqlQuotaScale: number;
  /**
   * True if merchants in test mode may register webhook endpoints whose URL names the machine of this service
   * (loopback addresses).
   */
  readonly webhookAllowLoopback: boolean;
  /**
   * The factor by which the delays between the attempts to deliver a webhook are multiplied; for example, 0.5
   * halves the delays.
   */
  readonly webhookRetryScale: number;
  readonly corsOrigins: readonly string[];
  /**
   * The token that a caller of `/metrics` must send; undefined if only callers on this machine may read the
   * metrics.
   */
  readonly metricsToken: string | undefined;
  /** The number of processes that one `serve`, `gateway` or `worker` command starts. */
  readonly processes: number;
  /** The maximum total size in bytes of the answers in a process's response cache; 0 switches the cache off. */
  readonly responseCacheBytes: number;
  readonly logLevel: (typeof logLevels)[number];
  readonly trustProxy: number;
  /**
   * Milliseconds for which a process still answers requests after SIGTERM. During this time `/readyz` answers
   * 503, so that load balancers send no new requests.
   */
  readonly drainMs: number;
  /** Whether a process that serves requests migrates the database when it starts. */
  readonly migrate: boolean;
  /**
   * Milliseconds that the event loop may be blocked before the watchdog ends the process; 0 switches the
   * watchdog off.
   */
  readonly watchdogMs: number;
  /** The URL of the trace collector; undefined if tracing is off. */
  readonly tracesEndpoint: string | undefined;
  /** The base URL of Stripe's API; tests replace it by the URL of a simulated API. */
  readonly stripeApiBase: string;
}

export function parseServiceSettings(environment: EnvironmentVariables): ServiceSettings {
  const values = parse(environment);
  const isEmbedded = values.DATABASE_URL === undefined;
  if (!isEmbedded && values.ENCRYPTION_KEYS === undefined)
    throw new InvalidSettingError(`ENCRYPTION_KEYS is required with DATABASE_URL: ${encryptionKeysRule}.`);
  return Object.freeze({
    host: values.HOST,
    port: values.PORT,
    publicUrl: values.PUBLIC_URL,
    databaseUrl: values.DATABASE_URL,
    databaseDirectUrl: values.DATABASE_DIRECT_URL,
    databaseOwnerUrl: values.DATABASE_OWNER_URL,
    databaseReadUrl: values.DATABASE_READ_URL,
    databaseReadLagSecondsMax: values.DATABASE_READ_LAG_MAX,
    databasePool: values.DATABASE_POOL,
    databasePrepared: values.DATABASE_PREPARED,
    databaseComments: values.DATABASE_COMMENTS,
    dataDir: resolve(values.DATA_DIR),
    redisUrl: values.REDIS_URL,
    encryptionKeys: values.ENCRYPTION_KEYS,
    demo: values.DEMO ?? isEmbedded,
    rateLimitScale: values.RATE_LIMIT_SCALE,
    cartRetentionDays: values.CART_RETENTION_DAYS,
    graphqlQuotaScale: values.GRAPHQL_QUOTA_SCALE,
    webhookAllowLoopback: values.WEBHOOK_ALLOW_LOOPBACK ?? isEmbedded,
    webhookRetryScale: values.WEBHOOK_RETRY_SCALE,
    corsOrigins: values.CORS_ORIGINS,
    metricsToken: values.METRICS_TOKEN,
    processes: values.PROCESSES,
    responseCacheBytes: values.RESPONSE_CACHE_MB * 1024 * 1024,
    logLevel: values.LOG_LEVEL,
    trustProxy: values.TRUST_PROXY,
    drainMs: values.DRAIN_SECONDS * 1000,
    migrate: values.MIGRATE,
    watchdogMs: getWatchdogSeconds(values) * 1000,
    tracesEndpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT,
    stripeApiBase: values.STRIPE_API_BASE,
  });
}

/** Returns the factors by which the service multiplies the quotas of its rate limits. */
export const getRateLimitQuotaFactors = ({
  rateLimitScale,
  graphqlQuotaScale,
}: Pick<ServiceSettings, "rateLimitScale" | "graphqlQuotaScale">): RateLimitQuotaFactors => ({
  all: rateLimitScale,
  graphql: graphqlQuotaScale,
});

/**
 * The number of seconds after which the watchdog ends a blocked process. The default is longer with the
 * embedded database: PGlite executes SQL in the event loop without a time limit, so a slow statement may
 * block the process.
 */
const getWatchdogSeconds = ({
  WATCHDOG_SECONDS: seconds,
  DATABASE_URL: url,
}: Pick<z.infer<typeof schema>, "WATCHDOG_SECONDS" | "DATABASE_URL">): number =>
  seconds ?? (url === undefined ? 300 : 60);

/**
 * Returns the base URL of all links that the service sends: the setting PUBLIC_URL, or else the address at
 * which the service listens.
 */
export function getPublicUrl({
  publicUrl,
  host,
  port,
}: Pick<ServiceSettings, "publicUrl" | "host" | "port">): string {
  return publicUrl ?? `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/**
 * Returns all settings as texts, including default values; secrets are hidden. The command `config` prints
 * them.
 */
export function formatMaskedSettings(environment: EnvironmentVariables): Record<string, string | null> {
  const values = parse(environment);
  const isEmbedded = values.DATABASE_URL === undefined;
  const inForce: Readonly<Record<string, unknown>> = {
    ...values,
    DEMO: values.DEMO ?? isEmbedded,
    WEBHOOK_ALLOW_LOOPBACK: values.WEBHOOK_ALLOW_LOOPBACK ?? isEmbedded,
    WATCHDOG_SECONDS: getWatchdogSeconds(values),
  };
  return Object.fromEntries(settingNames.map((name) => [name, formatSetting(name, inForce[name])]));
}

function formatSetting(name: string, value: unknown): string | null {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return null;
  if (secretNames.has(name)) return "********";
  if (typeof value === "boolean") return value ? "1" : "0";
  if (Array.isArray(value)) return value.join(",");
  return typeof value === "string" ? value : JSON.stringify(value);
}

/**
 * Finds environment variables whose name differs from the name of a setting by one letter, which is probably
 * a typing error.
 */
export function findMisspelledSettings(
  environment: EnvironmentVariables,
): { readonly given: string; readonly meant: string }[] {
  return Object.keys(environment)
    .filter((given) => !variableNames.includes(given))
    .flatMap((given) => {
      const meant = variableNames.find(
        (name) => name.length > 4 && computeEditDistance(given, name, 1) === 1,
      );
      return meant === undefined ? [] : [{ given, meant }];
    });
}

/**
 * Returns the text of a setting. If the setting is a secret, its text can also be in the file that the
 * variable `NAME_FILE` names. A setting with an empty file counts as not set, because Compose mounts a file
 * for each optional secret.
 */
function readSetting(environment: EnvironmentVariables, name: string): string | undefined {
  const value = readVariable(environment, name);
  const fileName = fileNameOf(name);
  const path = secretNames.has(name) ? readVariable(environment, fileName) : undefined;
  if (path === undefined) return value;
  if (value !== undefined)
    throw new InvalidSettingError(`${fileName} must not be set together with ${name}.`);
  const content = readSecretFile(fileName, path);
  if (content !== "") return content;
  // Without DATABASE_URL, the service would use the embedded database and create the demo shop.
  if (name === "DATABASE_URL") throw new InvalidSettingError(`${fileName} names an empty file.`);
  return undefined;
}

function readSecretFile(fileName: string, path: string): string {
  try {
    // Editors and shells end a file with a line break, which is not part of the setting's value.
    return readFileSync(path, "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    throw new InvalidSettingError(`${fileName} names a file that cannot be read: ${String(error)}`);
  }
}

/**
 * An environment variable with an empty text counts as not set, because shells and Compose files easily
 * create empty variables.
 */
const readVariable = (environment: EnvironmentVariables, name: string): string | undefined =>
  environment[name] === "" ? undefined : environment[name];

function parse(environment: EnvironmentVariables): z.infer<typeof schema> {
  const given = Object.fromEntries(settingNames.map((name) => [name, readSetting(environment, name)]));
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new InvalidSettingError(`${String(issue?.path[0])} ${issue?.message}.`);
}
