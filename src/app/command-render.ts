/** Renders events for commands, which run without the service. Mesh is opened when a command writes its first event. */
import type { Database } from "#database/connect.ts";
import { createDoOnce } from "#database/idempotency.ts";
import { createReadOnly } from "#database/read-only.ts";
import { systemClock } from "#foundation/clock.ts";
import { createServiceEvents } from "#foundation/events.ts";
import type { GraphServices } from "#graph/context.ts";
import { openMesh } from "#mesh/open-mesh.ts";
import { createResolvedNames } from "#webhooks/endpoint-url.ts";
import type { RenderSubject } from "#webhooks/outbox.ts";
import { readKeyring } from "./encryption-keys.ts";
import { createServices, createSubjectRender } from "./services.ts";
import { publicUrlOf, type Settings } from "./settings.ts";

export function createCommandRender(db: Database, settings: Settings): RenderSubject {
  let rendering: Promise<ReturnType<typeof createSubjectRender>> | undefined;
  const keyring = readKeyring(settings);
  const parts: Omit<GraphServices, "render"> = {
    db,
    readOnly: createReadOnly(db),
    clock: systemClock,
    publicUrl: publicUrlOf(settings),
    rateLimitScale: settings.rateLimitScale,
    keyring,
    doOnce: createDoOnce({ db, keyring, now: () => systemClock.now() }),
    // Nobody subscribes: a running service finds new payments and deliveries by itself.
    events: createServiceEvents(),
    resolvedNames: createResolvedNames(),
    isLoopbackAllowed: settings.webhookAllowLoopback,
  };
  return createServices(parts, async (services, transaction, subject) => {
    rendering ??= openMesh().then(createSubjectRender);
    const render = await rendering;
    return render(services, transaction, subject);
  }).render;
}
