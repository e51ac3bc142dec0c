/** The object types of cart lines and their discounts. */
import type { CartLineView } from "#commerce/carts/render-cart.ts";
import { builder } from "#graph/builder.ts";
import { AvailabilityEnum, type VariantRestriction, RestrictionEnum } from "#graph/catalog/products.ts";
import { ImageRef, MoneyRef } from "#graph/refs.ts";
import { DiscountSourceEnum } from "./cart-enums.ts";

const DiscountAllocation = builder
  .objectRef<CartLineView["discountAllocations"][number]>("DiscountAllocation")
  .implement({
    description: "The discount of one promotion on a cart line.",
    fields: (t) => ({
      source: t.expose("source", {
        type: DiscountSourceEnum,
        description: "Whether the promotion was added by a code or applies automatically.",
      }),
      promotionId: t.exposeID("promotionId", { description: "Id of the promotion, `prm_…`." }),
      amount: t.expose("amount", { type: MoneyRef, description: "The discount on the whole line." }),
    }),
  });

export const CartLine = builder.objectRef<CartLineView>("CartLine").implement({
  description:
    "A quantity of one product variant in a cart. Prices and texts are those of the cart's " +
    "last change; the stock is current.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "Id of the cart line, `cln_…`." }),
    position: t.exposeInt("position", { description: "Position of the line in the cart, starting at 0." }),
    productId: t.exposeID("productId", { description: "Id of the product, `prd_…`." }),
    variantId: t.exposeID("variantId", { description: "Id of the product variant, `var_…`." }),
    productSlug: t.expose("productSlug", {
      type: "Slug",
      description: "Slug of the product: its name in URLs.",
    }),
    sku: t.exposeString("sku", {
      description: "The merchant's own number of the variant (stock keeping unit).",
    }),
    title: t.exposeString("title", { description: "Title of the product in the cart's locale." }),
    variantTitle: t.exposeString("variantTitle", {
      nullable: true,
      description:
        "The option values of the variant, for example `Blue / M`; null if the product has no options.",
    }),
    image: t.expose("image", {
      type: ImageRef,
      nullable: true,
      description:
        "Image of the variant, or of the product if the variant has none; null if there is no image.",
    }),
    quantity: t.exposeInt("quantity", { description: "Quantity of the variant, 1 to 9999." }),
    unitPrice: t.expose("unitPrice", { type: MoneyRef, description: "Price of one item." }),
    compareAtUnitPrice: t.expose("compareAtUnitPrice", {
      type: MoneyRef,
      nullable: true,
      description: "Former price of one item, shown for comparison; null if the price is not reduced.",
    }),
  }),
});

builder.objectFields(CartLine, (t) => ({
  subtotal: t.expose("subtotal", {
    type: MoneyRef,
    description: "Unit price × quantity, before discounts.",
  }),
  discount: t.expose("discount", { type: MoneyRef, description: "Sum of all discounts on the line." }),
  tax: t.expose("tax", {
    type: MoneyRef,
    nullable: true,
    description: "Tax of the line; null if the cart has no address.",
  }),
  total: t.expose("total", {
    type: MoneyRef,
    description: "Subtotal − discount, plus tax if the prices do not include tax.",
  }),
  discountAllocations: t.field({
    type: [DiscountAllocation],
    description: "The discount of each promotion on the line; the amounts add up to `discount`.",
    complexity: { multiplier: 2 },
    resolve: ({ discountAllocations }) => [...discountAllocations],
  }),
  availability: t.expose("availability", {
    type: AvailabilityEnum,
    description: "Current availability of the variant; `discontinued` if the product is no longer published.",
  }),
  availableQuantity: t.exposeInt("availableQuantity", {
    nullable: true,
    description:
      "Number of items that can be bought now, at most 100 even if there are more; 0 if the " +
      "variant is no longer sold.",
  }),
  requiresShipping: t.exposeBoolean("requiresShipping", {
    description: "Whether the variant must be shipped.",
  }),
  restrictions: t.field({
    type: [RestrictionEnum],
    description: "Restrictions on the sale, shipping or return of the variant; empty if there are none.",
    complexity: { multiplier: 1 },
    resolve: ({ restrictions }) => restrictions as VariantRestriction[],
  }),
}));
