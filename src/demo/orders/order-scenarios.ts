/**
 * The scenarios from which the demo's checkouts and orders are created. A scenario consists of a cart and the
 * steps that follow its creation, for example payment and shipment.
 */
import type { DemoCartDefinition } from "#demo/carts/price-carts.ts";
import type { DemoOrderName, DemoCheckoutSessionName } from "#demo/demo-file.ts";
import {
  acceptReturnAndRefundBuyer,
  createReturnRequestStep,
  markScenarioParcelDelivered,
  cancelPlacedOrder,
  captureOrderPayment,
  confirmPlacedOrder,
  createPaymentDisputeStep,
  createOrderHoldStep,
  createPackParcelStep,
  registerWarrantyOfOrderLine,
  createShipParcelStep,
  markScenarioReturnAsSentByBuyer,
  markScenarioReturnReceived,
} from "./scenario-steps.ts";
import {
  submitAndAuthorizePayment,
  submitAndCapturePayment,
  submitCheckoutWithDelayedPayment,
  createStartCheckoutStep,
  createCancelCheckoutStep,
  checkoutMinutesMax,
  expireScenarioCheckoutSession,
} from "./scenario-checkout-steps.ts";
import type { DemoOrderScenarioStep } from "./scenario-context.ts";

export interface DemoOrderScenario extends DemoCartDefinition {
  /**
   * The name under which demo.json lists the checkout session of the scenario; left out if demo.json does not
   * list this session.
   */
  readonly session?: DemoCheckoutSessionName;
  /** The name of the scenario's order in demo.json; left out if demo.json does not list the order. */
  readonly order?: DemoOrderName;
  /** The name of the scenario's cart in demo.json; left out if demo.json does not list the cart. */
  readonly cartName?: "locked" | "completed";
  readonly buyer: { readonly reference: string; readonly email: string };
  /**
   * The steps of the scenario in the order of their execution. Each step has a time, given as the number of
   * minutes before now.
   */
  readonly steps: readonly (readonly [minutesAgo: number, step: DemoOrderScenarioStep])[];
}

const [hour, day] = [60, 24 * 60];
const anna = { reference: "buyer-anna", email: "anna@example.com" };
const ben = { reference: "buyer-ben", email: "ben@example.com" };
const clara = { reference: "buyer-clara", email: "clara@example.com" };
const erin = { reference: "buyer-erin", email: "erin@example.com" };
const hanako = { reference: "buyer-hanako", email: "hanako@example.com" };

/**
 * Creates two steps: the buyer pays `minutesAgo` minutes before now, and opens the checkout three minutes
 * earlier.
 */
const checkOutAndPay = (
  minutesAgo: number,
  payStep: DemoOrderScenarioStep = submitAndAuthorizePayment,
): DemoOrderScenario["steps"] => [
  [minutesAgo + 3, createStartCheckoutStep()],
  [minutesAgo, payStep],
];

/**
 * Places an order with a captured payment, confirms the order one hour later, packs it after eight hours and
 * ships it after twelve hours.
 */
const buyAndShip = (minutesAgo: number, trackingNumber: string): DemoOrderScenario["steps"] => [
  ...checkOutAndPay(minutesAgo, submitAndCapturePayment),
  [minutesAgo - hour, confirmPlacedOrder],
  [minutesAgo - 8 * hour, createPackParcelStep()],
  [minutesAgo - 12 * hour, createShipParcelStep(trackingNumber)],
];

type ScenarioFields = Omit<
  DemoOrderScenario,
  "owner" | "country" | "isAddressed" | "minutesSinceChange" | "minutesFromCreationToChange"
> &
  Partial<Pick<DemoOrderScenario, "owner" | "country">>;

/**
 * Fills in the values that a scenario leaves out. By default, for example, the cart is created 15 minutes
 * before the first step.
 */
function defineScenario(fields: ScenarioFields): DemoOrderScenario {
  const [startedMinutesAgo = 0] = fields.steps[0] ?? [];
  return {
    owner: "first",
    country: "DE",
    ...fields,
    isAddressed: true,
    minutesSinceChange: startedMinutesAgo,
    minutesFromCreationToChange: 15,
  };
}

