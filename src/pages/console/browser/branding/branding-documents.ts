/** GraphQL documents and result types of the branding page. */
import { createConsoleGraphqlDocument } from "#pages/console/browser/graph/documents.ts";
import type { GraphqlVariablesWithIdempotencyKey } from "#pages/console/browser/graph/hooks.ts";

/** The texts of a merchant's branding that the form changes. */
export const brandingFields = [
  "displayName",
  "color",
  "supportUrl",
  "supportEmail",
  "supportPhone",
  "termsUrl",
  "privacyUrl",
  "imprintUrl",
] as const;
export type BrandingTextFieldName = (typeof brandingFields)[number];

export interface ConsoleMerchantBranding extends Readonly<Record<BrandingTextFieldName, string | null>> {
  readonly logo: { readonly url: string; readonly width: number; readonly height: number } | null;
}

interface BrandedMerchant {
  readonly id: string;
  readonly name: string;
  readonly branding: ConsoleMerchantBranding | null;
}

const fields = `id name branding { ${brandingFields.join(" ")} logo { url width height } }`;

export const brandingDocument = createConsoleGraphqlDocument<{
  readonly viewer: { readonly merchant: BrandedMerchant | null };
}>(`query ConsoleBranding { viewer { merchant { ${fields} } } }`);

/**
 * The input of the mutation that changes a merchant's branding. Fields that are left out stay unchanged; null
 * removes a text or the logo. The logo is the content of an image file in base64.
 */
interface BrandingInput extends Partial<Readonly<Record<BrandingTextFieldName | "logo", string | null>>> {
  readonly merchantId: string;
}

export const updateBrandingDocument = createConsoleGraphqlDocument<
  { readonly merchantBrandingUpdate: BrandedMerchant },
  GraphqlVariablesWithIdempotencyKey & { readonly input: BrandingInput }
>(`
  mutation ConsoleBrandingUpdate($idempotencyKey: String!, $input: MerchantBrandingUpdateInput!) {
    merchantBrandingUpdate(idempotencyKey: $idempotencyKey, input: $input) { ${fields} }
  }
`);
