/**
 * The checker of histories: a serial execution has no anomaly, and every planted anomaly is found and named,
 * alone and between the operations of a serial execution.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type HistoryOperation, type HistoryStep, unwritten } from "#soak/serializability/history.ts";
import { judgeHistory } from "#soak/serializability/judge.ts";
import { findMissingVersions } from "#soak/serializability/missing-versions.ts";
import { manyRuns } from "#test/support/properties.ts";
import { executeSerially, serialHistory } from "./serial-histories.ts";

const append = (object: string, value: string): HistoryStep => ({ kind: "append", object, value });
const readList = (object: string, ...values: string[]): HistoryStep => ({ kind: "readList", object, values });
const write = (object: string, value: string, version?: number): HistoryStep => ({
  kind: "write",
  object,
  value,
  ...(version === undefined ? {} : { version }),
});
const read = (object: string, value: string, version?: number): HistoryStep => ({
  ...write(object, value, version),
  kind: "read",
  value,
});

let clients = 1_000;

/** An operation of a new client that lasts from the start to the end of the history. */
const operation = (
  steps: readonly HistoryStep[],
  more: Partial<HistoryOperation> = {},
): HistoryOperation => ({
  name: "planted",
  client: (clients += 1),
  startedAt: -1_000,
  endedAt: 1_000_000,
  outcome: "done",
  steps,
  ...more,
});
const early = { startedAt: 0, endedAt: 10 };
const late = { startedAt: 20, endedAt: 30 };

/** Histories with one anomaly each, by the name of the anomaly. */
const planted: readonly (readonly [name: string, history: readonly HistoryOperation[]])[] = [
  [
    "G0",
    [
      operation([append("x", "1"), append("y", "1")]),
      operation([append("x", "2"), append("y", "2")]),
      operation([readList("x", "1", "2")]),
      operation([readList("y", "2", "1")]),
    ],
  ],
  ["G1a", [operation([append("x", "1")], { outcome: "failed" }), operation([readList("x", "1")])]],
  ["G1a", [operation([write("x", "1")], { outcome: "failed" }), operation([read("x", "1")])]],
  ["G1b", [operation([append("x", "1"), append("x", "2")]), operation([readList("x", "1")])]],
  ["G1b", [operation([write("x", "1"), write("x", "2")]), operation([read("x", "1")])]],
  [
    "G1c",
    [operation([append("x", "1"), readList("y", "1")]), operation([append("y", "1"), readList("x", "1")])],
  ],
  ["G1c", [operation([write("x", "1"), read("y", "1")]), operation([write("y", "1"), read("x", "1")])]],
  [
    "G-single",
    [
      operation([append("x", "1"), append("y", "1")]),
      operation([readList("x"), readList("y", "1")]),
      operation([readList("x", "1")]),
    ],
  ],
  [
    "G-single",
    [
      operation([write("x", "b", 2), write("y", "b", 2)]),
      operation([read("x", "b", 2), read("y", unwritten)]),
    ],
  ],
  [
    "G2-item",
    [
      operation([readList("x"), append("y", "1")]),
      operation([readList("y"), append("x", "1")]),
      operation([readList("x", "1"), readList("y", "1")]),
    ],
  ],
  [
    "lost update",
    [operation([read("x", unwritten), write("x", "1")]), operation([read("x", unwritten), write("x", "2")])],
  ],
  [
    "lost update",
    [
      operation([write("x", "1", 1)]),
      operation([read("x", "1", 1), write("x", "2", 2)]),
      operation([read("x", "1", 1), write("x", "2", 2)]),
    ],
  ],
  ["G-single-realtime", [operation([write("x", "1", 1)], early), operation([read("x", unwritten)], late)]],
  [
    "G-single-session",
    [
      operation([append("x", "1")], { ...early, client: 1 }),
      operation([readList("x")], { ...late, client: 1 }),
      operation([readList("x", "1")]),
    ],
  ],
  ["G1c-realtime", [operation([read("x", "1", 1)], early), operation([write("x", "1", 1)], late)]],
  [
    "G0-realtime",
    [
      operation([append("x", "1")], early),
      operation([append("x", "2")], late),
      operation([readList("x", "2", "1")]),
    ],
  ],
  ["internal", [operation([append("x", "1"), readList("x", "1", "2")]), operation([append("x", "2")])]],
  ["internal", [operation([write("x", "1"), read("x", "2")]), operation([write("x", "2")])]],
  ["duplicate value", [operation([append("x", "1")]), operation([readList("x", "1", "1")])]],
  ["unwritten value", [operation([readList("x", "1")])]],
  ["unwritten value", [operation([read("x", "1")])]],
  [
    "incompatible order",
    [
      operation([append("x", "1")]),
      operation([append("x", "2")]),
      operation([readList("x", "1", "2")]),
      operation([readList("x", "2")]),
    ],
  ],
];

const namesOf = (history: readonly HistoryOperation[]): string[] => [
  ...new Set(judgeHistory(history, { order: "realtime" }).anomalies.map(({ name }) => name)),
];

