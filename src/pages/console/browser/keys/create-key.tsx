/** The dialog that makes an API key, and shows it this once. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useChange } from "#pages/console/browser/graph/hooks.ts";
import type { InstallationName } from "#pages/console/browser/installation/installation-documents.ts";
import { Banner, Choices, SelectField, TextField } from "#pages/console/browser/parts/fields.tsx";
import { Dialog } from "#pages/console/browser/parts/dialogs.tsx";
import { endings, type Ending, endOf } from "./endings.ts";
import { createKeyDocument } from "./key-documents.ts";
import { KeyShown } from "./key-shown.tsx";
import { asInput, scopes } from "#pages/console/browser/parts/scopes.tsx";

interface CreateKeyProps {
  readonly installation: InstallationName;
  readonly onMade: () => void;
  readonly onClose: () => void;
}

export function CreateKey({ installation, onMade, onClose }: CreateKeyProps): JSX.Element {
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(installation.scopes.filter((scope) => scope.endsWith(":read"))));
  const [days, setDays] = useState<Ending>("");
  const [value, setValue] = useState<string>();
  const { isBusy, failure, run } = useChange(createKeyDocument);
  const create = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    const input = { installationId: installation.id, name, scopes: [...chosen].toSorted().map(asInput), expiresAt: endOf(days) };
    const made = await run({ input });
    if (made === undefined) return;
    setValue(made.apiKeyCreate.value);
    onMade();
  };
  if (value !== undefined) return <KeyShown title={`The key “${name.trim()}” is made`} value={value} onClose={onClose} />;
  return (
    <Dialog title={`Create a key for ${installation.app.name}`} onClose={onClose} isFirm={isBusy}>
      <form onSubmit={(event) => void create(event)} noValidate>
        <Banner failure={failure} shown={["/name", "/scopes", "/expiresAt"]} />
        <TextField
          label="Name"
          hint="What it is for, for example “Shop search”."
          pointer="/name"
          failure={failure}
          name="name"
          value={name}
          onChange={setName}
        />
        <Choices
          legend="What it may do"
          pointer="/scopes"
          failure={failure}
          choices={scopes
            .filter((scope) => installation.scopes.includes(scope.name))
            .map((scope) => ({ value: scope.name, label: scope.name, hint: scope.hint }))}
          chosen={chosen}
          onChange={setChosen}
        />
        <SelectField label="Ends" pointer="/expiresAt" failure={failure} name="ends" value={days} options={endings} onChange={setDays} />
        <div class="actions">
          <button type="button" class="second" disabled={isBusy} onClick={onClose}>
            Cancel
          </button>
          <button aria-disabled={isBusy}>{isBusy ? "One moment …" : "Create the key"}</button>
        </div>
      </form>
    </Dialog>
  );
}
