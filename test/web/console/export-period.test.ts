/** The period and the size of an export, as the console's page sends and shows them. */
import { describe, expect, it } from "vitest";
import {
  formatExportPeriod,
  formatFileSize,
  toExportPeriod,
} from "#pages/console/browser/exports/export-period.ts";

const now = new Date(2026, 2, 1, 12);
const midnight = (month: number, day: number): string => new Date(2026, month - 1, day).toISOString();

describe("the period of an export", () => {
  it("contains the first and the last day, from midnight to midnight", () => {
    expect(toExportPeriod("2026-01-05", "2026-01-31", now)).toEqual({
      from: midnight(1, 5),
      to: midnight(2, 1),
    });
  });

  it("has no beginning or no end if no day is chosen", () => {
    expect(toExportPeriod("", "", now)).toEqual({});
    expect(toExportPeriod("2026-01-05", "", now)).toEqual({ from: midnight(1, 5) });
  });

  it("has no end if the last day has not ended yet", () => {
    expect(toExportPeriod("", "2026-03-01", now)).toEqual({});
    expect(toExportPeriod("", "2026-02-28", now)).toEqual({ to: midnight(3, 1) });
  });

  it("is shown with its last included day", () => {
    expect(formatExportPeriod(midnight(1, 5), midnight(2, 1))).toMatch(/5.* – .*31/);
    expect(formatExportPeriod(null, midnight(2, 1))).toMatch(/^the oldest row – .*31/);
  });
});

describe("the size of a file", () => {
  it.each([
    [0, "0 bytes"],
    [999, "999 bytes"],
    [1000, "1 kB"],
    [1_540_000, "1.5 MB"],
    [2_000_000_000, "2 GB"],
  ])("of %s bytes", (bytes, text) => {
    expect(formatFileSize(bytes)).toBe(text);
  });
});
