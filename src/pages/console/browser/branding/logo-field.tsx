/**
 * The field with which a merchant chooses the logo: a preview, a file to upload, and a button that removes
 * the logo.
 */
import type { JSX } from "preact";
import { useId } from "preact/hooks";
import type { GraphqlRequestError } from "#pages/console/browser/graph/client.ts";
import { FormFieldFaultList, getFormFieldFaultTexts } from "#pages/console/browser/parts/fields.tsx";

interface LogoFieldProps {
  readonly name: string;
  /** The URL of the logo that the field shows; null if there is no logo. */
  readonly url: string | null;
  readonly failure: GraphqlRequestError | undefined;
  readonly isReadOnly: boolean;
  /** The callback that receives the chosen image file in base64, or null if the logo is to be removed. */
  readonly onChange: (logo: string | null) => void;
}

export function MerchantLogoField({ name, url, failure, isReadOnly, onChange }: LogoFieldProps): JSX.Element {
  const preview = url === null ? null : <img src={url} alt={`Logo of ${name}`} />;
  if (isReadOnly)
    return (
      <div class="field">
        <p class="label">Logo</p>
        <p class="logo-preview">{preview ?? "None"}</p>
      </div>
    );
  return <LogoInput preview={preview} failure={failure} onChange={onChange} />;
}

interface LogoInputProps extends Pick<LogoFieldProps, "failure" | "onChange"> {
  readonly preview: JSX.Element | null;
}

function LogoInput({ preview, failure, onChange }: LogoInputProps): JSX.Element {
  const id = useId();
  const faults = getFormFieldFaultTexts(failure, "/logo");
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
      {preview === null ? null : (
        <p class="logo-preview">
          {preview}
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
      <FormFieldFaultList id={`${id}-fault`} faults={faults} />
    </div>
  );
}

/** Reads a file and returns its content in base64, without the prefix of a `data:` URL. */
async function readAsBase64(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}
