/** When a credential was last used, noted once a minute at most: a request does not wait for it, and most cost no statement at all. */
import { LRUCache } from "lru-cache";
import type { Database } from "#database/connect.ts";

const noteEveryMs = 60_000;
const credentialsMax = 10_000;

const noted = new WeakMap<Database, LRUCache<string, number>>();

/** `write` holds to the same minute by itself: other processes note as well. */
export async function noteUse(
  db: Database,
  use: { readonly credentialId: string; readonly now: Date },
  write: () => Promise<unknown>,
): Promise<void> {
  const { credentialId, now } = use;
  const times = noted.get(db) ?? new LRUCache<string, number>({ max: credentialsMax });
  noted.set(db, times);
  const at = times.get(credentialId);
  if (at !== undefined && Math.abs(now.getTime() - at) < noteEveryMs) return;
  times.set(credentialId, now.getTime());
  try {
    await write();
  } catch (error) {
    times.delete(credentialId);
    throw error;
  }
}
