/**
 * What the demo's buyers have checked out, and what became of it: a story each, told by its steps and by how
 * long ago they were taken.
 */
import type { CartToDraw } from "#demo/carts/draw-carts.ts";
import type { OrderName, SessionName } from "#demo/demo-file.ts";
import {
  acceptBack,
  askFor,
  bring,
  buy,
  buyOutright,
  buyUnheard,
  cancel,
  capture,
  checkOut,
  confirm,
  dispute,
  giveUp,
  hold,
  longestLife,
  pack,
  register,
  runOut,
  send,
  sendBack,
  type Step,
  takeBack,
} from "./story-steps.ts";

export interface Story extends CartToDraw {
  /**
   * Under which its session, its order and its cart stand in demo.json; those without one are only found in
   * lists.
   */
  readonly session?: SessionName;
  readonly order?: OrderName;
  readonly cartName?: "locked" | "completed";
  readonly buyer: { readonly reference: string; readonly email: string };
  /** In their order. */
  readonly steps: readonly (readonly [minutesAgo: number, step: Step])[];
}

const [hour, day] = [60, 24 * 60];
const anna = { reference: "buyer-anna", email: "anna@example.com" };
const ben = { reference: "buyer-ben", email: "ben@example.com" };
const clara = { reference: "buyer-clara", email: "clara@example.com" };
const erin = { reference: "buyer-erin", email: "erin@example.com" };
const hanako = { reference: "buyer-hanako", email: "hanako@example.com" };

/** Opened, and paid three minutes later. */
const bought = (minutesAgo: number, how: Step = buy): Story["steps"] => [
  [minutesAgo + 3, checkOut()],
  [minutesAgo, how],
];

/** Paid at once, and on its way half a day later. */
const sent = (minutesAgo: number, trackingNumber: string): Story["steps"] => [
  ...bought(minutesAgo, buyOutright),
  [minutesAgo - hour, confirm],
  [minutesAgo - 8 * hour, pack()],
  [minutesAgo - 12 * hour, send(trackingNumber)],
];

type Told = Omit<Story, "owner" | "country" | "isAddressed" | "quietMinutes" | "livedMinutes"> &
  Partial<Pick<Story, "owner" | "country">>;

/** Its cart was put together in the quarter of an hour before. */
function story(told: Told): Story {
  const [begun = 0] = told.steps[0] ?? [];
  return { owner: "first", country: "DE", ...told, isAddressed: true, quietMinutes: begun, livedMinutes: 15 };
}

