/** The environment of all measurements: the machine, the placement of processes, and the functions for output. */
import type { ProcessPlacement } from "./children.ts";

export interface BenchOutput {
  readonly machine: string;
  readonly place: ProcessPlacement;
  /** Prints results. */
  readonly say: (text: string) => void;
  /** Prints the current step. */
  readonly step: (text: string) => void;
}
