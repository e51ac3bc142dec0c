/** The page on which a merchant chooses how the checkout page looks: logo, colour, support and legal links. */
import type { JSX } from "preact";
import { useId, useState } from "preact/hooks";
import type { GraphFailure } from "#pages/console/browser/graph/client.ts";
import { useMutation, useQuery } from "#pages/console/browser/graph/hooks.ts";
import { PageHeading } from "#pages/console/browser/navigation.tsx";
import {
  FailureBanner,
  FieldFaults,
  fieldFaultTexts,
  TextField,
} from "#pages/console/browser/parts/fields.tsx";
import { QueryResultView } from "#pages/console/browser/parts/tables.tsx";
import {
  type Branding,
  brandingDocument,
  type BrandingField,
  brandingFields,
  updateBrandingDocument,
} from "./branding-documents.ts";
import "./branding.css";

export function BrandingPage(): JSX.Element {
  const query = useQuery(brandingDocument, {});
  return (
    <>
      <PageHeading title="Branding" />
      <p class="lead">
        Buyers see your logo, your colour and these links on the checkout page. Empty fields are not shown.
      </p>
      <QueryResultView query={query} what="branding">
        {({ viewer: { merchant } }) =>
          merchant === null ? null : (
            <BrandingForm merchantId={merchant.id} name={merchant.name} branding={merchant.branding} />
          )
        }
      </QueryResultView>
    </>
  );
}

/** The texts of the form's fields, in their order. */
const fieldTexts: Readonly<Record<BrandingField, { readonly label: string; readonly hint: string }>> = {
  color: {
    label: "Colour of the buttons",
    hint: "As #rrggbb, for example #2f5d50. The text on it is black or white: the colour that is easier to read.",
  },
  supportUrl: { label: "Help page", hint: "A URL that starts with https://." },
  supportEmail: { label: "E-mail address for help", hint: "Shown on the page and as a link." },
  supportPhone: { label: "Phone number for help", hint: "With the country code, for example +49 30 123456." },
  termsUrl: { label: "Terms of sale", hint: "A URL that starts with https://." },
  privacyUrl: { label: "Privacy policy", hint: "A URL that starts with https://." },
  imprintUrl: { label: "Legal notice", hint: "A URL that starts with https://." },
};

type FormTexts = Readonly<Record<BrandingField, string>>;

function textsOf(branding: Branding | null): FormTexts {
  const text = (field: BrandingField): string => branding?.[field] ?? "";
  return {
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
  readonly branding: Branding | null;
}

function BrandingForm({ merchantId, name, branding }: BrandingFormProps): JSX.Element {
  const [saved, setSaved] = useState(branding);
  const [texts, setTexts] = useState(textsOf(branding));
  const [logo, setLogo] = useState<string | null>();
  const [isSaved, setIsSaved] = useState(false);
  const { isBusy, failure, run } = useMutation(updateBrandingDocument);
  const change = (next: () => void): void => {
    setIsSaved(false);
    next();
  };
  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    const given = Object.fromEntries(
      brandingFields.map((field) => [field, texts[field].trim() === "" ? null : texts[field].trim()]),
    );
    const done = await run({ input: { merchantId, ...given, ...(logo === undefined ? {} : { logo }) } });
    if (done === undefined) return;
    setSaved(done.merchantBrandingUpdate.branding);
    setLogo(undefined);
    setIsSaved(true);
  };
  return (
    <form class="branding" onSubmit={(event) => void save(event)} noValidate>
      <FailureBanner failure={failure} shown={[...brandingFields.map((field) => `/${field}`), "/logo"]} />
      <LogoField
        name={name}
        url={logo === undefined ? (saved?.logo?.url ?? null) : logo === null ? null : `data:;base64,${logo}`}
        failure={failure}
        onChange={(next) => change(() => setLogo(next))}
      />
      {brandingFields.map((field) => (
        <TextField
          key={field}
          {...fieldTexts[field]}
          pointer={`/${field}`}
          failure={failure}
          name={field}
          value={texts[field]}
          onChange={(value) => change(() => setTexts({ ...texts, [field]: value }))}
        />
      ))}
      <div class="actions">
        <button disabled={isBusy}>Save the branding</button>
        <span role="status">{isSaved ? "Saved. The next checkout page shows it." : ""}</span>
      </div>
    </form>
  );
}

interface LogoFieldProps {
  readonly name: string;
  /** The URL of the shown logo; null if there is none. */
  readonly url: string | null;
  readonly failure: GraphFailure | undefined;
  /** Called with the chosen file in base64, or with null to remove the logo. */
  readonly onChange: (logo: string | null) => void;
}

function LogoField({ name, url, failure, onChange }: LogoFieldProps): JSX.Element {
  const id = useId();
  const faults = fieldFaultTexts(failure, "/logo");
  const choose = async (files: FileList | null): Promise<void> => {
    const file = files?.item(0);
    if (file !== null && file !== undefined) onChange(await readAsBase64(file));
  };
  return (
    <div class="field">
      <label for={id}>Logo</label>
      <p class="hint" id={`${id}-hint`}>
        A PNG, JPEG or WebP file, at most 128 KiB and 2000 × 2000 pixels. Shown at most 32 pixels high, before
        the name.
      </p>
      {url === null ? null : (
        <p class="logo-preview">
          <img src={url} alt={`Logo of ${name}`} />
          <button type="button" class="plain danger" onClick={() => onChange(null)}>
            Remove the logo
          </button>
        </p>
      )}
      <input
        id={id}
        type="file"
        accept="image/png,image/jpeg,image/webp"
        aria-invalid={faults.length > 0}
        aria-describedby={faults.length === 0 ? `${id}-hint` : `${id}-hint ${id}-fault`}
        onChange={({ currentTarget }) => void choose(currentTarget.files)}
      />
      <FieldFaults id={`${id}-fault`} faults={faults} />
    </div>
  );
}

/** Reads a file as base64, without the start of a `data:` URL. */
async function readAsBase64(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}