/** The oldest first. */
export const stories: readonly Story[] = [
  story({
    country: "US",
    lines: [
      ["CMP-LUX400-BLACK", 1],
      ["KIT-EMALJE-MOSS", 2],
    ],
    buyer: erin,
    steps: [...sent(20 * day, "1Z4412070001"), [16 * day, bring], [5 * day, dispute("unrecognized")]],
  }),
  story({
    order: "returned",
    lines: [
      ["TEC-STILLE-BLACK", 1],
      ["CLO-VARME-SLATE-M", 2],
    ],
    buyer: ben,
    steps: [
      ...sent(14 * day, "LH4412070002"),
      [11 * day, bring],
      [10 * day, register("TEC-STILLE-BLACK", "ST-0007-4410")],
      [9 * day, askFor({ kind: "return_refund", reason: "size_too_small", sku: "CLO-VARME-SLATE-M" })],
      [7 * day, sendBack],
      [5 * day, takeBack],
      [4 * day, acceptBack],
    ],
  }),
  story({
    lines: [["CLO-HVERD-SLATE-S", 1]],
    buyer: anna,
    steps: [
      ...sent(9 * day, "LH4412070003"),
      [6 * day, bring],
      [
        2 * day,
        askFor({
          kind: "exchange",
          reason: "size_too_small",
          sku: "CLO-HVERD-SLATE-S",
          instead: "CLO-HVERD-SLATE-M",
        }),
      ],
    ],
  }),
  story({
    lines: [["CLO-INNERST-BLACK-M", 2]],
    buyer: clara,
    steps: [
      ...sent(7 * day, "LH4412070005"),
      [4 * day, bring],
      [day, askFor({ kind: "withdrawal", reason: "unwanted", sku: "CLO-INNERST-BLACK-M" })],
    ],
  }),
  story({
    session: "completed",
    order: "delivered",
    cartName: "completed",
    lines: [
      ["KIT-GLUT-28CM", 1],
      ["KIT-BRETT-SMALL", 1],
      ["PCK-LAPP-BLACK", 1],
    ],
    buyer: ben,
    code: "exhausted",
    steps: [...sent(4 * day, "LH4412070006"), [day, bring]],
  }),
  story({
    order: "shipped",
    lines: [
      ["CMP-MOOSR4-REGULAR", 1],
      ["CMP-KILDE-SLATE-500ML", 2],
    ],
    buyer: anna,
    steps: [
      ...bought(3 * day),
      [3 * day - hour, confirm],
      [2 * day + 16 * hour, pack()],
      [2 * day + 14 * hour, capture],
      [2 * day + 12 * hour, send("LH4412070007")],
    ],
  }),
  story({
    country: "JP",
    lines: [
      ["KIT-POUR-SAND", 1],
      ["KIT-LIN-NATURAL", 2],
    ],
    buyer: hanako,
    steps: [
      ...bought(2 * day, buyOutright),
      [2 * day - hour, confirm],
      [day + 8 * hour, pack("KIT-LIN-NATURAL")],
      [day + 4 * hour, send("4412-0700-0009")],
    ],
  }),
  story({
    lines: [["TEC-LADE65-WHITE", 2]],
    buyer: clara,
    steps: [...bought(5 * hour), [4 * hour, confirm], [3 * hour, hold("The address looks unusual.")]],
  }),
  story({
    order: "canceled",
    lines: [["HOM-MONE", 1]],
    buyer: ben,
    steps: [...bought(3 * hour), [3 * hour - 25, cancel("ordered_by_mistake", "I wanted the bigger one.")]],
  }),
  story({
    session: "expired",
    lines: [["KIT-LIN-SAGE", 3]],
    buyer: clara,
    steps: [
      [150, checkOut(60)],
      [90, runOut],
    ],
  }),
  story({
    session: "canceled",
    lines: [["HOM-KURV-SMALL", 1]],
    buyer: clara,
    steps: [
      [80, checkOut()],
      [70, giveUp("buyer_changed_mind", "Not today after all.")],
    ],
  }),
  story({
    order: "packing",
    lines: [
      ["CMP-FUNKE", 1],
      ["CMP-DUO", 1],
    ],
    buyer: anna,
    steps: [...bought(9), [7, confirm], [5, pack()]],
  }),
  story({
    order: "placed",
    lines: [
      ["PCK-DAL20-MOSS", 1],
      ["PCK-TORR-10L", 2],
    ],
    buyer: anna,
    steps: bought(4),
  }),
  story({
    owner: "second",
    order: "otherMerchant",
    lines: [
      ["MR-ESP-250G", 1],
      ["MR-GLAS", 1],
    ],
    buyer: anna,
    steps: bought(6),
  }),
  story({
    owner: "second",
    session: "otherMerchant",
    lines: [["MR-KANNE-WHITE", 1]],
    buyer: ben,
    steps: [[2, checkOut(longestLife)]],
  }),
  story({
    session: "processing",
    lines: [["HOM-SIV-SAND", 1]],
    buyer: ben,
    steps: [
      [1, checkOut(longestLife)],
      [0, buyUnheard],
    ],
  }),
  story({
    session: "open",
    cartName: "locked",
    lines: [
      ["HOM-HYTTE-SLATE", 1],
      ["HOM-PUTE-MIDNIGHT", 2],
    ],
    buyer: anna,
    // It has its whole life before it.
    steps: [[0, checkOut(longestLife)]],
  }),
];
