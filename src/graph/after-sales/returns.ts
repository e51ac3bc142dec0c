/**
 * Returns and exchanges: asked for by the buyer or for the buyer, and taken through their life by who runs
 * the merchant.
 */
import { closeReturn, inspectReturn } from "#commerce/after-sales/finish-return.ts";
import { requestReturn } from "#commerce/after-sales/request-return.ts";
import {
  approveReturn,
  cancelReturn,
  declineReasonLengthMax,
  declineReturn,
  receiveReturn,
  trackReturn,
} from "#commerce/after-sales/return-steps.ts";
import type { ChangedPart } from "#commerce/orders/change-order.ts";
import { noteMax } from "#commerce/orders/order-checks.ts";
import type { ReturnView } from "#commerce/orders/render-parts.ts";
import { builder } from "#graph/builder.ts";
import { frontends, type GraphContext } from "#graph/context.ts";
import { orderChange, returnChange } from "#graph/change-kinds.ts";
import { changeMutation } from "#graph/mutation.ts";
import { OrderLineQuantityInput, orderVersion } from "#graph/orders/order-inputs.ts";
import { ReturnKindEnum, ReturnMethodEnum, ReturnSettlementEnum } from "#graph/orders/order-enums.ts";
import { showPart } from "#graph/orders/orders.ts";
import { ReturnRef } from "#graph/refs.ts";
import { ReturnReasonEnum } from "#graph/orders/after-sales-eligibility.ts";

const returnVersionDescription =
  "The version of the return the caller has seen; when it has another by now, nothing is changed (409 version_conflict).";

const ReturnRequestInput = builder.inputType("ReturnRequestInput", {
  description: "What shall come back, and what for. `afterSalesEligibility` tells what may be asked for.",
  fields: (t) => ({
    kind: t.field({ type: ReturnKindEnum, required: true, description: "What the buyer wants." }),
    lines: t.field({
      type: [OrderLineQuantityInput],
      required: true,
      description: "The units, 1 to 200 lines, each line once. An exchange is of one line.",
    }),
    reason: t.field({ type: ReturnReasonEnum, required: true, description: "Why; one for all of it." }),
    note: t.string({ description: `What the buyer adds to it. 1 to ${noteMax} characters.` }),
    method: t.field({
      type: ReturnMethodEnum,
      description: "How it comes back; the first that is offered unless told.",
    }),
    settlement: t.field({
      type: ReturnSettlementEnum,
      description: "What the buyer gets; the first that is offered unless told.",
    }),
    exchangeVariantId: t.id({
      description:
        "Of an exchange alone, which needs it: what shall be sent instead. A variant of the same product that is in stock and costs the same.",
    }),
    expectedVersion: t.int({ description: orderVersion }),
  }),
});

const ReturnTransitionInput = builder.inputType("ReturnTransitionInput", {
  description: "A return that shall go on.",
  fields: (t) => ({ expectedVersion: t.int({ description: returnVersionDescription }) }),
});

const ReturnDeclineInput = builder.inputType("ReturnDeclineInput", {
  description: "A return that the merchant does not agree to.",
  fields: (t) => ({
    reason: t.string({
      required: true,
      description: `Why, for the buyer to read. 1 to ${declineReasonLengthMax} characters.`,
    }),
    expectedVersion: t.int({ description: returnVersionDescription }),
  }),
});

const ReturnReceivedLineInput = builder.inputType("ReturnReceivedLineInput", {
  description: "What arrived of a line of a return.",
  fields: (t) => ({
    lineId: t.id({ required: true, description: "The order's line, `oln_…`." }),
    received: t.int({ required: true, description: "How many arrived. 0 to what was to come." }),
  }),
});

const ReturnReceiveInput = builder.inputType("ReturnReceiveInput", {
  description: "What arrived of a return.",
  fields: (t) => ({
    lines: t.field({
      type: [ReturnReceivedLineInput],
      required: true,
      description: "Every line of the return, each once.",
    }),
    expectedVersion: t.int({ description: returnVersionDescription }),
  }),
});

const ReturnInspectedLineInput = builder.inputType("ReturnInspectedLineInput", {
  description: "What was found of a line of a return.",
  fields: (t) => ({
    lineId: t.id({ required: true, description: "The order's line, `oln_…`." }),
    accepted: t.int({
      required: true,
      description: "How many are as they should be. 0 to what was received.",
    }),
    restock: t.int({
      required: true,
      description: "Of those accepted, how many can be sold again; none of a repair. 0 to what was accepted.",
    }),
  }),
});

const ReturnInspectInput = builder.inputType("ReturnInspectInput", {
  description: "What was found when a return was looked at.",
  fields: (t) => ({
    lines: t.field({
      type: [ReturnInspectedLineInput],
      required: true,
      description: "Every line of the return, each once.",
    }),
    note: t.string({ description: `What there is to say about it. 1 to ${noteMax} characters.` }),
    expectedVersion: t.int({ description: returnVersionDescription }),
  }),
});

const returnToAnswer = (_context: GraphContext, { order, id }: ChangedPart): ReturnView =>
  showPart(order, "returns", id);

changeMutation({
  ...orderChange,
  name: "returnRequest",
  description:
    "Asks for a return, an exchange, a refund, a repair or a replacement. What `afterSalesEligibility` answers with allowed is approved at once; what it answers with request_required waits for the merchant; what it denies is refused for the same reasons.",
  callers: frontends,
  input: ReturnRequestInput,
  type: ReturnRef,
  run: requestReturn,
  answer: returnToAnswer,
});

changeMutation({
  ...returnChange,
  name: "returnApprove",
  description:
    "The merchant agrees to a return that was asked for. A refund without a return is paid at once; what an exchange sends is kept back from the stock.",
  input: ReturnTransitionInput,
  type: ReturnRef,
  run: approveReturn,
  answer: returnToAnswer,
});

changeMutation({
  ...returnChange,
  name: "returnDecline",
  description: "The merchant does not agree to a return that was asked for.",
  input: ReturnDeclineInput,
  type: ReturnRef,
  run: declineReturn,
  answer: returnToAnswer,
});

changeMutation({
  ...returnChange,
  name: "returnTrack",
  description: "An approved return is on its way back.",
  input: ReturnTransitionInput,
  type: ReturnRef,
  run: trackReturn,
  answer: returnToAnswer,
});

changeMutation({
  ...returnChange,
  name: "returnReceive",
  description: "A return has arrived: one that was under way, or one that was brought or fetched.",
  input: ReturnReceiveInput,
  type: ReturnRef,
  run: receiveReturn,
  answer: returnToAnswer,
});

changeMutation({
  ...returnChange,
  name: "returnInspect",
  description:
    "A return that has arrived was looked at: what is accepted counts as returned, and what can be sold again goes back to the stock.",
  input: ReturnInspectInput,
  type: ReturnRef,
  run: inspectReturn,
  answer: returnToAnswer,
});

changeMutation({
  ...returnChange,
  name: "returnClose",
  description:
    "Settles a return that was inspected: what was accepted is refunded less its fees; of an exchange what is sent instead must have left.",
  input: ReturnTransitionInput,
  type: ReturnRef,
  run: closeReturn,
  answer: returnToAnswer,
});

changeMutation({
  ...returnChange,
  name: "returnCancel",
  description: "Calls a return off that was asked for or approved, before it is on its way.",
  callers: frontends,
  input: ReturnTransitionInput,
  type: ReturnRef,
  run: cancelReturn,
  answer: returnToAnswer,
});
