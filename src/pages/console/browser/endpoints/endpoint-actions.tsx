/** The actions on an endpoint: send a test ping, change, enable or disable, rotate the secret, delete. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { connectionNodes } from "#pages/console/browser/graph/documents.ts";
import { useMutation, useQuery } from "#pages/console/browser/graph/hooks.ts";
import { installationsDocument } from "#pages/console/browser/installations/installation-documents.ts";
import { FailureBanner } from "#pages/console/browser/parts/fields.tsx";
import { ConfirmDialog } from "#pages/console/browser/parts/dialogs.tsx";
import { navigateTo } from "#pages/console/browser/navigation.tsx";
import {
  deleteEndpointDocument,
  disableEndpointDocument,
  type Endpoint,
  enableEndpointDocument,
  testEndpointDocument,
} from "./endpoint-documents.ts";
import { ChangeEndpointDialog } from "./endpoint-dialogs.tsx";
import { RotateSecretDialog } from "./secret-dialogs.tsx";

interface ActionsProps {
  readonly endpoint: Endpoint;
  readonly onChanged: () => void;
}

export function EndpointActions({ endpoint, onChanged }: ActionsProps): JSX.Element {
  const [doing, setDoing] = useState<"change" | "disable" | "rotate" | "delete">();
  const [said, setSaid] = useState("");
  const test = useMutation(testEndpointDocument);
  const enable = useMutation(enableEndpointDocument);
  // Event types are loaded through an installation. All installations of a merchant have the same event
  // types.
  const installations = useQuery(installationsDocument, {});
  const [installation] =
    installations.data === undefined ? [] : connectionNodes(installations.data.installations);
  const shown = { endpoint, onChanged, onClose: () => setDoing(undefined) };
  const isOn = endpoint.status === "ENABLED";
  const send = async (): Promise<void> => {
    if ((await test.run({ endpointId: endpoint.id, input: {} })) !== undefined)
      setSaid("A test ping is on its way.");
  };
  const switchOn = async (): Promise<void> => {
    if (
      (await enable.run({ endpointId: endpoint.id, input: { expectedVersion: endpoint.version } })) ===
      undefined
    )
      return;
    setSaid("It is switched on; a ping is on its way.");
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
        <button
          type="button"
          class="second"
          onClick={() => setDoing("change")}
          disabled={installation === undefined}
        >
          Change
        </button>
        <button type="button" class="second" onClick={() => setDoing("rotate")}>
          Rotate secret
        </button>
        {isOn ? (
          <button type="button" class="second" onClick={() => setDoing("disable")}>
            Disable
          </button>
        ) : null}
        <button type="button" class="second danger" onClick={() => setDoing("delete")}>
          Delete
        </button>
        <span class="soft" role="status">
          {said}
        </span>
      </div>
      {doing === "change" && installation !== undefined ? (
        <ChangeEndpointDialog {...shown} installationId={installation.id} />
      ) : null}
      {doing === "rotate" ? <RotateSecretDialog {...shown} /> : null}
      {doing === "disable" ? <Disable {...shown} /> : null}
      {doing === "delete" ? <Delete {...shown} /> : null}
    </div>
  );
}

interface DoingProps extends ActionsProps {
  readonly onClose: () => void;
}

function Disable({ endpoint, onChanged, onClose }: DoingProps): JSX.Element {
  const { isBusy, failure, run } = useMutation(disableEndpointDocument);
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
        <strong>{endpoint.url}</strong> is told nothing until it is enabled again. What happens meanwhile is
        skipped, but can be replayed.
      </p>
    </ConfirmDialog>
  );
}

function Delete({ endpoint, onClose }: DoingProps): JSX.Element {
  const { isBusy, failure, run } = useMutation(deleteEndpointDocument);
  const remove = async (): Promise<void> => {
    if ((await run({ endpointId: endpoint.id, input: { expectedVersion: endpoint.version } })) !== undefined)
      navigateTo("/endpoints");
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
        <strong>{endpoint.url}</strong> is told nothing any more, what waits for it is canceled, and its
        secrets are erased. This cannot be undone.
      </p>
    </ConfirmDialog>
  );
}
