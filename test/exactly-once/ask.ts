/**
 * Sends requests to an app in this process, and starts a second app on the same database, as another process
 * would.
 */
import { type ServiceApp, createServiceApp } from "#app/app.ts";
import { parseServiceSettings } from "#app/settings.ts";
import type { OpenedDatabase } from "#database/connect.ts";
import { createLog } from "#foundation/log.ts";
import type { SendRequest } from "#soak/shop.ts";
import { encryptionKeys } from "#test/support/copies.ts";
import { publicUrl, type World } from "#test/support/world.ts";

/** The encryption keys, which every process on a database shares. */
export const environment = { ENCRYPTION_KEYS: encryptionKeys };

export async function startBeside(
  { clock }: Pick<World, "clock">,
  database: OpenedDatabase,
  more: Readonly<Record<string, string>> = {},
): Promise<ServiceApp> {
  const settings = parseServiceSettings({
    PORT: "4000",
    PUBLIC_URL: publicUrl,
    RATE_LIMIT_SCALE: "0",
    ...environment,
    ...more,
  });
  return createServiceApp({ settings, log: createLog("silent"), clock, database });
}

export const askOf =
  ({ server }: ServiceApp): SendRequest =>
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
