/**
 * The GraphQL types of the time window and the fees of an after-sales option, for example of returning an
 * article.
 */
import type { AfterSalesFee } from "#commerce/after-sales/after-sales-option.ts";
import type { OrderTimeWindow } from "#commerce/orders/order-terms.ts";
import { builder } from "#graph/builder.ts";
import { MoneyRef } from "#graph/refs.ts";
import { FeeCodeEnum, FeePayerEnum, WindowClockEnum } from "./eligibility-enums.ts";

export const AfterSalesWindowType = builder.objectRef<OrderTimeWindow>("AfterSalesWindow").implement({
  description: "The time window of an after-sales option.",
  fields: (t) => ({
    clock: t.expose("clock", {
      type: WindowClockEnum,
      description: "The event at which the time window starts.",
    }),
    startsAt: t.expose("startsAt", {
      type: "DateTime",
      nullable: true,
      description:
        "The start of the time window; null if the start is not known yet, for example before the delivery.",
    }),
    endsAt: t.expose("endsAt", {
      type: "DateTime",
      nullable: true,
      description:
        "The last millisecond of the time window, at the end of a day in the market's time zone; null " +
        "if the window has no end or its end is not known yet.",
    }),
    estimated: t.exposeBoolean("estimated", {
      description:
        "Whether the time window is based on an estimated delivery, because no delivery was reported.",
    }),
  }),
});

export const AfterSalesFeeType = builder.objectRef<AfterSalesFee>("AfterSalesFee").implement({
  description: "A fee of an after-sales option.",
  fields: (t) => ({
    code: t.expose("code", {
      type: FeeCodeEnum,
      description: "The purpose of the fee, for example restocking.",
    }),
    amount: t.expose("amount", { type: MoneyRef, description: "The amount of the fee." }),
    basisPoints: t.exposeInt("basisPoints", {
      nullable: true,
      description:
        "The fee in hundredths of a percent of the value of the returned units; null if the fee is a fixed " +
        "amount.",
    }),
    payer: t.expose("payer", { type: FeePayerEnum, description: "Who pays the fee." }),
  }),
});
