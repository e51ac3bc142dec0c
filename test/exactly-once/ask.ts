/**
 * Asks an app of the same process, and starts a second one beside a world, as another process on the same
 * database would be.
 */
import { type ServiceApp, createApp } from "#app/app.ts";
import { readSettings } from "#app/settings.ts";
import type { OpenDatabase } from "#database/connect.ts";
import { createLog } from "#foundation/log.ts";
import type { Ask } from "#soak/shop.ts";
import { encryptionKeys } from "#test/support/copies.ts";
import { publicUrl, type World } from "#test/support/world.ts";

/** Every process on a database has the same keys. */
export const environment = { ENCRYPTION_KEYS: encryptionKeys };

export async function startBeside(
  { clock }: Pick<World, "clock">,
  database: OpenDatabase,
): Promise<ServiceApp> {
  const settings = readSettings({
    PORT: "4000",
    PUBLIC_URL: publicUrl,
    RATE_LIMIT_SCALE: "0",
    ...environment,
  });
  return createApp({ settings, log: createLog("silent"), clock, database });
}

export const askOf =
  ({ server }: ServiceApp): Ask =>
  async ({ method, url, headers, body }) => {
    const response = await server.inject({
      method,
      url,
      headers,
      ...(body === undefined ? {} : { payload: body }),
    });
    return {
      status: response.statusCode,
      headers: response.headers as Record<string, string | undefined>,
      text: response.body,
    };
  };
