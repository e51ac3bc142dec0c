/** The carts of the demo that nobody checks out: one in every status, two to try things with, and two that show what other markets do to a cart. */
import { cartNames } from "#demo/demo-file.ts";
import type { CartToDraw } from "./draw-carts.ts";

export interface CartEntry extends CartToDraw {
  readonly key: CartKey;
  readonly state: CartState;
}

/** Of demo.json but those that have become what they are by a checkout. */
export const plainCartNames = cartNames.filter((name) => name !== "locked" && name !== "completed");
export type PlainCartName = (typeof plainCartNames)[number];

/** Those of demo.json, and those that are only found in lists. */
export type CartKey = PlainCartName | "mergedInto" | "american" | "japanese";

export type CartState =
  | { readonly status: "active" | "expired" }
  | { readonly status: "revoked"; readonly note: string }
  | { readonly status: "merged"; readonly into: CartKey };

const [hour, day] = [60, 24 * 60];
const active: CartState = { status: "active" };
const clara = { reference: "buyer-clara", email: "clara@example.com" };

export const cartEntries: readonly CartEntry[] = [
  {
    key: "active",
    owner: "first",
    country: "DE",
    lines: [
      ["KIT-KVERN", 1],
      ["KIT-EMALJE-WHITE", 2],
    ],
    state: active,
    quietMinutes: 2,
    livedMinutes: 10,
  },
  {
    key: "activeSecond",
    owner: "first",
    country: "DE",
    lines: [
      ["CLO-LUE-MUSTARD", 2],
      ["KIT-LIN-NATURAL", 1],
    ],
    state: active,
    quietMinutes: 1,
    livedMinutes: 5,
  },
  { key: "empty", owner: "first", country: "DE", lines: [], state: active, quietMinutes: 3, livedMinutes: 0 },
  {
    key: "revoked",
    owner: "first",
    country: "DE",
    lines: [["TEC-LADE65-BLACK", 1]],
    state: { status: "revoked", note: "The buyer wants another charger." },
    quietMinutes: day,
    livedMinutes: hour,
  },
  {
    key: "expired",
    owner: "first",
    country: "DE",
    lines: [["CLO-SOKK-BRICK-M", 3]],
    state: { status: "expired" },
    quietMinutes: 31 * day,
    livedMinutes: hour,
  },
  {
    key: "merged",
    owner: "first",
    country: "DE",
    lines: [["PCK-ORDEN-SAND", 1]],
    state: { status: "merged", into: "mergedInto" },
    quietMinutes: hour,
    livedMinutes: hour,
  },
  {
    key: "mergedInto",
    owner: "first",
    country: "DE",
    lines: [
      ["PCK-LAPP-BLACK", 1],
      ["PCK-ORDEN-SAND", 2],
    ],
    buyer: clara,
    state: active,
    quietMinutes: hour,
    livedMinutes: 3 * day,
  },
  {
    key: "american",
    owner: "first",
    country: "US",
    lines: [
      ["PCK-DAL20-SLATE", 1],
      ["KIT-EMALJE-MOSS", 2],
    ],
    isAddressed: true,
    code: "percentage",
    state: active,
    quietMinutes: 4,
    livedMinutes: 20,
  },
  {
    key: "japanese",
    owner: "first",
    country: "JP",
    lines: [
      ["KIT-DONABE-3GO", 1],
      ["KIT-MORGEN-FILTER", 2],
    ],
    isAddressed: true,
    code: "freeShipping",
    state: active,
    quietMinutes: 5,
    livedMinutes: 30,
  },
  {
    key: "otherMerchant",
    owner: "second",
    country: "DE",
    lines: [
      ["MR-ESP-250G", 2],
      ["MR-PROBE", 1],
    ],
    state: active,
    quietMinutes: 6,
    livedMinutes: 10,
  },
];
