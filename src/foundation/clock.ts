/**
 * The clock: all code that compares or stores a time reads the present time here, so that tests can change
 * it.
 */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };
