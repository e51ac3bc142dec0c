/**
 * The dialog that sends many webhook deliveries of an endpoint again (replay). It first shows how many
 * deliveries the staff member has selected. After the replay, it shows how many are still waiting to be
 * sent.
 */
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { GraphqlRequestError } from "#pages/console/browser/graph/client.ts";
import { useGraphqlMutation, useGraphqlQuery } from "#pages/console/browser/graph/hooks.ts";
import { FailureBanner, SelectField, TextField } from "#pages/console/browser/parts/fields.tsx";
import { Dialog, DialogFormButtons } from "#pages/console/browser/parts/dialogs.tsx";
import { formatLocalizedCountWithNoun } from "#pages/console/browser/parts/formats.tsx";
import { QueryResultOrLoadingNote } from "#pages/console/browser/parts/tables.tsx";
import {
  type BulkReplayMutationResult,
  bulkReplayDocument,
  openDeliveriesDocument,
  type ReplayableDeliveryStatus,
  type BulkReplayPreviewCounts,
  describeBulkReplaySize,
  replayPreviewDocument,
  describeSkippedDeliveries,
} from "./bulk-replay-documents.ts";
import { replayReasons, type ConsoleDeliveryReplayReason } from "./replay-dialog.tsx";

interface BulkReplayProps {
  readonly endpoints: readonly { readonly id: string; readonly url: string }[];
  readonly onClose: () => void;
}

const hourMs = 3_600_000;
const periods = [
  { value: "1", label: "The last hour" },
  { value: "24", label: "The last 24 hours" },
  { value: "168", label: "The last 7 days" },
  { value: "720", label: "The last 30 days" },
] as const;
type PeriodHours = (typeof periods)[number]["value"];

const statuses = [
  { value: "EXHAUSTED", label: "Exhausted: all attempts failed" },
  { value: "SKIPPED", label: "Skipped: the endpoint was disabled" },
] as const;

interface Selection {
  readonly endpointId: string;
  readonly status: ReplayableDeliveryStatus;
  readonly hours: PeriodHours;
}

interface Explanation {
  readonly reason: ConsoleDeliveryReplayReason;
  readonly note: string;
}

type BulkResult = BulkReplayMutationResult["webhookDeliveriesReplay"];

export function BulkReplayDialog({ endpoints, onClose }: BulkReplayProps): JSX.Element {
  const [selection, setSelection] = useState<Selection>({
    endpointId: endpoints[0]?.id ?? "",
    status: "EXHAUSTED",
    // By default, the form selects the deliveries of the last seven days (168 hours). A delivery that failed
    // for good is usually several days old, because all its attempts together take about three days.
    hours: "168",
  });
  const [after, setAfter] = useState<string | null>(null);
  const [result, setResult] = useState<BulkResult>();
  if (result === undefined) {
    const select = (next: Selection): void => {
      // A new selection starts the replay at its first delivery again.
      setAfter(null);
      setSelection(next);
    };
    return (
      <Dialog title="Replay several deliveries" onClose={onClose}>
        <ReplayForm
          endpoints={endpoints}
          selection={selection}
          after={after}
          onSelect={select}
          onReplayed={setResult}
          onClose={onClose}
        />
      </Dialog>
    );
  }
  const goOn = (): void => {
    setAfter(result.endCursor);
    setResult(undefined);
  };
  return (
    <Dialog title="Deliveries are sent again" onClose={onClose}>
      <ReplayResult result={result} endpointId={selection.endpointId} />
      <div class="actions">
        {result.hasMore ? (
          <button type="button" class="second" onClick={goOn}>
            Continue with the next deliveries
          </button>
        ) : null}
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

interface ReplayFormProps extends BulkReplayProps {
  readonly selection: Selection;
  readonly after: string | null;
  readonly onSelect: (selection: Selection) => void;
  readonly onReplayed: (result: BulkResult) => void;
}

function ReplayForm(props: ReplayFormProps): JSX.Element {
  const { selection, after, onReplayed, onClose } = props;
  const { endpointId, status, hours } = selection;
  const [explanation, setExplanation] = useState<Explanation>({ reason: "RECEIVER_OUTAGE", note: "" });
  // The period ends when the form is opened. The replay therefore sends exactly the deliveries that were
  // counted, and no newer ones.
  const [untilMs] = useState(() => Date.now());
  const { isBusy, failure, run } = useGraphqlMutation(bulkReplayDocument);
  const since = new Date(untilMs - Number(hours) * hourMs).toISOString();
  const filter = { endpointId, since, until: new Date(untilMs).toISOString(), status, after };
  const preview = useGraphqlQuery(replayPreviewDocument, filter);
  const count = preview.isLoading ? 0 : (preview.data?.webhookReplayPreview?.replayable ?? 0);
  const replay = async (): Promise<void> => {
    const note = explanation.note.trim();
    const answer = await run({
      input: { ...filter, reason: explanation.reason, note: note === "" ? null : note },
    });
    if (answer !== undefined) onReplayed(answer.webhookDeliveriesReplay);
  };
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy && count > 0) void replay();
      }}
    >
      <FailureBanner failure={failure} shown={["/note"]} />
      <SelectionFields {...props} failure={failure} />
      <ExplanationFields explanation={explanation} failure={failure} onChange={setExplanation} />
      <div role="status">
        <QueryResultOrLoadingNote query={preview} what="the number of deliveries">
          {({ webhookReplayPreview }) => <ReplayCount counts={webhookReplayPreview} />}
        </QueryResultOrLoadingNote>
      </div>
      {count === 0 ? (
        <div class="actions">
          <button type="button" class="second" onClick={onClose}>
            Close
          </button>
        </div>
      ) : (
        <DialogFormButtons
          action={`Replay ${formatLocalizedCountWithNoun(count, "delivery", "deliveries")}`}
          isBusy={isBusy}
          onCancel={onClose}
        />
      )}
    </form>
  );
}

