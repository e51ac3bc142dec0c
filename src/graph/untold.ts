/** What analysts are not told: whose it is, and what somebody wrote in their own words, which may name people. */
import { callerOf } from "./builder.ts";
import type { GraphContext } from "./context.ts";

type Asking = Pick<GraphContext, "viewer">;

export function unlessAnalyst<Value>(value: Value, { viewer }: Asking): Value | null {
  return callerOf(viewer) === "analyst" ? null : value;
}

/** A frontend may put into an address who the buyer is: analysts see where it leads, without its query and fragment. */
export function addressToShow(address: string, { viewer }: Asking): string {
  return callerOf(viewer) === "analyst" ? address.replace(/[?#].*$/s, "") : address;
}
