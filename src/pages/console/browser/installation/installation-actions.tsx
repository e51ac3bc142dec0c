/** What can be done to an installation: other scopes, suspend, resume. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useChange } from "#pages/console/browser/graph/hooks.ts";
import { asInput, scopes } from "#pages/console/browser/parts/scopes.tsx";
import { Banner, Choices } from "#pages/console/browser/parts/fields.tsx";
import { Confirm, Dialog } from "#pages/console/browser/parts/dialogs.tsx";
import { type InstallationName, resumeDocument, setScopesDocument, suspendDocument } from "./installation-documents.ts";

interface ActionsProps {
  readonly installation: InstallationName;
  readonly onChanged: () => void;
}

export function InstallationActions({ installation, onChanged }: ActionsProps): JSX.Element | null {
  const [doing, setDoing] = useState<"scopes" | "suspend" | "resume">();
  if (installation.status === "UNINSTALLED") return null;
  const shown = { installation, onChanged, onClose: () => setDoing(undefined) };
  const turn = installation.status === "ACTIVE" ? ({ to: "suspend", name: "Suspend" } as const) : ({ to: "resume", name: "Resume" } as const);
  return (
    <>
      <button type="button" class="second" onClick={() => setDoing("scopes")}>
        Change scopes
      </button>
      <button type="button" class="second" onClick={() => setDoing(turn.to)}>
        {turn.name}
      </button>
      {doing === "scopes" ? <SetScopes {...shown} /> : null}
      {doing === "suspend" ? <Suspend {...shown} /> : null}
      {doing === "resume" ? <Resume {...shown} /> : null}
    </>
  );
}

interface DoingProps extends ActionsProps {
  readonly onClose: () => void;
}

function SetScopes({ installation, onChanged, onClose }: DoingProps): JSX.Element {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(installation.scopes));
  const { isBusy, failure, run } = useChange(setScopesDocument);
  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    const input = { installationId: installation.id, scopes: [...chosen].toSorted().map(asInput) };
    if ((await run({ input })) === undefined) return;
    onChanged();
    onClose();
  };
  return (
    <Dialog title={`What “${installation.app.name}” may do`} onClose={onClose}>
      <form onSubmit={(event) => void save(event)} noValidate>
        <Banner failure={failure} shown={["/scopes"]} />
        <Choices
          legend="Scopes"
          hint="A key or a grant never has more than its installation, whatever it was made for."
          pointer="/scopes"
          failure={failure}
          choices={scopes.map(({ name, hint }) => ({ value: name, label: name, hint }))}
          chosen={chosen}
          onChange={setChosen}
        />
        <div class="actions">
          <button type="button" class="second" onClick={onClose}>
            Cancel
          </button>
          <button aria-disabled={isBusy}>{isBusy ? "One moment …" : "Save"}</button>
        </div>
      </form>
    </Dialog>
  );
}

function Suspend({ installation, onChanged, onClose }: DoingProps): JSX.Element {
  const { isBusy, failure, run } = useChange(suspendDocument);
  const suspend = async (): Promise<void> => {
    if ((await run({ input: { installationId: installation.id } })) === undefined) return;
    onChanged();
    onClose();
  };
  return (
    <Confirm
      title={`Suspend “${installation.app.name}”?`}
      action="Suspend the installation"
      isBusy={isBusy}
      failure={failure}
      onConfirm={() => void suspend()}
      onClose={onClose}
    >
      <p>All of its keys and tokens are refused, and its endpoints are told nothing, until it is resumed.</p>
    </Confirm>
  );
}

function Resume({ installation, onChanged, onClose }: DoingProps): JSX.Element {
  const { isBusy, failure, run } = useChange(resumeDocument);
  const resume = async (): Promise<void> => {
    if ((await run({ input: { installationId: installation.id } })) === undefined) return;
    onChanged();
    onClose();
  };
  return (
    <Confirm
      title={`Resume “${installation.app.name}”?`}
      action="Resume the installation"
      isHarmless
      isBusy={isBusy}
      failure={failure}
      onConfirm={() => void resume()}
      onClose={onClose}
    >
      <p>Its keys and tokens work again.</p>
    </Confirm>
  );
}
