/** For whom a session is made and canceled, and who does it. */
import type { CartCommandContext } from "#commerce/carts/change-cart.ts";
import type { CancelActor } from "#commerce/carts/session-end.ts";

export interface SessionCommandContext extends CartCommandContext {
  readonly causedBy: CancelActor;
  /** The internal token that asks; null: another credential. */
  readonly tokenId: string | null;
}
