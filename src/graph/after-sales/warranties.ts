/** The GraphQL mutations that register warranties and open or resolve warranty claims. */
import { registerWarranty, serialNumberLengthMax } from "#commerce/after-sales/register-warranty.ts";
import {
  type WarrantyClaimOutcome,
  warrantyClaimTextLengthMax,
  openWarrantyClaim,
  resolveWarrantyClaim,
} from "#commerce/after-sales/warranty-claims.ts";
import type { OrderAndIdOfChangedPart } from "#commerce/orders/change-order.ts";
import type { WarrantyView } from "#commerce/orders/render-parts.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import { frontendCallers, type GraphqlContext } from "#graph/context.ts";
import { orderMutationKind, warrantyMutationKind, warrantyClaimMutationKind } from "#graph/mutation-kinds.ts";
import { defineMutation } from "#graph/mutation.ts";
import { WarrantyClaimKindEnum } from "#graph/orders/order-enums.ts";
import { orderVersionDescription } from "#graph/orders/order-inputs.ts";
import { requireOrderPart } from "#graph/orders/orders.ts";
import { WarrantyRef } from "#graph/refs.ts";

const warrantyVersionDescription =
  "The version of the warranty that the caller last read. If the warranty's current version is " +
  "different, nothing is changed and the error is version_conflict (409).";

const WarrantyClaimOutcomeEnum = defineGraphqlEnum<WarrantyClaimOutcome>("WarrantyClaimOutcome", {
  description: "The merchant's decision about a warranty claim.",
  values: {
    accepted: "The claim is granted and uses one repair or replacement of the warranty.",
    rejected: "The claim is rejected and uses no repair or replacement of the warranty.",
  },
});

const WarrantyRegisterInput = builder.inputType("WarrantyRegisterInput", {
  description: "The input to register the warranty of an order line.",
  fields: (t) => ({
    lineId: t.id({ required: true, description: "The id of the order line, `oln_…`." }),
    serialNumber: t.string({
      description: `The serial number of the item, 1 to ${serialNumberLengthMax} characters.`,
    }),
    expectedVersion: t.int({ description: orderVersionDescription }),
  }),
});

const WarrantyClaimOpenInput = builder.inputType("WarrantyClaimOpenInput", {
  description: "The input to open a claim under a warranty.",
  fields: (t) => ({
    kind: t.field({
      type: WarrantyClaimKindEnum,
      required: true,
      description: "What the buyer claims: a repair or a replacement.",
    }),
    description: t.string({
      required: true,
      description: `The buyer's description of the defect, 1 to ${warrantyClaimTextLengthMax} characters.`,
    }),
    expectedVersion: t.int({ description: warrantyVersionDescription }),
  }),
});

const WarrantyClaimResolveInput = builder.inputType("WarrantyClaimResolveInput", {
  description: "The merchant's decision about a warranty claim.",
  fields: (t) => ({
    outcome: t.field({
      type: WarrantyClaimOutcomeEnum,
      required: true,
      description: "The merchant's decision: the claim is accepted or rejected.",
    }),
    resolution: t.string({
      required: true,
      description: `The merchant's explanation of the decision, 1 to ${warrantyClaimTextLengthMax} characters.`,
    }),
    expectedVersion: t.int({ description: warrantyVersionDescription }),
  }),
});

const warrantyToAnswer = (_context: GraphqlContext, { order, id }: OrderAndIdOfChangedPart): WarrantyView =>
  requireOrderPart(order, "warranties", id);

defineMutation({
  ...orderMutationKind,
  name: "warrantyRegister",
  description:
    "Registers the warranty of a delivered order line, with the terms under which the " +
    "order was placed. The warranty starts with the delivery.",
  failures: [...orderMutationKind.failures, "resource_not_found", "already_exists"],
  callers: frontendCallers,
  input: WarrantyRegisterInput,
  type: WarrantyRef,
  run: registerWarranty,
  answer: warrantyToAnswer,
});

defineMutation({
  ...warrantyMutationKind,
  name: "warrantyClaimOpen",
  description: "Opens a claim under a warranty. A warranty can have only one open claim at a time.",
  callers: frontendCallers,
  input: WarrantyClaimOpenInput,
  type: WarrantyRef,
  run: openWarrantyClaim,
  answer: warrantyToAnswer,
});

defineMutation({
  ...warrantyClaimMutationKind,
  name: "warrantyClaimResolve",
  description: "Accepts or rejects an open warranty claim.",
  input: WarrantyClaimResolveInput,
  type: WarrantyRef,
  run: resolveWarrantyClaim,
  answer: warrantyToAnswer,
});
