/** The carts of the demo: one in every status, two to try things with, and two that show what other markets do to a cart. */
import type { CartName, PromotionCodeName } from "#demo/demo-file.ts";

export interface CartEntry {
  readonly key: CartKey;
  readonly owner: "first" | "second";
  readonly country: string;
  readonly lines: readonly (readonly [sku: string, quantity: number])[];
  readonly buyer?: { readonly reference: string; readonly email: string };
  /** Ships to its country's address of the demo, by the first of the methods. */
  readonly isAddressed?: true;
  readonly code?: PromotionCodeName;
  readonly state: CartState;
  /** Since its last change, and from its first to its last. */
  readonly quietMinutes: number;
  readonly livedMinutes: number;
}

/** Those of demo.json, and those that are only found in lists. */
export type CartKey = CartName | "mergedInto" | "american" | "japanese";

export type CartState =
  | { readonly status: "active" | "expired" | "locked" | "completed" }
  | { readonly status: "revoked"; readonly note: string }
  | { readonly status: "merged"; readonly into: CartKey };

const [hour, day] = [60, 24 * 60];
const active: CartState = { status: "active" };
const anna = { reference: "buyer-anna", email: "anna@example.com" };
const ben = { reference: "buyer-ben", email: "ben@example.com" };
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
    key: "locked",
    owner: "first",
    country: "DE",
    lines: [
      ["HOM-HYTTE-SLATE", 1],
      ["HOM-PUTE-MIDNIGHT", 2],
    ],
    buyer: anna,
    isAddressed: true,
    state: { status: "locked" },
    // Its session has its whole life before it.
    quietMinutes: 0,
    livedMinutes: 15,
  },
  {
    key: "completed",
    owner: "first",
    country: "DE",
    lines: [
      ["KIT-GLUT-28CM", 1],
      ["KIT-BRETT-SMALL", 1],
    ],
    buyer: ben,
    isAddressed: true,
    code: "exhausted",
    state: { status: "completed" },
    quietMinutes: 2 * day,
    livedMinutes: hour,
  },
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
