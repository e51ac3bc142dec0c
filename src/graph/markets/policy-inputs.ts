/** What a merchant says in a policy's rules. */
import type { SelfService } from "#commerce/markets/policy-rules.ts";
import { builder } from "#graph/builder.ts";
import { defineEnum } from "#graph/enums.ts";
import { ReturnMethodEnum } from "#graph/orders/order-enums.ts";

const SelfServiceEnum = defineEnum<SelfService>("PolicyMode", {
  description: "How a buyer who asks is answered.",
  values: { immediate: "At once.", request: "By the merchant.", none: "Never: buyers do not ask by themselves." },
});

const AfterWindowEnum = defineEnum<"request" | "deny">("PolicyAfterWindow", {
  description: "What a buyer may do when the time is over.",
  values: { request: "Ask the merchant.", deny: "Nothing." },
});

const CancellationRulesInput = builder.inputType("CancellationRulesInput", {
  description: "When buyers cancel.",
  fields: (t) => ({
    mode: t.field({ type: SelfServiceEnum, description: "How they are answered; at once unless told." }),
    windowMinutes: t.int({ description: "How long after the order, 1 to 43 200; null: until the packing begins. 60 unless told." }),
    afterWindow: t.field({ type: AfterWindowEnum, description: "What they may do after that; ask unless told." }),
  }),
});

const ReturnRulesInput = builder.inputType("ReturnRulesInput", {
  description: "What comes back, until when, and what it costs.",
  fields: (t) => ({
    mode: t.field({ type: SelfServiceEnum, description: "How buyers are answered; at once unless told." }),
    windowDays: t.int({ description: "Days from the delivery on, 1 to 3650; null: for ever. 30 unless told." }),
    exchangeWindowDays: t.int({ description: "The same for exchanges; null: there are none. 30 unless told." }),
    methods: t.field({ type: [ReturnMethodEnum], description: "How it may come back, 1 to 4; by mail unless told." }),
    restockingBasisPoints: t.int({
      description: "The fee for taking it back, in hundredths of a percent of what is returned, 0 to 10 000; 0 unless told.",
    }),
    returnShippingMinor: t.field({
      type: "MinorUnits",
      description: "What the buyer pays for the way back, in the market's currency, so that the policy needs a market; 0 unless told.",
    }),
    keepItemMinor: t.field({
      type: "MinorUnits",
      description:
        "Up to this much is refunded without the thing coming back, in the market's currency, so that the policy needs a market; null: never.",
    }),
    extendUntil: t.string({ description: "No time ends before the end of this day, `YYYY-MM-DD`." }),
    excludedCategoryIds: t.idList({ description: "Categories that nothing is taken back of, nor of those below them; 100 at most." }),
    excludedCountries: t.field({ type: ["CountryCode"], description: "Countries that nothing is taken back from." }),
    returnsPerBuyerMax: t.int({ description: "How many returns a buyer may ask for in 365 days, 1 to 1000; null: any number." }),
    storeCredit: t.boolean({ description: "Whether the buyer may have store credit instead; no unless told." }),
    photoRequired: t.boolean({ description: "Whether the buyer has to send a picture; no unless told." }),
  }),
});

const WithdrawalRulesInput = builder.inputType("WithdrawalRulesInput", {
  description: "How long consumers may withdraw. In the European Economic Area never less than the law gives, 14 days.",
  fields: (t) => ({ windowDays: t.int({ description: "Days from the delivery of the last line on, 0 to 365; 0: none. 0 unless told." }) }),
});

const WarrantyRulesInput = builder.inputType("WarrantyRulesInput", {
  description: "What the merchant warrants. In the European Union never shorter than the law's guarantee, 24 months.",
  fields: (t) => ({
    months: t.int({ description: "Months from the delivery on, 0 to 240; 0 unless told." }),
    repairs: t.int({ description: "How many repairs a registration has, 0 to 1000; 1 unless told." }),
    replacements: t.int({ description: "How many replacements a registration has, 0 to 1000; 1 unless told." }),
  }),
});

export const PolicyRulesInputType = builder.inputType("PolicyRulesInput", {
  description: "What eligibility is decided by: one group, that of the policy's type. What is left out has its default.",
  fields: (t) => ({
    cancellation: t.field({ type: CancellationRulesInput, description: "For a policy of cancellation." }),
    return: t.field({ type: ReturnRulesInput, description: "For a policy of returns." }),
    withdrawal: t.field({ type: WithdrawalRulesInput, description: "For a policy of withdrawal." }),
    warranty: t.field({ type: WarrantyRulesInput, description: "For a policy of warranty." }),
  }),
});
