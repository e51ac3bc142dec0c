/** The types that all clients of the simulation share. */
import type { AcknowledgedWrite } from "#soak/crash-checks.ts";
import type { Checkout, SessionState } from "#soak/checkout-shop.ts";
import type { HttpAnswer, SendRequest, Shop, Write } from "#soak/shop.ts";
import type { SeededRandom } from "./seeded-random.ts";

export interface ClientsPlan {
  readonly ask: SendRequest;
  readonly shop: Shop;
  readonly random: SeededRandom;
}

/** What the clients know at the end of a seed. */
export interface ClientRecord {
  readonly done: AcknowledgedWrite[];
  readonly carts: string[];
  readonly answers: { readonly write: Write; readonly first: HttpAnswer }[];
  readonly sessionIds: string[];
  /** The submitted sessions, with the status that each must have at the end. */
  readonly decisions: { readonly checkout: Checkout; readonly expected: SessionState["status"] }[];
  readonly feeds: FeedRead[];
  readonly violations: string[];
}

/** An event that a reader of the event feed got. */
export interface ReadEvent {
  readonly id: string;
  readonly subject: { readonly id: string; readonly version: number };
}

/** A reader of the event feed: the cursor at which it began, the cursor of its last page, and its events. */
export interface FeedRead {
  readonly start: string;
  cursor: string;
  readonly events: ReadEvent[];
}
