/** Renders events outside of the service: the graph without its doors. */
import type { Database } from "#database/connect.ts";
import { createReadOnly } from "#database/read-only.ts";
import { systemClock } from "#foundation/clock.ts";
import { respelledSchema } from "#gateway/spelling.ts";
import type { GraphServices } from "#graph/context.ts";
import graph from "#graph/schema.ts";
import { createResolvedNames } from "#webhooks/endpoints/resolved-names.ts";
import type { RenderSubject } from "#webhooks/outbox.ts";
import { readKeyring } from "./encryption-keys.ts";
import { compileSubjects } from "./event-documents.ts";
import { publicUrlOf, type Settings } from "./settings.ts";

export function createCommandRender(db: Database, settings: Settings): RenderSubject {
  const render = compileSubjects(respelledSchema(graph));
  const services: GraphServices = {
    db,
    readOnly: createReadOnly(db),
    clock: systemClock,
    publicUrl: publicUrlOf(settings),
    rateLimitScale: settings.rateLimitScale,
    keyring: readKeyring(settings),
    render: (transaction, subject) => render(services, transaction, subject),
    // A service that runs looks for itself.
    wakePayments: () => undefined,
    wakeDeliveries: () => undefined,
    resolvedNames: createResolvedNames(),
    isLoopbackAllowed: settings.webhookAllowLoopback,
  };
  return services.render;
}
