/**
 * The frame of all modal dialogs, a dialog that asks for a confirmation, and the display of a secret that can
 * be copied.
 */
import type { ComponentChildren, JSX } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { GraphqlRequestError } from "#pages/console/browser/graph/client.ts";
import { FailureBanner } from "./fields.tsx";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  /** True if Escape or a click outside must not close the dialog, for example while a secret is shown. */
  readonly isFirm?: boolean;
}

/** The button that opened the dialog. When the last open dialog is closed, this button gets the focus back. */
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

/**
 * Moves the keyboard focus back to the element that opened the dialog, or to the page's heading if that
 * element no longer exists.
 */
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
  // The key handler keeps a dialog open that must stay open. Chromium's event `cancel` also prevents closing,
  // but only for the first press of Escape; the second press closes the dialog without the event.
  const hold = (event: KeyboardEvent): void => {
    if (isFirm && event.key === "Escape") event.preventDefault();
  };
  // A dialog that must stay open is opened again if it was closed. Browsers without the attribute `closedby`
  // can close it.
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

/** A dialog that asks staff to confirm an action that cannot be undone or that blocks access. */
interface ConfirmProps {
  readonly title: string;
  /** The text of the button that confirms the dialog. It names the action, for example “Revoke the key”. */
  readonly action: string;
  readonly isHarmless?: boolean;
  readonly isBusy: boolean;
  readonly failure: GraphqlRequestError | undefined;
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

/** A secret that is shown only once, with a button that copies it. */
interface CopiedProps {
  readonly label: string;
  readonly value: string;
}

export function CopyableSecretField({ label, value }: CopiedProps): JSX.Element {
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

interface FormButtonsProps {
  /** The text of the button that sends the dialog's form. */
  readonly action: string;
  readonly isBusy: boolean;
  readonly onCancel: () => void;
}

/** The buttons at the end of a dialog's form: the cancel button and the button that sends the form. */
export function DialogFormButtons({ action, isBusy, onCancel }: FormButtonsProps): JSX.Element {
  return (
    <div class="actions">
      <button type="button" class="second" disabled={isBusy} onClick={onCancel}>
        Cancel
      </button>
      <button aria-disabled={isBusy}>{isBusy ? "One moment …" : action}</button>
    </div>
  );
}
