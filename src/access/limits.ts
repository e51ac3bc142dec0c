/** Every quota of the service, in one table. Windows are fixed and start with a caller's first request in them. */
export interface Quota {
  readonly quota: number;
  readonly windowSeconds: number;
  /** What clients know it by, where that is not its own name. */
  readonly shownAs?: string;
}

export const quotas = {
  default: { quota: 600, windowSeconds: 60 },
  write: { quota: 120, windowSeconds: 60 },
  // Per installation: its keys share it.
  replay: { quota: 60, windowSeconds: 60 },
  "anon-search": { quota: 60, windowSeconds: 60 },
  "anon-read": { quota: 300, windowSeconds: 60 },
  "auth-fail": { quota: 20, windowSeconds: 300 },
  // Codes that were guessed wrong: on one cart, and by one credential.
  "promo-fail": { quota: 10, windowSeconds: 600 },
  "promo-fail-credential": { quota: 60, windowSeconds: 600, shownAs: "promo-fail" },
  // Wrong passwords on the sign-in page: of one account, and from one address.
  "login-fail": { quota: 10, windowSeconds: 600 },
  "login-fail-address": { quota: 30, windowSeconds: 600, shownAs: "login-fail" },
} as const satisfies Record<string, Quota>;

export type Bucket = keyof typeof quotas;

/** The buckets that count per credential, which an integrator reads to pace its calls. */
export const credentialBuckets: readonly Bucket[] = ["default", "write"];

export function isBucket(name: string): name is Bucket {
  return Object.hasOwn(quotas, name);
}

export function shownName(bucket: Bucket): string {
  const quota: Quota = quotas[bucket];
  return quota.shownAs ?? bucket;
}

/** The quota in force; undefined when limits are off. */
export function scaledQuota(bucket: Bucket, scale: number): number | undefined {
  return scale === 0 ? undefined : Math.max(1, Math.round(quotas[bucket].quota * scale));
}
