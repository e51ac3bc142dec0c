/**
 * The GraphQL mutations of returns and exchanges. Frontends request and cancel them for the buyer; the
 * merchant's staff approves, receives, inspects and closes them.
 */
import { closeReturn, recordReturnInspection } from "#commerce/after-sales/finish-return.ts";
import { requestReturn } from "#commerce/after-sales/request-return.ts";
import {
  approveReturn,
  cancelReturn,
  declineReasonLengthMax,
  declineReturn,
  receiveReturn,
  markReturnInTransit,
} from "#commerce/after-sales/return-steps.ts";
import type { OrderAndIdOfChangedPart } from "#commerce/orders/change-order.ts";
import { noteLengthMax } from "#commerce/orders/order-checks.ts";
import type { ReturnView } from "#commerce/orders/render-parts.ts";
import { builder } from "#graph/builder.ts";
import { frontendCallers, type GraphqlContext } from "#graph/context.ts";
import { orderMutationKind, returnMutationKind } from "#graph/mutation-kinds.ts";
import { defineMutation } from "#graph/mutation.ts";
import { OrderLineQuantityInput, orderVersionDescription } from "#graph/orders/order-inputs.ts";
import { ReturnKindEnum, ReturnMethodEnum, ReturnSettlementEnum } from "#graph/orders/order-enums.ts";
import { requireOrderPart } from "#graph/orders/orders.ts";
import { ReturnRef } from "#graph/refs.ts";
import { ReturnReasonEnum } from "#graph/orders/eligibility-enums.ts";

const returnVersionDescription =
  "The version of the return that the caller last read. If the return's current version is " +
  "different, nothing is changed and the error is version_conflict (409).";

const ReturnRequestInput = builder.inputType("ReturnRequestInput", {
  description:
    "A request to return, exchange, repair, replace or refund units of an order. The " +
    "query `afterSalesEligibility` shows what can be requested.",
  fields: (t) => ({
    kind: t.field({
      type: ReturnKindEnum,
      required: true,
      description:
        "The kind of the request: a return with refund, exchange, refund without return, repair, " +
        "replacement or withdrawal.",
    }),
    lines: t.field({
      type: [OrderLineQuantityInput],
      required: true,
      description:
        "The units to return, by order line: 1 to 200 lines, each line once. An exchange " +
        "has exactly one line.",
    }),
    reason: t.field({
      type: ReturnReasonEnum,
      required: true,
      description:
        "The buyer's reason for the request; one reason for all lines. The kind of the request decides " +
        "which reasons are allowed.",
    }),
    note: t.string({ description: `A note from the buyer, 1 to ${noteLengthMax} characters.` }),
    method: t.field({
      type: ReturnMethodEnum,
      description:
        "How the goods are returned: one of the `methods` that `afterSalesEligibility` offers for the " +
        "lines. By default the first of these methods.",
    }),
    settlement: t.field({
      type: ReturnSettlementEnum,
      description:
        "How the return is settled: one of the settlements that `afterSalesEligibility` offers for the " +
        "lines. By default the first of these settlements.",
    }),
    exchangeVariantId: t.id({
      description:
        "The id of the variant to send in exchange, `var_…`; required for an exchange and not allowed " +
        "otherwise. The variant must be of the same product, be in stock and have the same price.",
    }),
    expectedVersion: t.int({ description: orderVersionDescription }),
  }),
});

const ReturnTransitionInput = builder.inputType("ReturnTransitionInput", {
  description: "The return whose status is to change, with its expected version.",
  fields: (t) => ({ expectedVersion: t.int({ description: returnVersionDescription }) }),
});

const ReturnDeclineInput = builder.inputType("ReturnDeclineInput", {
  description: "The input to decline a return request.",
  fields: (t) => ({
    reason: t.string({
      required: true,
      description:
        `The reason for declining the return, which is shown to the buyer, 1 to ${declineReasonLengthMax} ` +
        "characters.",
    }),
    expectedVersion: t.int({ description: returnVersionDescription }),
  }),
});

const ReturnReceivedLineInput = builder.inputType("ReturnReceivedLineInput", {
  description: "The units of one return line that arrived.",
  fields: (t) => ({
    lineId: t.id({ required: true, description: "The id of the order line, `oln_…`." }),
    received: t.int({
      required: true,
      description: "The number of units that arrived, from 0 to the number requested for this line.",
    }),
  }),
});

