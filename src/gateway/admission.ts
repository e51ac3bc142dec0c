/**
 * What stands between a credential that holds and its use. A token's proof leaves a row (it is good once), so whoever will not be served anyway is
 * refused before that: the rows that an app can make are as many as the requests that its limits allow.
 */
import type { Admit } from "#access/oauth/access-tokens.ts";
import { credentialIdOf, credentialOwnerOf, type IntegratorViewer } from "#access/viewer.ts";
import { fail } from "#foundation/failure.ts";
import type { Call, GatewayServices } from "./call.ts";
import type { Operation } from "./contract.ts";
import { type Counted, refuseUsedUp } from "#http/rate-limiter.ts";

export function createAdmission({ limiter }: Pick<GatewayServices, "limiter">, operation: Operation): (call: Call) => Admit<IntegratorViewer> {
  const { security } = operation;
  const mayBeSuspended = security.kind !== "anonymous" && security.whileSuspended;
  return (call) => async (viewer) => {
    if (viewer.suspended !== null && !mayBeSuspended) {
      call.refused = credentialOwnerOf(viewer);
      throw fail(viewer.suspended);
    }
    if (viewer.kind === "oauth") await refuseUsedUp(limiter, call.reply, countedAs(viewer, operation));
  };
}

/** Reads and changes each have a bucket for each credential; what has a bucket of its own is counted by installation. */
export function countedAs(viewer: IntegratorViewer, { method, ownBucket }: Pick<Operation, "method" | "ownBucket">): Counted {
  if (ownBucket !== null) return { bucket: ownBucket, key: viewer.installationId };
  return { bucket: method === "GET" ? "default" : "write", key: credentialIdOf(viewer) };
}
