/**
 * Replaces Argon2 with a version that waits until the test releases it, so that a test can act during the
 * hashing without a race. Installed by `vi.mock("node:crypto", …)`.
 */
import type * as Crypto from "node:crypto";

let held: (() => void)[] | undefined;
let onHeld: (() => void) | undefined;

/** Blocks all hashing until `release` is called. `first` resolves when the first call is waiting. */
export function holdArgon2(): { readonly first: Promise<void>; readonly release: () => void } {
  const { promise: first, resolve } = Promise.withResolvers<void>();
  const waiting: (() => void)[] = [];
  held = waiting;
  onHeld = resolve;
  const release = (): void => {
    held = undefined;
    for (const go of waiting) go();
  };
  return { first, release };
}

export function withHeldArgon2(crypto: typeof Crypto): typeof Crypto {
  const argon2: typeof Crypto.argon2 = (...args) => {
    if (held === undefined) return crypto.argon2(...args);
    held.push(() => crypto.argon2(...args));
    onHeld?.();
  };
  return { ...crypto, argon2 };
}
