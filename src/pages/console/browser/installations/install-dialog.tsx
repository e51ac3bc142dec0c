/** The dialog in which staff choose one of the platform's apps and its permissions, and install it. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { getGraphqlConnectionNodes } from "#pages/console/browser/graph/documents.ts";
import { useGraphqlMutation, useGraphqlQuery } from "#pages/console/browser/graph/hooks.ts";
import { navigateToConsolePath } from "#pages/console/browser/navigation.tsx";
import { listPermissionChoices, toGraphqlScopeEnumValue } from "#pages/console/browser/parts/permissions.ts";
import { Dialog, DialogFormButtons } from "#pages/console/browser/parts/dialogs.tsx";
import { CheckboxGroup, FailureBanner, SelectField } from "#pages/console/browser/parts/fields.tsx";
import { EmptyListNote, QueryResultOrLoadingNote } from "#pages/console/browser/parts/tables.tsx";
import {
  type InstallableAppsQueryResult,
  installableAppsDocument,
  installDocument,
} from "./installation-documents.ts";

export function InstallAppDialog({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const query = useGraphqlQuery(installableAppsDocument, {});
  return (
    <Dialog title="Install an app" onClose={onClose}>
      <QueryResultOrLoadingNote query={query} what="apps">
        {(data) => <InstallForm data={data} onClose={onClose} />}
      </QueryResultOrLoadingNote>
    </Dialog>
  );
}

interface InstallFormProps {
  readonly data: InstallableAppsQueryResult;
  readonly onClose: () => void;
}

function InstallForm({ data, onClose }: InstallFormProps): JSX.Element {
  const installed = new Set(
    getGraphqlConnectionNodes(data.installations)
      .filter(({ status }) => status !== "UNINSTALLED")
      .map(({ app }) => app.id),
  );
  const apps = getGraphqlConnectionNodes(data.apps).filter(({ id }) => !installed.has(id));
  const [appId, setAppId] = useState(apps[0]?.id ?? "");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(["catalog:read"]));
  const { isBusy, failure, run } = useGraphqlMutation(installDocument);
  const merchantId = data.merchant?.id;
  const install = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy || merchantId === undefined) return;
    const scopes = [...chosen].toSorted().map(toGraphqlScopeEnumValue);
    const made = await run({ input: { merchantId, appId, scopes } });
    if (made === undefined) return;
    onClose();
    navigateToConsolePath(`/installations/${made.installationCreate.id}`);
  };
  if (apps.length === 0)
    return (
      <EmptyListNote>
        Your shop has all apps of the platform. Ask the operator of the platform to register another app.
      </EmptyListNote>
    );
  return (
    <form onSubmit={(event) => void install(event)} noValidate>
      <FailureBanner failure={failure} shown={["/appId", "/scopes"]} />
      <SelectField
        label="App"
        pointer="/appId"
        failure={failure}
        name="appId"
        value={appId}
        options={apps.map(({ id, name, publisher }) => ({
          value: id,
          label: publisher === null ? name : `${name}, by ${publisher}`,
        }))}
        onChange={setAppId}
      />
      <CheckboxGroup
        legend="Permissions"
        hint="What the app may do with your shop. You can change this later."
        pointer="/scopes"
        failure={failure}
        choices={listPermissionChoices()}
        chosen={chosen}
        onChange={setChosen}
      />
      <DialogFormButtons action="Install the app" isBusy={isBusy} onCancel={onClose} />
    </form>
  );
}
