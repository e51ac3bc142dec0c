/**
 * Creates the GraphQL contexts for requests to `mesh dev`, the development server of GraphQL Mesh. Opens the
 * service on the configured database without listening on a port, and creates a context for every caller with
 * a valid internal token. The embedded database can be opened by one process only, so a running service must
 * be stopped first.
 */
import { type ServiceApp, createServiceApp } from "#app/app.ts";
import { parseServiceSettings } from "#app/settings.ts";
import { createFailure } from "#foundation/failure.ts";
import { createId } from "#foundation/ids.ts";
import { createLog } from "#foundation/log.ts";
import { createGraphqlContext, type GraphqlContext } from "#graph/context.ts";

let opening: Promise<ServiceApp> | undefined;

export async function createGraphqlContextForMeshDev(authorization: string): Promise<GraphqlContext> {
  const [scheme = "", token = ""] = authorization.split(" ");
  if (scheme.toLowerCase() !== "bearer")
    throw createFailure("credentials_malformed", {
      message: "The Authorization header must be `Bearer` followed by an internal token.",
    });
  // If the service cannot be opened, the next request tries again, because another process may have closed
  // the database in the meantime.
  opening ??= open().catch((error: unknown) => {
    opening = undefined;
    throw error;
  });
  const { credentials, services } = await opening;
  const viewer = await credentials.internalToken(token);
  return createGraphqlContext(services, { viewer, requestId: createId("request"), client: "mesh dev" });
}

async function open(): Promise<ServiceApp> {
  const settings = parseServiceSettings(process.env);
  return createServiceApp({ settings, log: createLog(settings.logLevel), role: "gateway" });
}
