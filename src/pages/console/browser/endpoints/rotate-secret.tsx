/** The dialog that gives an endpoint a new signing secret, and shows it this once. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useChange } from "#pages/console/browser/graph/hooks.ts";
import { Banner, TextField } from "#pages/console/browser/parts/fields.tsx";
import { Dialog } from "#pages/console/browser/parts/dialogs.tsx";
import { type Endpoint, rotateSecretDocument } from "./endpoint-documents.ts";
import { SecretShown } from "./secret-shown.tsx";

interface RotateSecretProps {
  readonly endpoint: Endpoint;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

export function RotateSecret({ endpoint, onChanged, onClose }: RotateSecretProps): JSX.Element {
  const [hours, setHours] = useState("24");
  const [secret, setSecret] = useState<string>();
  const { isBusy, failure, run } = useChange(rotateSecretDocument);
  const rotate = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    const made = await run({ endpointId: endpoint.id, input: { overlapHours: Math.trunc(Number(hours)) } });
    if (made === undefined) return;
    setSecret(made.webhookSecretRotate.secret.value);
    onChanged();
  };
  if (secret !== undefined) return <SecretShown title="The new secret signs from now on" secret={secret} onClose={onClose} />;
  return (
    <Dialog title="Rotate the signing secret" onClose={onClose} isFirm={isBusy}>
      <form onSubmit={(event) => void rotate(event)}>
        <Banner failure={failure} shown={["/overlapHours"]} />
        <p>
          Webhooks to <strong>{endpoint.url}</strong> are signed with both secrets for a while, so that the receiver can be changed in peace.
        </p>
        <TextField
          label="Hours that both sign"
          hint="0 to 168. With 0 the old secret ends at once."
          pointer="/overlapHours"
          failure={failure}
          name="overlapHours"
          value={hours}
          onChange={setHours}
          input={{ type: "number", min: 0, max: 168, step: 1, inputMode: "numeric", required: true }}
        />
        <div class="actions">
          <button type="button" class="second" disabled={isBusy} onClick={onClose}>
            Cancel
          </button>
          <button aria-disabled={isBusy}>{isBusy ? "One moment …" : "Rotate the secret"}</button>
        </div>
      </form>
    </Dialog>
  );
}
