/**
 * Two dialogs for the secret that signs an endpoint's webhooks. One replaces the secret by a new one; the
 * other shows the new secret, only once.
 */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useGraphqlMutation } from "#pages/console/browser/graph/hooks.ts";
import { FailureBanner, TextField } from "#pages/console/browser/parts/fields.tsx";
import { CopyableSecretField, Dialog, DialogFormButtons } from "#pages/console/browser/parts/dialogs.tsx";
import { basePath } from "#pages/console/browser/graph/client.ts";
import { type ConsoleWebhookEndpoint, rotateSecretDocument } from "./endpoint-documents.ts";

interface RotateSecretProps {
  readonly endpoint: ConsoleWebhookEndpoint;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

export function RotateWebhookSecretDialog({ endpoint, onChanged, onClose }: RotateSecretProps): JSX.Element {
  const [hours, setHours] = useState("24");
  const [secret, setSecret] = useState<string>();
  const { isBusy, failure, run } = useGraphqlMutation(rotateSecretDocument);
  const rotate = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    const made = await run({ endpointId: endpoint.id, input: { overlapHours: Math.trunc(Number(hours)) } });
    if (made === undefined) return;
    setSecret(made.webhookSecretRotate.secret.value);
    onChanged();
  };
  if (secret !== undefined)
    return <ShowWebhookSecretDialog title="The new secret is in use" secret={secret} onClose={onClose} />;
  return (
    <Dialog title="Rotate the signing secret" onClose={onClose} isFirm={isBusy}>
      <form onSubmit={(event) => void rotate(event)}>
        <FailureBanner failure={failure} shown={["/overlapHours"]} />
        <p>
          Webhooks to <strong>{endpoint.url}</strong> are signed with both secrets for a while, so that the
          receiver can be changed in peace.
        </p>
        <TextField
          label="Hours during which both secrets sign"
          hint="0 to 168. With 0 the present secret ends at once."
          pointer="/overlapHours"
          failure={failure}
          name="overlapHours"
          value={hours}
          onChange={setHours}
          input={{ type: "number", min: 0, max: 168, step: 1, inputMode: "numeric", required: true }}
        />
        <DialogFormButtons action="Rotate the secret" isBusy={isBusy} onCancel={onClose} />
      </form>
    </Dialog>
  );
}

/** Shows a new signing secret of an endpoint. The secret is shown only once. */
interface SecretShownProps {
  readonly title: string;
  readonly note?: string;
  readonly secret: string;
  readonly onClose: () => void;
}

export function ShowWebhookSecretDialog({ title, note, secret, onClose }: SecretShownProps): JSX.Element {
  return (
    <Dialog title={title} onClose={onClose} isFirm>
      <p>
        <strong>Copy the signing secret now: it cannot be shown again.</strong> With it the receiver checks
        that a webhook came from here (<a href={`${basePath}/docs`}>how</a>). {note}
      </p>
      <CopyableSecretField label="Signing secret" value={secret} />
      <div class="actions">
        <button type="button" onClick={onClose}>
          I have stored it
        </button>
      </div>
    </Dialog>
  );
}
