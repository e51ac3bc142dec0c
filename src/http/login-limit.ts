/** How often passwords may be guessed, wherever they are asked for: at the authorization server and at the console together. */
import type { Bucket } from "#access/limits.ts";
import type { LoginLimit } from "#access/people/sign-in.ts";
import { addressKey } from "./client-address.ts";
import type { RateLimiter } from "./rate-limiter.ts";

/**
 * By address and by account. The address first: once it is used up, no account of its choice is counted, of which there are as many as anybody invents.
 * What goes beyond a quota stays counted; it makes no window longer.
 */
export function createLoginLimit(limiter: RateLimiter): LoginLimit {
  const secondsLeft = async (bucket: Bucket, key: string): Promise<number | undefined> => {
    const state = await limiter.consume(bucket, key);
    return state?.isExceeded === true ? state.resetSeconds : undefined;
  };
  return {
    take: async ({ account, address }) => {
      const key = addressKey(address);
      const ofAddress = await secondsLeft("login-fail-address", key);
      if (ofAddress !== undefined) return ofAddress;
      const ofAccount = await secondsLeft("login-fail", account);
      if (ofAccount !== undefined) await limiter.giveBack("login-fail-address", key);
      return ofAccount;
    },
    giveBack: async ({ account, address }) => {
      await limiter.giveBack("login-fail-address", addressKey(address));
      await limiter.giveBack("login-fail", account);
    },
  };
}
