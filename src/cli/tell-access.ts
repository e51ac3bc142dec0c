/** Tells of what a command did to installations and keys, as the service would. What renders it is loaded when there is something to tell. */
import type { AccessEvent } from "#access/access-events.ts";
import type { Settings } from "#app/settings.ts";
import type { Database } from "#database/connect.ts";
import type { Transaction } from "#database/transaction.ts";

export interface CommandTelling {
  readonly db: Database;
  readonly settings: Settings;
  readonly now: Date;
}

export async function tellFromCommand(
  transaction: Transaction,
  happened: readonly AccessEvent[],
  { db, settings, now }: CommandTelling,
): Promise<void> {
  if (happened.length === 0) return;
  const [{ createCommandRender }, { tellAccess }] = await Promise.all([import("#app/command-render.ts"), import("#graph/access/access-events.ts")]);
  // Whoever has the shell is staff.
  const cause = { operationId: null, actor: "staff", requestId: null } as const;
  await tellAccess(transaction, happened, { now, cause, render: createCommandRender(db, settings) });
}
