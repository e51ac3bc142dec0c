/** One limit in bytes covers all sections of a memory; each section has its own keys. */
import { setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createLimitedMemory } from "#foundation/limited-memory.ts";

const sizeOf = (text: string): number => text.length;

describe("a limited memory", () => {
  it("keeps the sum of all sections within the limit, and removes what was unused for longest", () => {
    const memory = createLimitedMemory(100);
    const removed: string[] = [];
    const texts = memory.createSection({
      estimateBytes: sizeOf,
      onRemove: (_value, key) => removed.push(key),
    });
    const others = memory.createSection({ estimateBytes: sizeOf });
    texts.set("a", "x".repeat(40));
    others.set("a", "y".repeat(40));
    expect(texts.get("a")).toHaveLength(40);
    texts.set("b", "z".repeat(30));
    expect([texts.has("a"), others.get("a"), texts.has("b")]).toEqual([true, undefined, true]);
    expect([removed, memory.usage()]).toEqual([[], { bytes: 70, entries: 2 }]);
    others.set("c", "y".repeat(90));
    expect([removed.toSorted(), memory.usage()]).toEqual([["a", "b"], { bytes: 90, entries: 1 }]);
  });

  it("does not store a value that is larger than the memory, and removes the old value of its key", () => {
    const memory = createLimitedMemory(10);
    const texts = memory.createSection({ estimateBytes: sizeOf });
    texts.set("a", "short");
    texts.set("a", "much too long");
    expect([texts.get("a"), texts.has("a"), memory.usage()]).toEqual([
      undefined,
      false,
      { bytes: 0, entries: 0 },
    ]);
  });

  it("replaces, deletes and clears values of one section only", () => {
    const memory = createLimitedMemory(100);
    const removed: string[] = [];
    const texts = memory.createSection({
      estimateBytes: sizeOf,
      onRemove: (value, key) => removed.push(`${key} ${value}`),
    });
    const others = memory.createSection({ estimateBytes: sizeOf });
    others.set("a", "other");
    for (const value of ["first", "second"]) texts.set("a", value);
    expect([texts.get("a"), removed]).toEqual(["second", ["a first"]]);
    texts.set("b", "third");
    texts.delete("a");
    expect([texts.get("a"), texts.get("b"), removed.length]).toEqual([undefined, "third", 2]);
    texts.clear();
    expect([texts.has("b"), others.get("a"), removed.length]).toEqual([false, "other", 3]);
    expect(memory.usage()).toEqual({ bytes: 5, entries: 1 });
  });

  it("does not return values that are older than the section allows", async () => {
    const memory = createLimitedMemory(100);
    const brief = memory.createSection({ estimateBytes: sizeOf, keptMsMax: 5 });
    const lasting = memory.createSection({ estimateBytes: sizeOf });
    brief.set("a", "text");
    lasting.set("a", "text");
    await setTimeout(20);
    expect([brief.has("a"), brief.get("a"), lasting.get("a")]).toEqual([false, undefined, "text"]);
  });
});
