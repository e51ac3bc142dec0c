/** How much an endpoint bears in this moment: the tokens of its bucket, and what is under way. Statements call its health `h` and itself `w`. */
import { type RawBuilder, sql } from "kysely";

/**
 * The longest an attempt can take (15 s), and a margin: it counts from when the claim is asked for, and that may wait for its turn. Should this ever
 * take longer than the margin, the attempt may be made twice, and is still written once.
 */
export const leaseMs = 20_000;
/** Both count what other processes have under way, as far as that was committed: two that claim in the same moment may each take so many. */
export const endpointSendingMax = 4;
export const installationSendingMax = 16;

const perSecondDefault = 25;
/** Of what an endpoint bears in a second, so much may come at once. */
const burstShare = 0.2;
/** Whoever wrote a time that is further ahead than any lease had a clock that was set back since: what it says of the bucket and of leases is over. */
const aheadMsMax = 2 * leaseMs;

export interface Moment {
  readonly at: RawBuilder<unknown>;
  /** What is later was written by a clock that is no more. */
  readonly latest: RawBuilder<unknown>;
}

export const momentOf = (now: Date): Moment => ({
  at: sql`${now}::timestamptz`,
  latest: sql`${new Date(now.getTime() + aheadMsMax)}::timestamptz`,
});

export const tokensNow = ({ at, latest }: Moment): RawBuilder<number> => {
  const perSecond = sql`coalesce(w.max_per_second, ${perSecondDefault})`;
  const refilled = sql`h.tokens + greatest(extract(epoch from ${at} - h.tokens_at)::double precision, 0) * ${perSecond}`;
  const burst = sql`greatest(${perSecond} * ${burstShare}::double precision, 1)`;
  return sql<number>`case when h.tokens_at > ${latest} then ${burst} else least(${burst}, ${refilled}) end`;
};

/** How many deliveries `s` are under way of those meant. */
export const sending = (whose: RawBuilder<unknown>, { at, latest }: Moment): RawBuilder<number> =>
  sql<number>`(select count(*) from webhook_delivery s
    where s.status = 'sending' and ${whose} and s.next_attempt_at > ${at} and s.next_attempt_at <= ${latest})::integer`;
