/** The part of the OpenAPI document that says how often an operation may be called. */
import { type Bucket, quotas, shownName } from "#access/viewer.ts";
import type { Operation } from "./contract.ts";

interface ShownLimit {
  readonly bucket: string;
  readonly quota: number;
  readonly windowSeconds: number;
  readonly counts: "requests" | "failures";
  /** Whose they are: a credential's, an installation's, an address's, or those of a path parameter by its name. */
  readonly per: string;
}

/** As they are unless whoever runs the service has scaled them. */
export function rateLimitsOf({ security, method, ownBucket, failureLimit }: Operation): ShownLimit[] {
  const limit = (bucket: Bucket, of: Pick<ShownLimit, "counts" | "per">): ShownLimit => {
    const { quota, windowSeconds } = quotas[bucket];
    return { bucket: shownName(bucket), quota, windowSeconds, ...of };
  };
  const keyed = limit(ownBucket ?? (method === "GET" ? "default" : "write"), {
    counts: "requests",
    per: ownBucket === null ? "credential" : "installation",
  });
  const failures =
    failureLimit === null
      ? []
      : [
          limit(failureLimit.bucket, { counts: "failures", per: failureLimit.by }),
          limit(failureLimit.credentialBucket, { counts: "failures", per: "credential" }),
        ];
  if (security.kind === "anonymous") return [limit(security.bucket, { counts: "requests", per: "address" })];
  return [keyed, ...failures];
}
