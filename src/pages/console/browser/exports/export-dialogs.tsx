/** The dialogs that create an export, and that cancel an export or delete its file. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useGraphqlMutation } from "#pages/console/browser/graph/hooks.ts";
import { ConfirmDialog, Dialog, DialogFormButtons } from "#pages/console/browser/parts/dialogs.tsx";
import { FailureBanner, SelectField, TextField } from "#pages/console/browser/parts/fields.tsx";
import { formatEnumValue, timeZone } from "#pages/console/browser/parts/formats.tsx";
import {
  cancelExportDocument,
  createExportDocument,
  type ConsoleExportJob,
  type ConsoleExportKind,
  exportRowKinds,
} from "./export-documents.ts";
import { toExportPeriod } from "./export-period.ts";

interface CreateExportProps {
  readonly onCreated: () => void;
  readonly onClose: () => void;
}

const kindOptions = exportRowKinds.map((value) => ({ value, label: formatEnumValue(value) }));

export function CreateExportDialog({ onCreated, onClose }: CreateExportProps): JSX.Element {
  const [kind, setKind] = useState<ConsoleExportKind>("ORDERS");
  const [first, setFirst] = useState("");
  const [last, setLast] = useState("");
  const { isBusy, failure, run } = useGraphqlMutation(createExportDocument);
  const create = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    const made = await run({ input: { kind, ...toExportPeriod(first, last) } });
    if (made !== undefined) onCreated();
  };
  return (
    <Dialog title="Create an export" onClose={onClose} isFirm={isBusy}>
      <form onSubmit={(event) => void create(event)} noValidate>
        <FailureBanner failure={failure} shown={["/kind", "/from", "/to"]} />
        <SelectField
          label="Rows"
          hint="No rows contain names, addresses or other personal data of buyers."
          pointer="/kind"
          failure={failure}
          name="kind"
          value={kind}
          options={kindOptions}
          onChange={setKind}
        />
        <TextField
          label="First day"
          hint={`Days begin in your time zone, ${timeZone}. Without a first day, the file begins with the oldest row.`}
          pointer="/from"
          failure={failure}
          name="from"
          value={first}
          onChange={setFirst}
          input={{ type: "date" }}
        />
        <TextField
          label="Last day"
          hint="Without a last day, the file ends with the newest row."
          pointer="/to"
          failure={failure}
          name="to"
          value={last}
          onChange={setLast}
          input={{ type: "date" }}
        />
        <DialogFormButtons action="Create the export" isBusy={isBusy} onCancel={onClose} />
      </form>
    </Dialog>
  );
}

interface CancelExportProps {
  readonly job: ConsoleExportJob;
  readonly onCanceled: () => void;
  readonly onClose: () => void;
}

export function CancelExportDialog({ job, onCanceled, onClose }: CancelExportProps): JSX.Element {
  const { isBusy, failure, run } = useGraphqlMutation(cancelExportDocument);
  const cancel = async (): Promise<void> => {
    if ((await run({ input: { exportId: job.id } })) !== undefined) onCanceled();
  };
  const isCompleted = job.status === "COMPLETED";
  return (
    <ConfirmDialog
      title={isCompleted ? "Delete this file?" : "Cancel this export?"}
      action={isCompleted ? "Delete the file" : "Cancel the export"}
      isBusy={isBusy}
      failure={failure}
      onConfirm={() => void cancel()}
      onClose={onClose}
    >
      <p>
        {isCompleted
          ? "The file can then no longer be downloaded. No data of the shop changes."
          : "The rows that are written so far are deleted. No data of the shop changes."}
      </p>
    </ConfirmDialog>
  );
}
