/** The environment of measurements: the machine, the cores of the processes, and the output. */
import type { ProcessPlacement } from "./children.ts";

export interface BenchEnvironment {
  readonly machine: string;
  readonly placement: ProcessPlacement;
  readonly printResult: (text: string) => void;
  readonly printStep: (text: string) => void;
}
