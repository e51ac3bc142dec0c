/**
 * The form of a measured guarantee, and functions that build its measurements. figure-list.ts has the list of
 * guarantees.
 */
import type { MeasuredFigure } from "./record.ts";

export interface MeasuredGuarantee {
  readonly number: number;
  readonly promise: string;
  readonly measurements: readonly GuaranteeMeasurement[];
  /** Test files of `npm test` that check a short version of the guarantee. */
  readonly shortTests: readonly string[];
}

export interface GuaranteeMeasurement {
  /** The name of the measurement in docs/figures.json. */
  readonly name: string;
  readonly command: string;
  readonly engines: readonly MeasuredFigure["engine"][];
  /** The minimum of each count, summed over all engines. */
  readonly atLeast?: Readonly<Record<string, number>>;
  /** The minimum of each value, on every engine. */
  readonly atLeastEach?: Readonly<Record<string, number>>;
  readonly atMost?: Readonly<Record<string, number>>;
}

export const bothEngines = ["pglite", "postgres"] as const;

export const measureBySoak = (
  name: string,
  minutes: number,
): Pick<GuaranteeMeasurement, "name" | "command"> => ({
  name,
  command: `npm run soak -- --only ${name} --minutes ${minutes}`,
});
export const measureBySuite = (name: string): GuaranteeMeasurement => ({
  ...measureBySoak(name, 1),
  engines: ["both"],
  atMost: { failed: 0 },
});

export const measureByMutation = (module: string): GuaranteeMeasurement => ({
  name: `mutation-${module}`,
  command: "npm run mutation -- --fresh --record",
  engines: [null],
  atLeastEach: { scorePercent: 85 },
});
