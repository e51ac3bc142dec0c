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
