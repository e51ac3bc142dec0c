/** The secret that signs an endpoint's webhooks, shown this once. */
import type { JSX } from "preact";
import { basePath } from "#pages/console/browser/graph/client.ts";
import { Copied, Dialog } from "#pages/console/browser/parts/dialogs.tsx";

interface SecretShownProps {
  readonly title: string;
  readonly note?: string;
  readonly secret: string;
  readonly onClose: () => void;
}

export function SecretShown({ title, note, secret, onClose }: SecretShownProps): JSX.Element {
  return (
    <Dialog title={title} onClose={onClose} isFirm>
      <p>
        <strong>Copy the signing secret now: nobody can read it again.</strong> With it the receiver checks that a webhook came from here (
        <a href={`${basePath}/docs`}>how</a>). {note}
      </p>
      <Copied label="Signing secret" value={secret} />
      <div class="actions">
        <button type="button" onClick={onClose}>
          I have kept it
        </button>
      </div>
    </Dialog>
  );
}
