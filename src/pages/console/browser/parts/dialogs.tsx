/** Dialogs: the modal frame, a confirmation, and a secret that can be copied. */
import type { ComponentChildren, JSX } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { GraphFailure } from "#pages/console/browser/graph/client.ts";
import { FailureBanner } from "./fields.tsx";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  /** What is shown once, or is about to be, is not to be lost by a key or a click beside it. */
  readonly isFirm?: boolean;
}

/** What was pressed before a dialog, or a row of dialogs that follow each other, came up. */
let opener: HTMLElement | undefined;

function noteOpener(): void {
  const { activeElement } = document;
  if (
    activeElement instanceof HTMLElement &&
    activeElement !== document.body &&
    activeElement.closest("dialog") === null
  )
    opener = activeElement;
}

/** What was pressed may be gone with what it stood for. */
function giveBack(): void {
  if (document.querySelector("dialog[open]") !== null) return;
  const place = opener?.isConnected === true ? opener : document.querySelector("h1");
  place?.focus();
}

export function Dialog({ title, onClose, children, isFirm = false }: DialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    noteOpener();
    dialog.current?.showModal();
    return () => {
      dialog.current?.close();
      requestAnimationFrame(giveBack);
    };
  }, []);
  const end = (event: Event): void => {
    event.preventDefault();
    if (!isFirm) onClose();
  };
  // Chromium asks with `cancel` only once until something else is pressed: a second Escape would close
  // without asking.
  const hold = (event: KeyboardEvent): void => {
    if (isFirm && event.key === "Escape") event.preventDefault();
  };
  // A browser without `closedby` may close it all the same.
  const reopen = (): void => {
    const shown = dialog.current;
    if (isFirm && shown?.isConnected === true && !shown.open) shown.showModal();
  };
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      closedby={isFirm ? "none" : "closerequest"}
      onCancel={end}
      onKeyDown={hold}
      onClose={reopen}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

/** Asks before something is done that cannot be undone, or cuts somebody off. */
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

export function ConfirmDialog({
  title,
  action,
  isHarmless = false,
  isBusy,
  failure,
  onConfirm,
  onClose,
  children,
}: ConfirmProps): JSX.Element {
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBusy) onConfirm();
        }}
      >
        <FailureBanner failure={failure} />
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

/** A secret that is shown this once, with what it takes to keep it. */
interface CopiedProps {
  readonly label: string;
  readonly value: string;
}

export function CopyableSecret({ label, value }: CopiedProps): JSX.Element {
  const [state, setState] = useState<"" | "Copied." | "Select it and copy it by hand.">("");
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(value);
      setState("Copied.");
    } catch {
      setState("Select it and copy it by hand.");
    }
  };
  return (
    <div class="copied">
      <p class="label">{label}</p>
      <pre tabIndex={0} aria-label={label}>
        <code>{value}</code>
      </pre>
      <button type="button" class="second" onClick={() => void copy()} aria-label={`Copy: ${label}`}>
        Copy
      </button>
      <span class="soft" role="status">
        {state}
      </span>
    </div>
  );
}
