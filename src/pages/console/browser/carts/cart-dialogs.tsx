/** Two dialogs: one revokes a cart, the other cancels the open checkout that locks a cart. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useGraphqlMutation } from "#pages/console/browser/graph/hooks.ts";
import { ConfirmDialog } from "#pages/console/browser/parts/dialogs.tsx";
import { SelectField, TextField } from "#pages/console/browser/parts/fields.tsx";
import { formatLocalizedCountWithNoun, formatMoney } from "#pages/console/browser/parts/formats.tsx";
import { cancelCheckoutDocument, type ConsoleCart, revokeCartDocument } from "./cart-documents.ts";

const revocationReasons = [
  { value: "BUYER_REQUEST", label: "The buyer asked for it" },
  { value: "MERCHANT_REQUEST", label: "The shop decided it" },
  { value: "SECURITY", label: "It looks like misuse" },
  { value: "DUPLICATE", label: "It is a duplicate" },
  { value: "TEST", label: "It was a test" },
  { value: "OTHER", label: "Another reason" },
] as const;

interface RevokeCartProps {
  readonly cart: ConsoleCart;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

export function RevokeCartDialog({ cart, onChanged, onClose }: RevokeCartProps): JSX.Element {
  const [reason, setReason] = useState<(typeof revocationReasons)[number]["value"]>("MERCHANT_REQUEST");
  const [note, setNote] = useState("");
  const { isBusy, failure, run } = useGraphqlMutation(revokeCartDocument);
  // True if the request has failed because the cart has changed meanwhile. The dialog's button then only
  // closes the dialog and loads the cart again, because a repeated request would fail too.
  const isStale = failure?.code?.startsWith("cart_") === true;
  const revoke = async (): Promise<void> => {
    if (isStale) {
      onChanged();
      onClose();
      return;
    }
    const input = { expectedVersion: cart.version, reason, note: note.trim() === "" ? null : note };
    if ((await run({ cartId: cart.id, input })) === undefined) return;
    onChanged();
    onClose();
  };
  return (
    <ConfirmDialog
      title="Revoke this cart?"
      action={isStale ? "Show the newest version" : "Revoke the cart"}
      isHarmless={isStale}
      isBusy={isBusy}
      failure={failure}
      onConfirm={() => void revoke()}
      onClose={onClose}
    >
      <p>
        The buyer loses this cart with {formatLocalizedCountWithNoun(cart.totalQuantity, "item")} for{" "}
        {formatMoney(cart.totals.total)}: it can no longer be changed or checked out. The buyer can begin a
        new cart in your storefront. This cannot be undone.
      </p>
      <ul>
        <li>The address of the cart can no longer be used, and is erased a day later.</li>
        <li>Apps that receive webhooks get the event cart.revoked with the reason.</li>
        <li>The buyer gets no message from the platform.</li>
      </ul>
      <SelectField
        label="Reason"
        pointer="/reason"
        failure={failure}
        name="reason"
        value={reason}
        options={revocationReasons}
        onChange={setReason}
      />
      <TextField
        label="Note (optional)"
        hint="For your colleagues, at most 280 characters, without personal data."
        pointer="/note"
        failure={failure}
        name="note"
        value={note}
        onChange={setNote}
      />
    </ConfirmDialog>
  );
}

interface CancelCheckoutProps {
  readonly sessionId: string;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

export function CancelCheckoutDialog({ sessionId, onChanged, onClose }: CancelCheckoutProps): JSX.Element {
  const { isBusy, failure, run } = useGraphqlMutation(cancelCheckoutDocument);
  const cancel = async (): Promise<void> => {
    if ((await run({ sessionId, input: { reason: "MERCHANT_REQUEST" } })) === undefined) return;
    onChanged();
    onClose();
  };
  return (
    <ConfirmDialog
      title="Cancel the open checkout?"
      action="Cancel the checkout"
      isBusy={isBusy}
      failure={failure}
      onConfirm={() => void cancel()}
      onClose={onClose}
    >
      <p>
        The buyer is at the checkout with this cart, which locks the cart. If you cancel the checkout, the
        checkout page ends and cannot be paid any more. The cart stays: the buyer can change it and check out
        again, and you can revoke it.
      </p>
    </ConfirmDialog>
  );
}
