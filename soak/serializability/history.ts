/**
 * The form of a history: operations of clients, each with the values that it wrote and read. An object is a
 * list to which operations append values, or a register that operations overwrite. The checker in judge.ts
 * works in the manner of Elle (Kingsbury and Alvaro, "Elle: Inferring Isolation Anomalies from Experimental
 * Observations", VLDB 2020).
 */

export type HistoryStep =
  | {
      readonly kind: "append";
      /** The list. The name is shown in the explanation of an anomaly. */
      readonly object: string;
      /** The appended value. No other operation may append the same value to the list. */
      readonly value: string;
    }
  | {
      readonly kind: "readList";
      readonly object: string;
      /** The values of the list, oldest first. */
      readonly values: readonly string[];
    }
  | {
      readonly kind: "write";
      /** The register. The name is shown in the explanation of an anomaly. */
      readonly object: string;
      /** The written value; null if the client does not know the value. */
      readonly value: string | null;
      /** The number of the value in the order of all values of the register; left out if it is not known. */
      readonly version?: number;
    }
  | {
      readonly kind: "read";
      readonly object: string;
      /** The value of the register; `unwritten` before the first write. */
      readonly value: string;
      /** The read value is the newest value of the register up to this version; left out if not known. */
      readonly version?: number;
    };

/** The value of a register before the first write. */
export const unwritten = "";

export interface HistoryOperation {
  /** What the operation does, for explanations. */
  readonly name: string;
  /** The client, which sends one operation after the other. */
  readonly client: number;
  /** Milliseconds at which the request was sent, and at which its answer arrived. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** `unknown` if the client got no answer: the operation may have happened, or may still happen. */
  readonly outcome: "done" | "failed" | "unknown";
  /**
   * What the operation wrote and read, in this order. An operation with an unknown outcome has only writes,
   * because the client saw nothing.
   */
  readonly steps: readonly HistoryStep[];
}

/**
 * The names of cycles are those of Adya (PhD thesis, MIT 1999) and Elle. A cycle that needs the order of one
 * client's operations or of real time has the addition `-session` or `-realtime`.
 */
export type AnomalyName =
  | `${"G0" | "G1c" | "G-single" | "G2-item"}${"" | "-session" | "-realtime"}`
  | "G1a"
  | "G1b"
  | "lost update"
  | "internal"
  | "duplicate value"
  | "unwritten value"
  | "incompatible order";

export interface HistoryAnomaly {
  readonly name: AnomalyName;
  /** What happened, in words. */
  readonly text: string;
}

/** Names an operation in an explanation, for example `#17 "add a line" of client 3`. */
export function describeOperation(operations: readonly HistoryOperation[], index: number): string {
  const { name = "an unknown operation", client = -1 } = operations[index] ?? {};
  return `#${index} "${name}" of client ${client}`;
}

export const describeValue = (value: string): string => (value === unwritten ? "no value" : `"${value}"`);