describe("a serial execution", () => {
  it("has no anomaly, in the order of real time", () => {
    fc.assert(
      fc.property(serialHistory(), (history) => {
        expect(judgeHistory(history, { order: "realtime" }).anomalies).toEqual([]);
      }),
      manyRuns(2_000),
    );
  });

  it("has an anomaly if one operation did not see the last change before it", () => {
    const step = { kind: "list", object: 0, isWrite: true } as const;
    const plan = { steps: [step], outcome: "done", hasHappened: true, beforeMs: 0, afterMs: 0 } as const;
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), (size) => {
        const history = executeSerially(Array.from({ length: size }, () => plan));
        const values = history.map((_, index) => `${index}.0`);
        const end = operation([readList("list 0", ...values)], { startedAt: 1e6, endedAt: 1e6 });
        const stale = operation([readList("list 0", ...values.slice(0, -1))], {
          startedAt: 1e6,
          endedAt: 1e6,
        });
        expect(namesOf([...history, end])).toEqual([]);
        expect(namesOf([...history, end, stale])).toEqual(["G-single-realtime"]);
      }),
    );
  });
});

describe("a planted anomaly", () => {
  it.each(planted)("is named %s", (name, history) => {
    expect(namesOf(history)).toContain(name);
    // An intermediate read is also a cycle with the operation that it read from.
    const others = { G1b: ["G-single"], "lost update": ["G2-item"] }[name] ?? [];
    expect([name, ...others]).toEqual(expect.arrayContaining(namesOf(history)));
  });

  it("is found between the operations of a serial execution", () => {
    fc.assert(
      fc.property(
        serialHistory(30),
        fc.constantFrom(...planted),
        fc.nat(),
        (serial, [name, history], seed) => {
          const place = seed % (serial.length + 1);
          const mixed = [...serial.slice(0, place), ...history, ...serial.slice(place)];
          expect(namesOf(mixed)).toContain(name);
        },
      ),
      manyRuns(500),
    );
  });

  it("is explained by the shortest cycle, in words", () => {
    const [, history = []] = planted.find(([name]) => name === "G-single-realtime") ?? [];
    const [{ text } = { text: "" }] = judgeHistory(history, { order: "realtime" }).anomalies;
    expect(text.replaceAll(/ "planted" of client \d+/g, "")).toBe(
      'No order of these operations is possible: #1 read no value of x, before #0 wrote "1"; ' +
        "#0 was answered 10.0 ms before #1 was sent.",
    );
  });

  it("in the order of real time is no anomaly of serializability", () => {
    for (const [name, history] of planted.filter(([known]) => known.endsWith("-realtime"))) {
      expect(name).not.toBe("");
      expect(judgeHistory(history, { order: "none" }).anomalies).toEqual([]);
    }
  });
});

describe("a version that no operation wrote", () => {
  const object = "version of x";
  const written = [1, 2, 4].map((version) => operation([write(object, String(version), version)]));
  const hidden: HistoryStep = { kind: "write", object, value: null };

  it("is missing, unless an operation without an answer may have written it", () => {
    expect(findMissingVersions(written.slice(0, 2))).toEqual([]);
    expect(findMissingVersions(written)).toEqual([
      "missing: the version of x rose from 1 to 4, but only 3 were written.",
    ]);
    expect(findMissingVersions([...written, operation([hidden], { outcome: "unknown" })])).toEqual([]);
    expect(findMissingVersions([...written, operation([hidden], { outcome: "failed" })])).toHaveLength(1);
  });
});

describe("an operation with an unknown outcome", () => {
  const unknown = operation([append("x", "1"), write("y", "1")], { outcome: "unknown", ...early });

  it("may have happened, also late, or not", () => {
    expect(namesOf([unknown, operation([readList("x")], late)])).toEqual([]);
    expect(
      namesOf([unknown, operation([readList("x", "1")], late), operation([read("y", "1")], late)]),
    ).toEqual([]);
  });

  it("may not be seen and then not be seen", () => {
    const later = { startedAt: 40, endedAt: 50 };
    expect(
      namesOf([unknown, operation([readList("x", "1")], late), operation([readList("x")], later)]),
    ).toEqual(["G-single-realtime"]);
  });

  it("may have written a value that another operation writes again later", () => {
    const hidden = operation([{ kind: "write", object: "x", value: null }], { outcome: "unknown" });
    const first = operation([write("x", "0", 1), write("z", "0", 1)]);
    // The reader saw the hidden write of version 2, and then the later operation read what the reader wrote.
    const reader = operation([read("x", "a", 3), write("z", "1", 3)]);
    const again = operation([read("z", "1", 3), write("x", "a", 4)]);
    expect(namesOf([first, hidden, reader, again])).toEqual([]);
    // Without the hidden write, the reader can only have seen the later operation.
    expect(namesOf([first, reader, again])).toEqual(["G1c"]);
  });

  it("may have written a value that its client does not know", () => {
    const hidden: HistoryStep = { kind: "write", object: "x", value: null };
    expect(namesOf([operation([hidden], { outcome: "unknown" }), operation([read("x", "7", 7)])])).toEqual(
      [],
    );
  });
});
