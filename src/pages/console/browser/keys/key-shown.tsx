/** A new key, shown this once, with a line that uses it. */
import type { JSX } from "preact";
import { basePath } from "#pages/console/browser/graph/client.ts";
import { Copied, Dialog } from "#pages/console/browser/parts/dialogs.tsx";

interface KeyShownProps {
  readonly title: string;
  readonly value: string;
  readonly onClose: () => void;
}

export function KeyShown({ title, value, onClose }: KeyShownProps): JSX.Element {
  const curl = `curl -H 'Authorization: Bearer ${value}' ${location.origin}${basePath}/api/v1/open/identity`;
  return (
    <Dialog title={title} onClose={onClose} isFirm>
      <p>
        <strong>Copy it now: nobody can read it again.</strong> Keep it where secrets are kept, not in the code.
      </p>
      <Copied label="The key" value={value} />
      <Copied label="To try it" value={curl} />
      <div class="actions">
        <button type="button" onClick={onClose}>
          I have kept it
        </button>
      </div>
    </Dialog>
  );
}
