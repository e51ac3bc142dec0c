/** Ids: their format, their order, and their uniqueness. */
import { expect, it } from "vitest";
import {
  createId,
  createTimeSortedId,
  getLowestIdAtTime,
  isIdOfKind,
  type IdKind,
  idPrefixes,
} from "#foundation/ids.ts";

const kinds = Object.keys(idPrefixes) as IdKind[];

it.each(kinds)("ids of a %s have the documented format", (kind) => {
  const id = createId(kind);
  expect(id).toMatch(/^[a-z]{3,4}_[0-9a-hjkmnp-tv-z]{26}$/);
  expect(id.startsWith(`${idPrefixes[kind]}_`)).toBe(true);
  expect(isIdOfKind(kind, id)).toBe(true);
});

it("ids have a distinct prefix for every type", () => {
  expect(new Set(Object.values(idPrefixes)).size).toBe(kinds.length);
});

it("ids are unique: 100 000 of one millisecond", () => {
  expect(new Set(Array.from({ length: 100_000 }, () => createId("product", 1_800_000_000_000))).size).toBe(
    100_000,
  );
});

it("ids sort by their creation time, to the millisecond", () => {
  const times = [0, 1, 31, 32, 1023, 1024, 1_700_000_000_000, 1_700_000_000_001, 2 ** 41, 2 ** 48 - 1];
  const ids = times.map((at) => createId("merchant", at));
  expect(ids.toSorted()).toEqual(ids);
  expect(createId("merchant", 2 ** 48 - 1)).toMatch(/^mer_7zzzzzzzzz/);
});

it("ids sort in the order of creation, whatever their time and whatever ids are created between", () => {
  const [early, late] = [1_700_000_000_000, 1_700_000_000_001];
  const ids = Array.from({ length: 2_000 }, (_, index) =>
    createTimeSortedId("audit", index % 3 === 0 ? late : early),
  );
  const [ofLate, ofEarly] = [
    ids.filter((_, index) => index % 3 === 0),
    ids.filter((_, index) => index % 3 !== 0),
  ];
  expect(ids.toSorted()).toEqual([...ofEarly, ...ofLate]);
  expect(ids.every((id) => isIdOfKind("audit", id))).toBe(true);
  expect([
    getLowestIdAtTime("audit", early) < (ofEarly[0] ?? ""),
    (ofEarly.at(-1) ?? "") < getLowestIdAtTime("audit", late),
  ]).toEqual([true, true]);
});

it("ids spread their random part over the whole alphabet", () => {
  const seen = Array.from({ length: 16 }, () => new Set<string>());
  for (let count = 0; count < 2000; count += 1)
    for (const [place, set] of seen.entries()) set.add(createId("variant").charAt(14 + place));
  expect(seen.map(({ size }) => size)).toEqual(Array.from({ length: 16 }, () => 32));
});

it.each([
  ["another kind's", "prd_01ky432e7wsvr05qhw7x98xpa0"],
  ["one that is too short", "mer_01ky432e7wsvr05qhw7x98xpa"],
  ["one that is too long", "mer_01ky432e7wsvr05qhw7x98xpa00"],
  ["one in upper case", "mer_01KY432E7WSVR05QHW7X98XPA0"],
  ["one with a letter that is not used", "mer_01ky432e7wsvr05qhw7x98xpau"],
  ["one with a line break", "mer_01ky432e7wsvr05qhw7x98xpa0\n"],
  ["nothing", ""],
])("ids are not confused: %s is no merchant id", (_name, text) => {
  expect(isIdOfKind("merchant", text)).toBe(false);
});
