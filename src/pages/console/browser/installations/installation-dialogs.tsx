/** The dialogs that change an installation: its permissions, suspending, resuming and uninstalling it. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useGraphqlMutation } from "#pages/console/browser/graph/hooks.ts";
import { listPermissionChoices, toGraphqlScopeEnumValue } from "#pages/console/browser/parts/permissions.ts";
import { ConfirmDialog, Dialog, DialogFormButtons } from "#pages/console/browser/parts/dialogs.tsx";
import { CheckboxGroup, FailureBanner } from "#pages/console/browser/parts/fields.tsx";
import {
  type InstallationSummary,
  resumeDocument,
  setScopesDocument,
  suspendDocument,
  uninstallDocument,
} from "./installation-documents.ts";

interface InstallationDialogProps {
  readonly installation: InstallationSummary;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

export function SetInstallationPermissionsDialog({
  installation,
  onChanged,
  onClose,
}: InstallationDialogProps): JSX.Element {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(installation.scopes));
  const { isBusy, failure, run } = useGraphqlMutation(setScopesDocument);
  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    const input = {
      installationId: installation.id,
      scopes: [...chosen].toSorted().map(toGraphqlScopeEnumValue),
    };
    if ((await run({ input })) === undefined) return;
    onChanged();
    onClose();
  };
  return (
    <Dialog title={`What “${installation.app.name}” may do`} onClose={onClose}>
      <form onSubmit={(event) => void save(event)} noValidate>
        <FailureBanner failure={failure} shown={["/scopes"]} />
        <CheckboxGroup
          legend="Permissions"
          hint="The keys and grants of this app can use only the permissions that are selected here. A permission that you take away is refused at once."
          pointer="/scopes"
          failure={failure}
          choices={listPermissionChoices()}
          chosen={chosen}
          onChange={setChosen}
        />
        <DialogFormButtons action="Save" isBusy={isBusy} onCancel={onClose} />
      </form>
    </Dialog>
  );
}

export function SuspendInstallationDialog({
  installation,
  onChanged,
  onClose,
}: InstallationDialogProps): JSX.Element {
  const { isBusy, failure, run } = useGraphqlMutation(suspendDocument);
  const suspend = async (): Promise<void> => {
    if ((await run({ input: { installationId: installation.id } })) === undefined) return;
    onChanged();
    onClose();
  };
  return (
    <ConfirmDialog
      title={`Suspend “${installation.app.name}”?`}
      action="Suspend the installation"
      isBusy={isBusy}
      failure={failure}
      onConfirm={() => void suspend()}
      onClose={onClose}
    >
      <p>
        Until you resume the installation, its keys and tokens are refused and its endpoints receive no
        events. Keys, grants and endpoints are kept.
      </p>
    </ConfirmDialog>
  );
}

export function ResumeInstallationDialog({
  installation,
  onChanged,
  onClose,
}: InstallationDialogProps): JSX.Element {
  const { isBusy, failure, run } = useGraphqlMutation(resumeDocument);
  const resume = async (): Promise<void> => {
    if ((await run({ input: { installationId: installation.id } })) === undefined) return;
    onChanged();
    onClose();
  };
  return (
    <ConfirmDialog
      title={`Resume “${installation.app.name}”?`}
      action="Resume the installation"
      isHarmless
      isBusy={isBusy}
      failure={failure}
      onConfirm={() => void resume()}
      onClose={onClose}
    >
      <p>The keys and tokens of the app work again at once, and its endpoints receive events again.</p>
    </ConfirmDialog>
  );
}

export function UninstallAppDialog({
  installation,
  onChanged,
  onClose,
}: InstallationDialogProps): JSX.Element {
  const { isBusy, failure, run } = useGraphqlMutation(uninstallDocument);
  const uninstall = async (): Promise<void> => {
    if ((await run({ input: { installationId: installation.id } })) === undefined) return;
    onChanged();
    onClose();
  };
  return (
    <ConfirmDialog
      title={`Uninstall “${installation.app.name}”?`}
      action="Uninstall the app"
      isBusy={isBusy}
      failure={failure}
      onConfirm={() => void uninstall()}
      onClose={onClose}
    >
      <p>
        All its API keys and OAuth grants are revoked at once, and its endpoints receive no events any more.
        <strong> This cannot be undone.</strong> If you install the app again, it needs new keys and
        endpoints. To stop the app for some time only, suspend it.
      </p>
    </ConfirmDialog>
  );
}
