/**
 * The page on which a merchant chooses how the checkout page looks: name, logo, colour, support and legal
 * links.
 */
import { Fragment, type JSX } from "preact";
import { useState } from "preact/hooks";
import { basePath } from "#pages/console/browser/graph/client.ts";
import { useGraphqlMutation, useGraphqlQuery } from "#pages/console/browser/graph/hooks.ts";
import { PageHeading } from "#pages/console/browser/navigation.tsx";
import { FailureBanner, TextField } from "#pages/console/browser/parts/fields.tsx";
import { QueryResultOrLoadingNote } from "#pages/console/browser/parts/tables.tsx";
import {
  type ConsoleMerchantBranding,
  brandingDocument,
  type BrandingTextFieldName,
  brandingFields,
  updateBrandingDocument,
} from "./branding-documents.ts";
import { MerchantLogoField } from "./logo-field.tsx";
import "./branding.css";

interface BrandingPageProps {
  /** True if the staff member's role may see the branding but not change it. */
  readonly isReadOnly?: boolean;
}

export function BrandingPage({ isReadOnly = false }: BrandingPageProps): JSX.Element {
  const query = useGraphqlQuery(brandingDocument, {});
  return (
    <>
      <PageHeading title="Branding" />
      <p class="lead">
        Buyers see your name, your logo, your colour and these links on the checkout page. Empty fields are
        not shown.{isReadOnly ? " An admin of your shop can change them." : ""}
      </p>
      <QueryResultOrLoadingNote query={query} what="branding">
        {({ viewer: { merchant } }) =>
          merchant === null ? null : (
            <BrandingForm
              merchantId={merchant.id}
              name={merchant.name}
              branding={merchant.branding}
              isReadOnly={isReadOnly}
            />
          )
        }
      </QueryResultOrLoadingNote>
    </>
  );
}

/** The label and the hint of each field of the branding form, in the order of the fields. */
const fieldTexts: Readonly<Record<BrandingTextFieldName, { readonly label: string; readonly hint: string }>> =
  {
    displayName: {
      label: "Name",
      hint: "At most 100 characters. If it is empty, buyers see the name of your shop's account.",
    },
    color: {
      label: "Colour of the buttons",
      hint: "As #rrggbb, for example #2f5d50. The text on it is black or white: the colour that is easier to read.",
    },
    supportUrl: { label: "Help page", hint: "A URL that starts with https://." },
    supportEmail: { label: "E-mail address for help", hint: "Shown on the page and as a link." },
    supportPhone: {
      label: "Phone number for help",
      hint: "With the country code, for example +49 30 123456.",
    },
    termsUrl: { label: "Terms of sale", hint: "A URL that starts with https://." },
    privacyUrl: { label: "Privacy policy", hint: "A URL that starts with https://." },
    imprintUrl: { label: "Legal notice", hint: "A URL that starts with https://." },
  };

type FormTexts = Readonly<Record<BrandingTextFieldName, string>>;

function textsOf(branding: ConsoleMerchantBranding | null): FormTexts {
  const text = (field: BrandingTextFieldName): string => branding?.[field] ?? "";
  return {
    displayName: text("displayName"),
    color: text("color"),
    supportUrl: text("supportUrl"),
    supportEmail: text("supportEmail"),
    supportPhone: text("supportPhone"),
    termsUrl: text("termsUrl"),
    privacyUrl: text("privacyUrl"),
    imprintUrl: text("imprintUrl"),
  };
}

interface BrandingFormProps {
  readonly merchantId: string;
  readonly name: string;
  readonly branding: ConsoleMerchantBranding | null;
  readonly isReadOnly: boolean;
}

function BrandingForm({ merchantId, name, branding, isReadOnly }: BrandingFormProps): JSX.Element {
  const [saved, setSaved] = useState(branding);
  const [texts, setTexts] = useState(textsOf(branding));
  const [logo, setLogo] = useState<string | null>();
  const [isSaved, setIsSaved] = useState(false);
  const { isBusy, failure, run } = useGraphqlMutation(updateBrandingDocument);
  const change = (next: () => void): void => {
    setIsSaved(false);
    next();
  };
  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    const given = Object.fromEntries(brandingFields.map((field) => [field, valueOf(field, texts[field])]));
    const done = await run({ input: { merchantId, ...given, ...(logo === undefined ? {} : { logo }) } });
    if (done === undefined) return;
    setSaved(done.merchantBrandingUpdate.branding);
    setLogo(undefined);
    setIsSaved(true);
  };
  return (
    <form class="branding" onSubmit={(event) => void save(event)} noValidate>
      <FailureBanner failure={failure} shown={[...brandingFields.map((field) => `/${field}`), "/logo"]} />
      <MerchantLogoField
        name={name}
        isReadOnly={isReadOnly}
        url={logo === undefined ? (saved?.logo?.url ?? null) : logo === null ? null : `data:;base64,${logo}`}
        failure={failure}
        onChange={(next) => change(() => setLogo(next))}
      />
      {brandingFields.map((field) => (
        <Fragment key={field}>
          <TextField
            label={fieldTexts[field].label}
            hint={isReadOnly ? undefined : fieldTexts[field].hint}
            pointer={`/${field}`}
            failure={failure}
            name={field}
            value={texts[field]}
            input={{ readOnly: isReadOnly }}
            onChange={(value) => change(() => setTexts({ ...texts, [field]: value }))}
          />
          {field === "color" ? <ColorPreview color={texts.color.trim().toLowerCase()} /> : null}
        </Fragment>
      ))}
      {isReadOnly ? null : (
        <div class="actions">
          <button disabled={isBusy}>Save the branding</button>
          <span role="status">{isSaved ? "Saved. The next checkout page shows it." : ""}</span>
        </div>
      )}
    </form>
  );
}

/** Returns the value that is saved for a text in the branding form: the text, or null if it is empty. */
function valueOf(field: BrandingTextFieldName, text: string): string | null {
  const trimmed = text.trim();
  if (trimmed === "") return null;
  return field === "color" ? trimmed.toLowerCase() : trimmed;
}

/**
 * Shows a sample pay button in the chosen brand colour. The preview uses the style sheet that the checkout
 * page loads for this colour.
 */
function ColorPreview({ color }: { readonly color: string }): JSX.Element | null {
  if (!/^#[0-9a-f]{6}$/.test(color)) return null;
  return (
    <p class="color-preview">
      <link rel="stylesheet" href={`${basePath}/checkout-theme/${color.slice(1)}.css`} />
      Preview: <span>Pay €24.00</span>
    </p>
  );
}
