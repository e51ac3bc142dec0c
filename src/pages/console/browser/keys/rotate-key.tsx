/** The dialog that gives a key its successor. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useChange } from "#pages/console/browser/graph/hooks.ts";
import { Banner, SelectField, TextField } from "#pages/console/browser/parts/fields.tsx";
import { Dialog } from "#pages/console/browser/parts/dialogs.tsx";
import { endings, type Ending, endOf } from "./endings.ts";
import { type ApiKey, rotateKeyDocument } from "./key-documents.ts";
import { KeyShown } from "./key-shown.tsx";

interface RotateKeyProps {
  readonly apiKey: ApiKey;
  readonly onRotated: () => void;
  readonly onClose: () => void;
}

export function RotateKey({ apiKey, onRotated, onClose }: RotateKeyProps): JSX.Element {
  const [hours, setHours] = useState("24");
  const [days, setDays] = useState<Ending>("");
  const [value, setValue] = useState<string>();
  const { isBusy, failure, run } = useChange(rotateKeyDocument);
  const rotate = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    const made = await run({ input: { apiKeyId: apiKey.id, overlapHours: Math.trunc(Number(hours)), expiresAt: endOf(days) } });
    if (made === undefined) return;
    setValue(made.apiKeyRotate.value);
    onRotated();
  };
  if (value !== undefined) return <KeyShown title={`The successor of “${apiKey.name}” is made`} value={value} onClose={onClose} />;
  return (
    <Dialog title={`Rotate “${apiKey.name}”`} onClose={onClose} isFirm={isBusy}>
      <form onSubmit={(event) => void rotate(event)}>
        <Banner failure={failure} shown={["/overlapHours", "/expiresAt"]} />
        <p>A new key with the same name and rights is made. The one that there is goes on working for a while, so that nothing stands still.</p>
        <TextField
          label="Hours that both work"
          hint="0 to 168. With 0 the old key ends at once."
          pointer="/overlapHours"
          failure={failure}
          name="overlapHours"
          value={hours}
          onChange={setHours}
          input={{ type: "number", min: 0, max: 168, step: 1, inputMode: "numeric", required: true }}
        />
        <SelectField label="The new key ends" pointer="/expiresAt" failure={failure} name="ends" value={days} options={endings} onChange={setDays} />
        <div class="actions">
          <button type="button" class="second" disabled={isBusy} onClick={onClose}>
            Cancel
          </button>
          <button aria-disabled={isBusy}>{isBusy ? "One moment …" : "Rotate the key"}</button>
        </div>
      </form>
    </Dialog>
  );
}
