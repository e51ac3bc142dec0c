/** The dialog that sends a webhook delivery again (replay), after asking the staff member for a reason. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useGraphqlMutation } from "#pages/console/browser/graph/hooks.ts";
import { FailureBanner, SelectField, TextField } from "#pages/console/browser/parts/fields.tsx";
import { Dialog } from "#pages/console/browser/parts/dialogs.tsx";
import { type ConsoleWebhookDelivery, replayDocument } from "./delivery-documents.ts";

interface ReplayDialogProps {
  readonly delivery: Pick<ConsoleWebhookDelivery, "id" | "status" | "event">;
  /** The callback after a replay; receives the id of the new delivery. */
  readonly onReplayed: (deliveryId: string) => void;
  readonly onClose: () => void;
}

export const replayReasons = [
  { value: "RECEIVER_OUTAGE", label: "The receiver was down" },
  { value: "RECEIVER_BUG", label: "The receiver handled the event incorrectly" },
  { value: "TESTING", label: "To test the receiver" },
  { value: "OTHER", label: "Another reason" },
] as const;
export type ConsoleDeliveryReplayReason = (typeof replayReasons)[number]["value"];

export function ReplayDeliveryDialog({ delivery, onReplayed, onClose }: ReplayDialogProps): JSX.Element {
  const { id, status, event } = delivery;
  const hasSucceeded = status === "SUCCEEDED";
  const [reason, setReason] = useState<ConsoleDeliveryReplayReason>(
    hasSucceeded ? "TESTING" : "RECEIVER_OUTAGE",
  );
  const [note, setNote] = useState("");
  const { isBusy, failure, run } = useGraphqlMutation(replayDocument);
  const replay = async (submitted: Event): Promise<void> => {
    submitted.preventDefault();
    if (isBusy) return;
    const text = note.trim();
    const result = await run({
      deliveryId: id,
      input: { reason, note: text === "" ? null : text, force: hasSucceeded },
    });
    if (result === undefined) return;
    onReplayed(result.webhookDeliveryReplay.delivery.id);
    onClose();
  };
  return (
    <Dialog title={`Replay ${event.type}`} onClose={onClose}>
      <form onSubmit={(submitted) => void replay(submitted)} noValidate>
        <FailureBanner failure={failure} shown={["/reason", "/note"]} />
        <p>
          The same event is sent once more, with the same id and body.
          {hasSucceeded
            ? " The receiver has already accepted it: a receiver that stores the ids of events ignores it."
            : ""}
        </p>
        <SelectField
          label="Reason"
          pointer="/reason"
          failure={failure}
          name="reason"
          value={reason}
          options={replayReasons}
          onChange={setReason}
        />
        <TextField
          label="Note (optional)"
          hint="For later readers of the log. Do not enter personal data."
          pointer="/note"
          failure={failure}
          name="note"
          value={note}
          onChange={setNote}
        />
        <div class="actions">
          <button type="button" class="second" onClick={onClose}>
            Cancel
          </button>
          <button aria-disabled={isBusy}>{isBusy ? "One moment …" : "Replay"}</button>
        </div>
      </form>
    </Dialog>
  );
}
