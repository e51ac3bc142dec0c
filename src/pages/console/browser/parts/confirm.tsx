/** Asks before something is done that cannot be undone, or cuts somebody off. */
import type { ComponentChildren, JSX } from "preact";
import type { GraphFailure } from "#pages/console/browser/graph/client.ts";
import { Banner } from "./banner.tsx";
import { Dialog } from "./dialog.tsx";

interface ConfirmProps {
  readonly title: string;
  /** What the button says: what is done. */
  readonly action: string;
  readonly isHarmless?: boolean;
  readonly isBusy: boolean;
  readonly failure: GraphFailure | undefined;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function Confirm({ title, action, isHarmless = false, isBusy, failure, onConfirm, onClose, children }: ConfirmProps): JSX.Element {
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBusy) onConfirm();
        }}
      >
        <Banner failure={failure} />
        {children}
        <div class="actions">
          <button type="button" class="second" onClick={onClose}>
            Cancel
          </button>
          <button class={isHarmless ? undefined : "danger"} aria-disabled={isBusy}>
            {isBusy ? "One moment …" : action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
