/**
 * The actions on a webhook endpoint: send a test event (ping), change the endpoint, enable or disable it,
 * rotate its secret, and delete it.
 */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { getGraphqlConnectionNodes } from "#pages/console/browser/graph/documents.ts";
import { useGraphqlMutation, useGraphqlQuery } from "#pages/console/browser/graph/hooks.ts";
import { installationsDocument } from "#pages/console/browser/installations/installation-documents.ts";
import { FailureBanner } from "#pages/console/browser/parts/fields.tsx";
import { ConfirmDialog } from "#pages/console/browser/parts/dialogs.tsx";
import { navigateToConsolePath } from "#pages/console/browser/navigation.tsx";
import {
  deleteEndpointDocument,
  disableEndpointDocument,
  type ConsoleWebhookEndpoint,
  enableEndpointDocument,
  testEndpointDocument,
} from "./endpoint-documents.ts";
import { ChangeEndpointDialog } from "./endpoint-dialogs.tsx";
import { RotateWebhookSecretDialog } from "./secret-dialogs.tsx";

interface ActionsProps {
  readonly endpoint: ConsoleWebhookEndpoint;
  readonly onChanged: () => void;
}

export function EndpointActionButtons({ endpoint, onChanged }: ActionsProps): JSX.Element {
  const [dialog, setDialog] = useState<EndpointDialogName>();
  const [status, setStatus] = useState("");
  const test = useGraphqlMutation(testEndpointDocument);
  const enable = useGraphqlMutation(enableEndpointDocument);
  // The event types are only available as a field of an app installation in the GraphQL schema. All
  // installations have the same event types, so the first one is used.
  const installations = useGraphqlQuery(installationsDocument, {});
  const [installation] =
    installations.data === undefined ? [] : getGraphqlConnectionNodes(installations.data.installations);
  const isOn = endpoint.status === "ENABLED";
  const send = async (): Promise<void> => {
    if ((await test.run({ endpointId: endpoint.id, input: {} })) !== undefined)
      setStatus("The test ping is being sent.");
  };
  const switchOn = async (): Promise<void> => {
    if (
      (await enable.run({ endpointId: endpoint.id, input: { expectedVersion: endpoint.version } })) ===
      undefined
    )
      return;
    setStatus("The endpoint is enabled; a test ping is being sent.");
    onChanged();
  };
  return (
    <div class="doings">
      <FailureBanner failure={test.failure ?? enable.failure} />
      <div class="actions">
        {isOn ? (
          <button type="button" aria-disabled={test.isBusy} onClick={() => test.isBusy || void send()}>
            Send a test ping
          </button>
        ) : (
          <button
            type="button"
            aria-disabled={enable.isBusy}
            onClick={() => enable.isBusy || void switchOn()}
          >
            Enable
          </button>
        )}
        <DialogButtons isOn={isOn} canChange={installation !== undefined} onOpen={setDialog} />
        <span class="soft" role="status">
          {status}
        </span>
      </div>
      {dialog === undefined ? null : (
        <EndpointDialog
          dialog={dialog}
          endpoint={endpoint}
          installationId={installation?.id}
          onChanged={onChanged}
          onClose={() => setDialog(undefined)}
        />
      )}
    </div>
  );
}

interface DialogButtonsProps {
  readonly isOn: boolean;
  readonly canChange: boolean;
  readonly onOpen: (dialog: EndpointDialogName) => void;
}

/** The buttons that open the dialogs of the webhook endpoint, for example the dialog that changes it. */
function DialogButtons({ isOn, canChange, onOpen }: DialogButtonsProps): JSX.Element {
  return (
    <>
      <button type="button" class="second" onClick={() => onOpen("change")} disabled={!canChange}>
        Change
      </button>
      <button type="button" class="second" onClick={() => onOpen("rotate")}>
        Rotate secret
      </button>
      {isOn ? (
        <button type="button" class="second" onClick={() => onOpen("disable")}>
          Disable
        </button>
      ) : null}
      <button type="button" class="second danger" onClick={() => onOpen("delete")}>
        Delete
      </button>
    </>
  );
}

type EndpointDialogName = "change" | "disable" | "rotate" | "delete";

interface EndpointDialogProps extends ActionsProps {
  readonly onClose: () => void;
}

/**
 * The open dialog of a webhook endpoint. The dialog that changes the endpoint also needs the id of an
 * installation, to load the event types.
 */
function EndpointDialog({
  dialog,
  installationId,
  ...props
}: EndpointDialogProps & {
  readonly dialog: EndpointDialogName;
  readonly installationId: string | undefined;
}): JSX.Element | null {
  if (dialog === "rotate") return <RotateWebhookSecretDialog {...props} />;
  if (dialog === "disable") return <DisableDialog {...props} />;
  if (dialog === "delete") return <DeleteDialog {...props} />;
  return installationId === undefined ? null : (
    <ChangeEndpointDialog {...props} installationId={installationId} />
  );
}

function DisableDialog({ endpoint, onChanged, onClose }: EndpointDialogProps): JSX.Element {
  const { isBusy, failure, run } = useGraphqlMutation(disableEndpointDocument);
  const disable = async (): Promise<void> => {
    if ((await run({ endpointId: endpoint.id, input: { expectedVersion: endpoint.version } })) === undefined)
      return;
    onChanged();
    onClose();
  };
  return (
    <ConfirmDialog
      title="Disable the endpoint?"
      action="Disable"
      isBusy={isBusy}
      failure={failure}
      onConfirm={() => void disable()}
      onClose={onClose}
    >
      <p>
        <strong>{endpoint.url}</strong> receives no deliveries until it is enabled again. Deliveries of events
        in the meantime are skipped; they can be replayed.
      </p>
    </ConfirmDialog>
  );
}

function DeleteDialog({ endpoint, onClose }: EndpointDialogProps): JSX.Element {
  const { isBusy, failure, run } = useGraphqlMutation(deleteEndpointDocument);
  const remove = async (): Promise<void> => {
    if ((await run({ endpointId: endpoint.id, input: { expectedVersion: endpoint.version } })) !== undefined)
      navigateToConsolePath("/endpoints");
  };
  return (
    <ConfirmDialog
      title="Delete the endpoint?"
      action="Delete the endpoint"
      isBusy={isBusy}
      failure={failure}
      onConfirm={() => void remove()}
      onClose={onClose}
    >
      <p>
        <strong>{endpoint.url}</strong> receives no more deliveries, its waiting deliveries are canceled, and
        its secrets are erased. This cannot be undone.
      </p>
    </ConfirmDialog>
  );
}
