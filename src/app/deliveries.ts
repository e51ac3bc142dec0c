/** Wires the webhook dispatcher to the settings, and has it woken by whatever happens. */
import type { Transaction } from "#database/transaction.ts";
import { afterCommit } from "#database/transaction.ts";
import type { Log } from "#foundation/log.ts";
import type { GraphServices } from "#graph/context.ts";
import type { Watch } from "#graph/live/watch.ts";
import type { AttemptObserver } from "#webhooks/dispatch/dispatch-parts.ts";
import { createDispatcher, type Dispatcher } from "#webhooks/dispatch/dispatcher.ts";
import type { RenderSubject } from "#webhooks/outbox.ts";
import { createSafeSender } from "#webhooks/safe-request.ts";
import type { Settings } from "./settings.ts";

type Parts = Pick<GraphServices, "db" | "clock" | "keyring" | "render" | "watch"> & {
  readonly settings: Pick<Settings, "webhookAllowLoopback" | "webhookRetryScale">;
  readonly log: Log;
  readonly onAttempt: AttemptObserver | undefined;
};

export function createDeliveries({ settings, watch, onAttempt = () => undefined, ...parts }: Parts): Dispatcher {
  const sender = createSafeSender({ isLoopbackAllowed: settings.webhookAllowLoopback, clock: parts.clock });
  const dispatcher = createDispatcher({ ...parts, sender, scale: settings.webhookRetryScale, onMoved: () => watch?.deliveries.wake(), onAttempt });
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

/** Who follows a thing is told once what has been done to it is committed; other things are not looked at. */
export function tellingAfter(render: RenderSubject, watch: Pick<Watch, "isWatched" | "wake">): RenderSubject {
  return (transaction, subject) => {
    if (watch.isWatched(subject)) afterCommit(transaction, () => watch.wake(subject.type));
    return render(transaction, subject);
  };
}
