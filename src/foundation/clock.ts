/**
 * The clock of the service. All code that compares or stores times reads the present time from this clock, so
 * that tests can set the time.
 */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };
