/** The GraphQL types and the mutation of a merchant's branding: how the checkout page presents the merchant. */
import {
  type MerchantBrandingRow,
  displayNameLengthMax,
  updateMerchantBranding,
} from "#commerce/merchants/branding.ts";
import { getContrastingTextColor } from "#commerce/merchants/brand-color.ts";
import { logoBounds } from "#commerce/merchants/logo-file.ts";
import { builder } from "#graph/builder.ts";
import { staffCallers } from "#graph/context.ts";
import { accessMutationKind } from "#graph/mutation-kinds.ts";
import { defineMutation, reloadChangedRow } from "#graph/mutation.ts";
import { MerchantRef, MerchantSummaryRef } from "#graph/refs.ts";

const MerchantLogo = builder
  .objectRef<Pick<MerchantBrandingRow, "logoHash" | "logoWidth" | "logoHeight">>("MerchantLogo")
  .implement({
    description: "A merchant's logo: a PNG, JPEG or WebP file.",
    fields: (t) => ({
      url: t.field({
        type: "URL",
        description: "The public URL of the logo's file. A replaced logo has a new URL.",
        resolve: ({ logoHash }, _args, { services }) => `${services.publicUrl}/checkout-logo/${logoHash}`,
      }),
      width: t.int({
        description: "The width of the logo in pixels.",
        resolve: ({ logoWidth }) => logoWidth ?? 0,
      }),
      height: t.int({
        description: "The height of the logo in pixels.",
        resolve: ({ logoHeight }) => logoHeight ?? 0,
      }),
    }),
  });

const descriptions = {
  displayName: "The name that the checkout page shows in place of the merchant's name",
  color: "The colour of the checkout page's buttons, `#rrggbb` in lower case",
  supportEmail: "The e-mail address at which buyers get help",
  supportPhone: "The phone number at which buyers get help",
  supportUrl: "The URL of the page on which buyers get help",
  termsUrl: "The URL of the terms of sale",
  privacyUrl: "The URL of the privacy policy",
  imprintUrl: "The URL of the legal notice (imprint)",
} as const;
const ifSet = (description: string): string => `${description}; null if the merchant has not set one.`;

const MerchantBranding = builder.objectRef<MerchantBrandingRow>("MerchantBranding").implement({
  description: "How the checkout page presents a merchant. The page does not show fields that are null.",
  fields: (t) => ({
    displayName: t.exposeString("displayName", {
      nullable: true,
      description: ifSet(descriptions.displayName),
    }),
    color: t.exposeString("color", { nullable: true, description: ifSet(descriptions.color) }),
    textColor: t.string({
      nullable: true,
      description:
        "The colour of text on buttons in the colour `color`: black or white, with a contrast of at least " +
        "4.5:1; null if `color` is null.",
      resolve: ({ color }) => (color === null ? null : getContrastingTextColor(color)),
    }),
    logo: t.field({
      type: MerchantLogo,
      nullable: true,
      description: "The logo; null if the merchant has none.",
      resolve: (branding) => (branding.logoHash === null ? null : branding),
    }),
    supportEmail: t.expose("supportEmail", {
      type: "EmailAddress",
      nullable: true,
      description: ifSet(descriptions.supportEmail),
    }),
    supportPhone: t.expose("supportPhone", {
      type: "PhoneNumber",
      nullable: true,
      description: ifSet(descriptions.supportPhone),
    }),
    supportUrl: t.expose("supportUrl", {
      type: "URL",
      nullable: true,
      description: ifSet(descriptions.supportUrl),
    }),
    termsUrl: t.expose("termsUrl", {
      type: "URL",
      nullable: true,
      description: ifSet(descriptions.termsUrl),
    }),
    privacyUrl: t.expose("privacyUrl", {
      type: "URL",
      nullable: true,
      description: ifSet(descriptions.privacyUrl),
    }),
    imprintUrl: t.expose("imprintUrl", {
      type: "URL",
      nullable: true,
      description: ifSet(descriptions.imprintUrl),
    }),
  }),
});

const brandingDescription =
  "How the checkout page presents the merchant. Null if the merchant has set nothing; the page then has " +
  "the platform's look.";

builder.objectField(MerchantRef, "branding", (t) =>
  t.field({
    type: MerchantBranding,
    nullable: true,
    description: brandingDescription,
    resolve: ({ id }, _args, { loaders }) => loaders.brandings.load(id),
  }),
);
builder.objectField(MerchantSummaryRef, "branding", (t) =>
  t.field({
    type: MerchantBranding,
    nullable: true,
    description: brandingDescription,
    resolve: ({ id }, _args, { loaders }) => loaders.brandings.load(id),
  }),
);

builder.objectField(MerchantSummaryRef, "displayName", (t) =>
  t.string({
    description:
      "The name that buyers see: the display name of the merchant's branding, or the merchant's name if " +
      "the branding has none.",
    resolve: async ({ id, name }, _args, { loaders }) =>
      (await loaders.brandings.load(id))?.displayName ?? name,
  }),
);

const urlRule = "at most 2048 characters, starting with https://";
const MerchantBrandingUpdateInput = builder.inputType("MerchantBrandingUpdateInput", {
  description:
    "The changes of a merchant's branding. Omitted fields stay unchanged; null removes the " +
    "field's value.",
  fields: (t) => ({
    merchantId: t.id({ required: true, description: "The id of the merchant to change, `mer_…`." }),
    displayName: t.string({
      description: `${descriptions.displayName}: one line of 1 to ${displayNameLengthMax} characters.`,
    }),
    color: t.string({ description: `${descriptions.color}, for example \`#2f5d50\`.` }),
    logo: t.string({
      description:
        `The logo's file in base64 (RFC 4648): PNG, JPEG or WebP, at most ${logoBounds.bytesMax} bytes and ` +
        `${logoBounds.pixelsMax} × ${logoBounds.pixelsMax} pixels.`,
    }),
    supportEmail: t.field({
      type: "EmailAddress",
      description: `${descriptions.supportEmail}, at most 254 characters.`,
    }),
    supportPhone: t.field({
      type: "PhoneNumber",
      description: `${descriptions.supportPhone}: 4 to 30 digits, spaces and \`( ) . / -\`, with or without \`+\`.`,
    }),
    supportUrl: t.string({ description: `${descriptions.supportUrl}, ${urlRule}.` }),
    termsUrl: t.string({ description: `${descriptions.termsUrl}, ${urlRule}.` }),
    privacyUrl: t.string({ description: `${descriptions.privacyUrl}, ${urlRule}.` }),
    imprintUrl: t.string({ description: `${descriptions.imprintUrl}, ${urlRule}.` }),
  }),
});

defineMutation({
  ...accessMutationKind,
  name: "merchantBrandingUpdate",
  description:
    "Changes how the checkout page presents a merchant: name, logo, colour, support and legal links.",
  failures: ["merchant_not_found"],
  callers: staffCallers,
  input: MerchantBrandingUpdateInput,
  type: MerchantRef,
  run: async (transaction, access, input) => {
    await updateMerchantBranding(transaction, access, input);
    return input.merchantId;
  },
  answer: ({ loaders }, id) => reloadChangedRow(loaders.merchants, id),
});
