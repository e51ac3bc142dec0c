/** Wires the webhook dispatcher to the settings, and has it woken by whatever happens. */
import type { Transaction } from "#database/transaction.ts";
import { afterCommit } from "#database/transaction.ts";
import type { Log } from "#foundation/log.ts";
import type { GraphServices } from "#graph/context.ts";
import { createDispatcher, type Dispatcher } from "#webhooks/dispatch/dispatcher.ts";
import type { RenderSubject } from "#webhooks/outbox.ts";
import { createSafeSender } from "#webhooks/safe-request.ts";
import type { Settings } from "./settings.ts";

type Parts = Pick<GraphServices, "db" | "clock" | "keyring" | "render"> & {
  readonly settings: Pick<Settings, "webhookAllowLoopback" | "webhookRetryScale">;
  readonly log: Log;
};

export function createDeliveries({ settings, ...parts }: Parts): Dispatcher {
  const sender = createSafeSender({ isLoopbackAllowed: settings.webhookAllowLoopback, clock: parts.clock });
  const dispatcher = createDispatcher({ ...parts, sender, scale: settings.webhookRetryScale });
  return {
    ...dispatcher,
    stop: async () => {
      await dispatcher.stop();
      await sender.close();
    },
  };
}

/** Whoever has a thing rendered writes an event of it: once that is committed, it is sent. */
export function wakingAfter(render: RenderSubject, wake: () => void): RenderSubject {
  const woken = new WeakSet<Transaction>();
  return (transaction, subject) => {
    if (!woken.has(transaction)) afterCommit(transaction, wake);
    woken.add(transaction);
    return render(transaction, subject);
  };
}
