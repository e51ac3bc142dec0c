/** What every kind of measurement is given: the machine it runs on, and where it says what it does. */
import type { ProcessPlacement } from "./children.ts";

export interface BenchOutput {
  readonly machine: string;
  readonly place: ProcessPlacement;
  /** For what was found. */
  readonly say: (text: string) => void;
  /** For what is being done. */
  readonly step: (text: string) => void;
}
