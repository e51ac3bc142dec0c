/** The dialog that creates a tax class. Products and delivery methods refer to a class by its code. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useGraphqlMutation } from "#pages/console/browser/graph/hooks.ts";
import { Dialog, DialogFormButtons } from "#pages/console/browser/parts/dialogs.tsx";
import { FailureBanner, TextField } from "#pages/console/browser/parts/fields.tsx";
import { upsertTaxClassDocument } from "./tax-documents.ts";

interface TaxClassDialogProps {
  readonly onSaved: () => void;
  readonly onClose: () => void;
}

export function TaxClassDialog({ onSaved, onClose }: TaxClassDialogProps): JSX.Element {
  const [code, setCode] = useState("");
  const [name, setName] = useState("");
  const { isBusy, failure, run } = useGraphqlMutation(upsertTaxClassDocument);
  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    if ((await run({ input: { code: code.trim(), name: name.trim() } })) === undefined) return;
    onSaved();
    onClose();
  };
  return (
    <Dialog title="Add a tax class" onClose={onClose} isFirm={isBusy}>
      <form onSubmit={(event) => void save(event)} noValidate>
        <FailureBanner failure={failure} shown={["/code", "/name"]} />
        <TextField
          label="Name"
          hint="For example “Books”. An existing class with the same code gets this name."
          pointer="/name"
          failure={failure}
          name="name"
          value={name}
          onChange={setName}
        />
        <TextField
          label="Code"
          hint={
            "Products refer to the class by this code: lower-case letters, digits and hyphens. " +
            "A class cannot be deleted."
          }
          pointer="/code"
          failure={failure}
          name="code"
          value={code}
          onChange={setCode}
        />
        <DialogFormButtons action="Save the class" isBusy={isBusy} onCancel={onClose} />
      </form>
    </Dialog>
  );
}
