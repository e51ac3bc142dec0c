/** Warranties: registered for what a buyer has, and claimed while they last. */
import { registerWarranty, serialNumberLengthMax } from "#commerce/after-sales/register-warranty.ts";
import {
  type WarrantyClaimOutcome,
  warrantyClaimTextLengthMax,
  openWarrantyClaim,
  resolveWarrantyClaim,
} from "#commerce/after-sales/warranty-claims.ts";
import type { ChangedPart } from "#commerce/orders/change-order.ts";
import type { WarrantyView } from "#commerce/orders/render-parts.ts";
import { builder, defineEnum } from "#graph/builder.ts";
import { frontends, type GraphContext } from "#graph/context.ts";
import { orderChange, warrantyChange, warrantyClaimChange } from "#graph/change-kinds.ts";
import { changeMutation } from "#graph/mutation.ts";
import { WarrantyClaimKindEnum } from "#graph/orders/order-enums.ts";
import { orderVersion } from "#graph/orders/order-inputs.ts";
import { showPart } from "#graph/orders/orders.ts";
import { WarrantyRef } from "#graph/refs.ts";

const warrantyVersionDescription =
  "The version of the warranty the caller has seen; when it has another by now, nothing is changed (409 version_conflict).";

const WarrantyClaimOutcomeEnum = defineEnum<WarrantyClaimOutcome>("WarrantyClaimOutcome", {
  description: "What the merchant decides about a warranty claim.",
  values: {
    accepted: "It is granted, and uses one of what the warranty grants.",
    rejected: "It is not granted.",
  },
});

const WarrantyRegisterInput = builder.inputType("WarrantyRegisterInput", {
  description: "A warranty to register.",
  fields: (t) => ({
    lineId: t.id({ required: true, description: "The order's line, `oln_…`." }),
    serialNumber: t.string({
      description: `The thing's own number. 1 to ${serialNumberLengthMax} characters.`,
    }),
    expectedVersion: t.int({ description: orderVersion }),
  }),
});

const WarrantyClaimOpenInput = builder.inputType("WarrantyClaimOpenInput", {
  description: "A claim under a warranty.",
  fields: (t) => ({
    kind: t.field({ type: WarrantyClaimKindEnum, required: true, description: "What is asked for." }),
    description: t.string({
      required: true,
      description: `What is wrong. 1 to ${warrantyClaimTextLengthMax} characters.`,
    }),
    expectedVersion: t.int({ description: warrantyVersionDescription }),
  }),
});

const WarrantyClaimResolveInput = builder.inputType("WarrantyClaimResolveInput", {
  description: "What is decided about a claim.",
  fields: (t) => ({
    outcome: t.field({
      type: WarrantyClaimOutcomeEnum,
      required: true,
      description: "Whether it is granted.",
    }),
    resolution: t.string({
      required: true,
      description: `The decision in words. 1 to ${warrantyClaimTextLengthMax} characters.`,
    }),
    expectedVersion: t.int({ description: warrantyVersionDescription }),
  }),
});

const warrantyToAnswer = (_context: GraphContext, { order, id }: ChangedPart): WarrantyView =>
  showPart(order, "warranties", id);

changeMutation({
  ...orderChange,
  name: "warrantyRegister",
  description:
    "Registers the warranty of a line that has arrived, as the order was placed with it. It begins with the delivery.",
  callers: frontends,
  input: WarrantyRegisterInput,
  type: WarrantyRef,
  run: registerWarranty,
  answer: warrantyToAnswer,
});

changeMutation({
  ...warrantyChange,
  name: "warrantyClaimOpen",
  description: "Asks for what a warranty grants; one claim at a time.",
  callers: frontends,
  input: WarrantyClaimOpenInput,
  type: WarrantyRef,
  run: openWarrantyClaim,
  answer: warrantyToAnswer,
});

changeMutation({
  ...warrantyClaimChange,
  name: "warrantyClaimResolve",
  description: "Decides a claim that is open.",
  input: WarrantyClaimResolveInput,
  type: WarrantyRef,
  run: resolveWarrantyClaim,
  answer: warrantyToAnswer,
});
