/**
 * The only source of the present: everything that compares or stores a time takes it from here, so that a
 * test can move it.
 */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };
