/** Opens the database and the rate limiter that the settings describe, and finds a free port. */
import { type AddressInfo, createServer } from "node:net";
import type { LogEvent } from "kysely";
import { type OpenedDatabase, openDatabase } from "#database/connect.ts";
import { migrate, requireMigratedDatabase } from "#database/migrate.ts";
import { requestStatementLimits } from "#database/statement-pool.ts";
import type { Clock } from "#foundation/clock.ts";
import type { Log } from "#foundation/log.ts";
import { createMemoryRateLimiter, type RateLimiter } from "#http/rate-limiter.ts";
import { createVerifiedEncryptionKeyring } from "./encryption-canaries.ts";
import { getRateLimitScale, type ServiceSettings } from "./settings.ts";

export interface OpenServiceResourcesOptions {
  readonly settings: ServiceSettings;
  readonly log: Log;
  readonly onStatement?: (event: LogEvent) => void;
  /** The rate limiter to use; if left out, the rate limiter that the settings describe is created. */
  readonly limiter?: RateLimiter | undefined;
}

export async function createConfiguredRateLimiter(
  { settings, log, limiter }: OpenServiceResourcesOptions,
  clock: Clock,
): Promise<RateLimiter> {
  if (limiter !== undefined) return limiter;
  const { redisUrl } = settings;
  const scale = getRateLimitScale(settings);
  if (redisUrl === undefined) return createMemoryRateLimiter(scale, () => clock.now().getTime());
  const { createRedisRateLimiter } = await import("#http/redis-limiter.ts");
  return createRedisRateLimiter(redisUrl, scale, log);
}

export async function openConfiguredDatabase({
  settings,
  onStatement,
}: OpenServiceResourcesOptions): Promise<OpenedDatabase> {
  const database = await openDatabase({
    url: settings.databaseUrl,
    directUrl: settings.databaseDirectUrl,
    poolSize: settings.databasePool,
    prepared: settings.databasePrepared,
    limits: requestStatementLimits,
    folder: settings.databaseUrl === undefined ? settings.dataDir : undefined,
    onStatement,
  });
  try {
    await (settings.migrate ? migrate(database) : requireMigratedDatabase(database));
    await createVerifiedEncryptionKeyring(database.db, settings);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/**
 * Finds a free port, for the setting PORT=0. The port must be known before the service is created, because
 * answers contain absolute URLs.
 */
export function findFreePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, host, () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
