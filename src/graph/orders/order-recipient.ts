/** To whom an order goes, opened for who sends it: an admin of the merchant or an operator. To everybody else there is nothing. */
import { openPersonalData, type PersonalData } from "#commerce/addresses/personal-data.ts";
import type { PostalAddress } from "#commerce/addresses/postal-address.ts";
import { builder } from "#graph/builder.ts";
import type { GraphContext } from "#graph/context.ts";
import { OrderRef } from "#graph/refs.ts";
import { forStaff } from "./order-parts.ts";

const PostalAddressType = builder.objectRef<PostalAddress>("PostalAddress").implement({
  description: "A postal address in full (https://schema.org/PostalAddress), for who sends something there.",
  fields: (t) => ({
    recipientName: t.exposeString("recipientName", { description: "Who receives it." }),
    company: t.exposeString("company", { nullable: true, description: "Their company." }),
    line1: t.exposeString("line1", { description: "Street and number (streetAddress)." }),
    line2: t.exposeString("line2", { nullable: true, description: "More of it: floor, door." }),
    line3: t.exposeString("line3", { nullable: true, description: "Still more of it." }),
    district: t.exposeString("district", { nullable: true, description: "The part of the town, where that belongs to an address." }),
    city: t.exposeString("city", { nullable: true, description: "The town (addressLocality)." }),
    regionCode: t.exposeString("regionCode", { nullable: true, description: "The region (addressRegion), ISO 3166-2." }),
    postalCode: t.exposeString("postalCode", { nullable: true, description: "The postal code." }),
    countryCode: t.expose("countryCode", { type: "CountryCode", description: "The country, ISO 3166-1 alpha-2." }),
    phone: t.exposeString("phone", { nullable: true, description: "The recipient's telephone number, E.164." }),
    email: t.exposeString("email", { nullable: true, description: "The recipient's e-mail address." }),
  }),
});

builder.objectFields(OrderRef, (t) => ({
  shippingAddress: t.field({
    type: PostalAddressType,
    nullable: true,
    description: "Where it goes, in full. Only who runs the merchant is told; null as well where nothing is known, or no longer.",
    resolve: async ({ stored: { address } }, _args, context) => {
      const opened = await openFor(context, address?.id);
      return opened?.kind === "address" ? opened.address : null;
    },
  }),
  buyerEmail: t.string({
    nullable: true,
    description: "The buyer's e-mail address. Only who runs the merchant is told; null as well where none is known, or no longer.",
    resolve: async ({ stored: { buyerEmail } }, _args, context) => {
      const opened = await openFor(context, buyerEmail?.id);
      return opened?.kind === "buyer_email" ? opened.email : null;
    },
  }),
}));

/** Nothing is even read for who may not know it. */
async function openFor(context: GraphContext, id: string | undefined): Promise<PersonalData | null> {
  const allowed = forStaff(id, context);
  const row = typeof allowed === "string" ? await context.loaders.personalData.load(allowed) : null;
  return row === null ? null : (openPersonalData(context.services.keyring, row) ?? null);
}
