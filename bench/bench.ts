/** What every kind of measurement is given: the machine it runs on, and where it says what it does. */
import type { Place } from "./children.ts";

export interface Bench {
  readonly machine: string;
  readonly place: Place;
  /** For what was found. */
  readonly say: (text: string) => void;
  /** For what is being done. */
  readonly step: (text: string) => void;
}