const ReturnReceiveInput = builder.inputType("ReturnReceiveInput", {
  description: "The units of a return that arrived.",
  fields: (t) => ({
    lines: t.field({
      type: [ReturnReceivedLineInput],
      required: true,
      description:
        "The number of units that arrived, for each line of the return. Every line must be in the list " +
        "exactly once.",
    }),
    expectedVersion: t.int({ description: returnVersionDescription }),
  }),
});

const ReturnInspectedLineInput = builder.inputType("ReturnInspectedLineInput", {
  description: "The result of inspecting one return line.",
  fields: (t) => ({
    lineId: t.id({ required: true, description: "The id of the order line, `oln_…`." }),
    accepted: t.int({
      required: true,
      description:
        "The number of units that the merchant accepts, from 0 to the number received for this line.",
    }),
    restock: t.int({
      required: true,
      description:
        "The number of accepted units that can be sold again and are added to the stock, from 0 to the " +
        "accepted number. The number must be 0 for a repair.",
    }),
  }),
});

const ReturnInspectInput = builder.inputType("ReturnInspectInput", {
  description: "The result of inspecting a return.",
  fields: (t) => ({
    lines: t.field({
      type: [ReturnInspectedLineInput],
      required: true,
      description:
        "The result of the inspection for each line of the return: accepted and rejected units. Every line " +
        "must be in the list exactly once.",
    }),
    note: t.string({ description: `A note about the inspection, 1 to ${noteLengthMax} characters.` }),
    expectedVersion: t.int({ description: returnVersionDescription }),
  }),
});

const returnToAnswer = (_context: GraphqlContext, { order, id }: OrderAndIdOfChangedPart): ReturnView =>
  requireOrderPart(order, "returns", id);

defineMutation({
  ...orderMutationKind,
  name: "returnRequest",
  description:
    "Requests a return, exchange, refund, repair or replacement. If `afterSalesEligibility` answers " +
    "allowed for the request, the return is approved at once. If the answer is request_required, the " +
    "return waits for the merchant. If the answer is denied, the request is refused with the same reasons.",
  callers: frontendCallers,
  input: ReturnRequestInput,
  type: ReturnRef,
  run: requestReturn,
  answer: returnToAnswer,
});

defineMutation({
  ...returnMutationKind,
  name: "returnApprove",
  description:
    "Approves a requested return. A refund without goods to send back is settled at " +
    "once; a replacement is reserved from the stock.",
  input: ReturnTransitionInput,
  type: ReturnRef,
  run: approveReturn,
  answer: returnToAnswer,
});

defineMutation({
  ...returnMutationKind,
  name: "returnDecline",
  description: "Declines a requested return.",
  input: ReturnDeclineInput,
  type: ReturnRef,
  run: declineReturn,
  answer: returnToAnswer,
});

defineMutation({
  ...returnMutationKind,
  name: "returnTrack",
  description: "Marks an approved return as in transit to the merchant.",
  input: ReturnTransitionInput,
  type: ReturnRef,
  run: markReturnInTransit,
  answer: returnToAnswer,
});

defineMutation({
  ...returnMutationKind,
  name: "returnReceive",
  description:
    "Records the arrival of a return. The return must be in transit, or approved with a method without " +
    "tracking (store or pickup).",
  input: ReturnReceiveInput,
  type: ReturnRef,
  run: receiveReturn,
  answer: returnToAnswer,
});

defineMutation({
  ...returnMutationKind,
  name: "returnInspect",
  description:
    "Records the inspection of a received return. Accepted units count as returned; " +
    "units to restock are added to the stock.",
  input: ReturnInspectInput,
  type: ReturnRef,
  run: recordReturnInspection,
  answer: returnToAnswer,
});

defineMutation({
  ...returnMutationKind,
  name: "returnClose",
  description:
    "Closes an inspected return. Accepted units are refunded less the return's fees. " +
    "For an exchange or replacement, the replacement must have been sent.",
  input: ReturnTransitionInput,
  type: ReturnRef,
  run: closeReturn,
  answer: returnToAnswer,
});

defineMutation({
  ...returnMutationKind,
  name: "returnCancel",
  description: "Cancels a return that was requested or approved and is not in transit yet.",
  callers: frontendCallers,
  input: ReturnTransitionInput,
  type: ReturnRef,
  run: cancelReturn,
  answer: returnToAnswer,
});