/** All scenarios from which the demo's checkouts and orders are created, oldest first. */
export const orderScenarios: readonly DemoOrderScenario[] = [
  defineScenario({
    country: "US",
    lines: [
      ["CMP-LUX400-BLACK", 1],
      ["KIT-EMALJE-MOSS", 2],
    ],
    buyer: erin,
    steps: [
      ...buyAndShip(20 * day, "1Z4412070001"),
      [16 * day, markScenarioParcelDelivered],
      [5 * day, createPaymentDisputeStep("unrecognized")],
    ],
  }),
  defineScenario({
    order: "returned",
    lines: [
      ["TEC-STILLE-BLACK", 1],
      ["CLO-VARME-SLATE-M", 2],
    ],
    buyer: ben,
    steps: [
      ...buyAndShip(14 * day, "LH4412070002"),
      [11 * day, markScenarioParcelDelivered],
      [10 * day, registerWarrantyOfOrderLine("TEC-STILLE-BLACK", "ST-0007-4410")],
      [
        9 * day,
        createReturnRequestStep({
          kind: "return_refund",
          reason: "size_too_small",
          sku: "CLO-VARME-SLATE-M",
        }),
      ],
      [7 * day, markScenarioReturnAsSentByBuyer],
      [5 * day, markScenarioReturnReceived],
      [4 * day, acceptReturnAndRefundBuyer],
    ],
  }),
  defineScenario({
    lines: [["CLO-HVERD-SLATE-S", 1]],
    buyer: anna,
    steps: [
      ...buyAndShip(9 * day, "LH4412070003"),
      [6 * day, markScenarioParcelDelivered],
      [
        2 * day,
        createReturnRequestStep({
          kind: "exchange",
          reason: "size_too_small",
          sku: "CLO-HVERD-SLATE-S",
          exchangeForSku: "CLO-HVERD-SLATE-M",
        }),
      ],
    ],
  }),
  defineScenario({
    lines: [["CLO-INNERST-BLACK-M", 2]],
    buyer: clara,
    steps: [
      ...buyAndShip(7 * day, "LH4412070005"),
      [4 * day, markScenarioParcelDelivered],
      [day, createReturnRequestStep({ kind: "withdrawal", reason: "unwanted", sku: "CLO-INNERST-BLACK-M" })],
    ],
  }),
  defineScenario({
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
    steps: [...buyAndShip(4 * day, "LH4412070006"), [day, markScenarioParcelDelivered]],
  }),
  defineScenario({
    order: "shipped",
    lines: [
      ["CMP-MOOSR4-REGULAR", 1],
      ["CMP-KILDE-SLATE-500ML", 2],
    ],
    buyer: anna,
    steps: [
      ...checkOutAndPay(3 * day),
      [3 * day - hour, confirmPlacedOrder],
      [2 * day + 16 * hour, createPackParcelStep()],
      [2 * day + 14 * hour, captureOrderPayment],
      [2 * day + 12 * hour, createShipParcelStep("LH4412070007")],
    ],
  }),
  defineScenario({
    country: "JP",
    lines: [
      ["KIT-POUR-SAND", 1],
      ["KIT-LIN-NATURAL", 2],
    ],
    buyer: hanako,
    steps: [
      ...checkOutAndPay(2 * day, submitAndCapturePayment),
      [2 * day - hour, confirmPlacedOrder],
      [day + 8 * hour, createPackParcelStep("KIT-LIN-NATURAL")],
      [day + 4 * hour, createShipParcelStep("4412-0700-0009")],
    ],
  }),
  defineScenario({
    lines: [["TEC-LADE65-WHITE", 2]],
    buyer: clara,
    steps: [
      ...checkOutAndPay(5 * hour),
      [4 * hour, confirmPlacedOrder],
      [3 * hour, createOrderHoldStep("The address looks unusual.")],
    ],
  }),
  defineScenario({
    order: "canceled",
    lines: [["HOM-MONE", 1]],
    buyer: ben,
    steps: [
      ...checkOutAndPay(3 * hour),
      [3 * hour - 25, cancelPlacedOrder("ordered_by_mistake", "I wanted the bigger one.")],
    ],
  }),
  defineScenario({
    session: "expired",
    lines: [["KIT-LIN-SAGE", 3]],
    buyer: clara,
    steps: [
      [150, createStartCheckoutStep(60)],
      [90, expireScenarioCheckoutSession],
    ],
  }),
  defineScenario({
    session: "canceled",
    lines: [["HOM-KURV-SMALL", 1]],
    buyer: clara,
    steps: [
      [80, createStartCheckoutStep()],
      [70, createCancelCheckoutStep("buyer_changed_mind", "Not today after all.")],
    ],
  }),
  defineScenario({
    order: "packing",
    lines: [
      ["CMP-FUNKE", 1],
      ["CMP-DUO", 1],
    ],
    buyer: anna,
    steps: [...checkOutAndPay(9), [7, confirmPlacedOrder], [5, createPackParcelStep()]],
  }),
  defineScenario({
    order: "placed",
    lines: [
      ["PCK-DAL20-MOSS", 1],
      ["PCK-TORR-10L", 2],
    ],
    buyer: anna,
    steps: checkOutAndPay(4),
  }),
  defineScenario({
    owner: "second",
    order: "otherMerchant",
    lines: [
      ["MR-ESP-250G", 1],
      ["MR-GLAS", 1],
    ],
    buyer: anna,
    steps: checkOutAndPay(6),
  }),
  defineScenario({
    owner: "second",
    session: "otherMerchant",
    lines: [["MR-KANNE-WHITE", 1]],
    buyer: ben,
    steps: [[2, createStartCheckoutStep(checkoutMinutesMax)]],
  }),
  defineScenario({
    session: "processing",
    lines: [["HOM-SIV-SAND", 1]],
    buyer: ben,
    steps: [
      [1, createStartCheckoutStep(checkoutMinutesMax)],
      [0, submitCheckoutWithDelayedPayment],
    ],
  }),
  defineScenario({
    session: "open",
    cartName: "locked",
    lines: [
      ["HOM-HYTTE-SLATE", 1],
      ["HOM-PUTE-MIDNIGHT", 2],
    ],
    buyer: anna,
    // The checkout session is opened at the time of the seeding (0 minutes ago), so that it stays open as
    // long as possible.
    steps: [[0, createStartCheckoutStep(checkoutMinutesMax)]],
  }),
];
