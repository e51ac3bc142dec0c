/**
 * A clock that advances only when a test moves it. It has a file of its own, so that a test that needs only a
 * clock does not load the service.
 */
export class TestClock {
  at: Date;
  constructor(at: Date = new Date()) {
    this.at = at;
  }
  now(): Date {
    return this.at;
  }
  advance(ms: number): void {
    this.at = new Date(this.at.getTime() + ms);
  }
}

/** A period that contains all orders of the demo, whose age is relative to the present time: days in UTC. */
export function periodOfDemo(): { readonly from: string; readonly to: string } {
  const today = Temporal.Now.plainDateISO("UTC");
  return { from: String(today.subtract({ months: 18 })), to: String(today.add({ months: 5 })) };
}

/** The same period as the arguments of a report in GraphQL. */
export function periodArgumentsOfDemo(): string {
  const { from, to } = periodOfDemo();
  return `from: "${from}", to: "${to}"`;
}