interface SelectionFieldsProps extends Pick<ReplayFormProps, "endpoints" | "selection" | "onSelect"> {
  readonly failure: GraphqlRequestError | undefined;
}

const SelectionFields = ({ endpoints, selection, failure, onSelect }: SelectionFieldsProps): JSX.Element => (
  <>
    <SelectField
      label="Endpoint"
      pointer="/endpointId"
      failure={failure}
      name="endpoint"
      value={selection.endpointId}
      options={endpoints.map(({ id, url }) => ({ value: id, label: url }))}
      onChange={(endpointId) => onSelect({ ...selection, endpointId })}
    />
    <SelectField
      label="Status of the deliveries"
      pointer="/status"
      failure={failure}
      name="status"
      value={selection.status}
      options={statuses}
      onChange={(status) => onSelect({ ...selection, status })}
    />
    <SelectField
      label="Events of"
      pointer="/since"
      failure={failure}
      name="period"
      value={selection.hours}
      options={periods}
      onChange={(hours) => onSelect({ ...selection, hours })}
    />
  </>
);

interface ExplanationFieldsProps {
  readonly explanation: Explanation;
  readonly failure: GraphqlRequestError | undefined;
  readonly onChange: (explanation: Explanation) => void;
}

const ExplanationFields = ({ explanation, failure, onChange }: ExplanationFieldsProps): JSX.Element => (
  <>
    <SelectField
      label="Reason"
      pointer="/reason"
      failure={failure}
      name="reason"
      value={explanation.reason}
      options={replayReasons}
      onChange={(reason) => onChange({ ...explanation, reason })}
    />
    <TextField
      label="Note (optional)"
      hint="For later readers of the log. Do not enter personal data."
      pointer="/note"
      failure={failure}
      name="note"
      value={explanation.note}
      onChange={(note) => onChange({ ...explanation, note })}
    />
  </>
);

/** Shows how many deliveries the replay will send again, how many it will leave out, and the reasons. */
const ReplayCount = ({ counts }: { readonly counts: BulkReplayPreviewCounts | null }): JSX.Element =>
  counts === null ? (
    <p>The endpoint does not exist.</p>
  ) : (
    <>
      <p>
        <strong>{describeBulkReplaySize(counts)}</strong>
      </p>
      {describeSkippedDeliveries(counts.skipped).map((text) => (
        <p key={text} class="soft">
          {text}
        </p>
      ))}
    </>
  );

const pollEveryMs = 1500;

interface ReplayResultProps {
  readonly result: BulkResult;
  readonly endpointId: string;
}

/**
 * Shows how many deliveries the replay has added to the queue. Asks the service regularly how many deliveries
 * of the endpoint are still waiting to be sent.
 */
function ReplayResult({ result, endpointId }: ReplayResultProps): JSX.Element {
  const query = useGraphqlQuery(openDeliveriesDocument, { endpointId });
  const waiting =
    query.data === undefined ? 1 : query.data.pending.totalCount + query.data.sending.totalCount;
  useEffect(() => {
    if (waiting === 0 || query.isLoading) return undefined;
    const timer = setTimeout(query.refresh, pollEveryMs);
    return () => clearTimeout(timer);
  }, [waiting, query.isLoading]);
  const retrying = query.data?.retrying.totalCount ?? 0;
  return (
    <div role="status">
      <p>
        <strong>{formatLocalizedCountWithNoun(result.replayed, "delivery", "deliveries")} queued.</strong>{" "}
        {query.data === undefined
          ? ""
          : waiting === 0
            ? "All of them were attempted."
            : `The endpoint still has ${formatLocalizedCountWithNoun(waiting, "delivery", "deliveries")} to attempt.`}
      </p>
      {retrying === 0 ? null : (
        <p class="fault">
          {formatLocalizedCountWithNoun(retrying, "delivery", "deliveries")} of this endpoint failed and will
          be retried. Repair the receiver.
        </p>
      )}
      {describeSkippedDeliveries(result.skipped).map((text) => (
        <p key={text} class="soft">
          {text}
        </p>
      ))}
    </div>
  );
}
