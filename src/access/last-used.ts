/** When a credential was last used, noted once a minute at most: a request does not wait for it, and most cost no statement at all. */
import { LRUCache } from "lru-cache";
import type { Database } from "#database/connect.ts";

const noteEveryMs = 60_000;
const credentialsMax = 10_000;

const noted = new WeakMap<Database, LRUCache<string, number>>();

export interface Use {
  readonly credentialId: string;
  readonly now: Date;
}

export function isUseNoted(db: Database, { credentialId, now }: Use): boolean {
  const at = noted.get(db)?.get(credentialId);
  return at !== undefined && Math.abs(now.getTime() - at) < noteEveryMs;
}

/** `write` holds to the same minute by itself: other processes note as well. */
export async function noteUse(db: Database, use: Use, write: () => Promise<unknown>): Promise<void> {
  if (isUseNoted(db, use)) return;
  const { credentialId, now } = use;
  const times = noted.get(db) ?? new LRUCache<string, number>({ max: credentialsMax });
  noted.set(db, times);
  times.set(credentialId, now.getTime());
  try {
    await write();
  } catch (error) {
    times.delete(credentialId);
    throw error;
  }
}
