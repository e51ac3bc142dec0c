/**
 * The dialogs that register or change a webhook endpoint: its URL, payload and events. If the service refuses
 * the form, the typed values stay in it.
 */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { GraphqlFailure } from "#pages/console/browser/graph/client.ts";
import { useGraphqlMutation, useGraphqlQuery } from "#pages/console/browser/graph/hooks.ts";
import { FailureBanner, SelectField, TextField } from "#pages/console/browser/parts/fields.tsx";
import { Dialog, DialogFormButtons } from "#pages/console/browser/parts/dialogs.tsx";
import { QueryResultView } from "#pages/console/browser/parts/tables.tsx";
import {
  createEndpointDocument,
  type ConsoleWebhookEndpoint,
  type ConsoleEndpointInput,
  type EndpointSecretMutationResult,
  eventTypesDocument,
  type ConsolePayloadMode,
  updateEndpointDocument,
} from "./endpoint-documents.ts";
import { EventTypeField } from "./event-type-choice.tsx";

interface EndpointFormProps {
  readonly installationId: string;
  readonly onMade: (made: EndpointSecretMutationResult) => void;
  readonly onClose: () => void;
}

export function CreateEndpointDialog({ installationId, onMade, onClose }: EndpointFormProps): JSX.Element {
  const { isBusy, failure, run } = useGraphqlMutation(createEndpointDocument);
  const create = async (input: ConsoleEndpointInput): Promise<void> => {
    const made = await run({ installationId, input });
    if (made !== undefined) onMade(made.webhookEndpointCreate);
  };
  return (
    <Dialog title="Register an endpoint" onClose={onClose} isFirm={isBusy}>
      <Fields
        installationId={installationId}
        before={{ url: "", eventTypes: ["*"], description: null, payloadMode: "SNAPSHOT" }}
        action="Register"
        isBusy={isBusy}
        failure={failure}
        onSave={(input) => void create(input)}
        onClose={onClose}
      />
    </Dialog>
  );
}

interface ChangeEndpointProps {
  readonly endpoint: ConsoleWebhookEndpoint;
  readonly installationId: string;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

export function ChangeEndpointDialog({
  endpoint,
  installationId,
  onChanged,
  onClose,
}: ChangeEndpointProps): JSX.Element {
  const { isBusy, failure, run } = useGraphqlMutation(updateEndpointDocument);
  // The form sends the version that the endpoint had when the form was opened. The service refuses the
  // request if another person has changed the endpoint since, so the form never overwrites that change
  // unnoticed.
  const [expectedVersion] = useState(endpoint.version);
  const save = async (input: ConsoleEndpointInput): Promise<void> => {
    if ((await run({ endpointId: endpoint.id, input: { ...input, expectedVersion } })) === undefined) return;
    onChanged();
    onClose();
  };
  return (
    <Dialog title="Change the endpoint" onClose={onClose} isFirm={isBusy}>
      <Fields
        installationId={installationId}
        before={endpoint}
        action="Save"
        isBusy={isBusy}
        failure={failure}
        onSave={(input) => void save(input)}
        onClose={onClose}
      />
    </Dialog>
  );
}

interface FieldsProps {
  readonly installationId: string;
  readonly before: ConsoleEndpointInput;
  readonly action: string;
  readonly isBusy: boolean;
  readonly failure: GraphqlFailure | undefined;
  readonly onSave: (input: ConsoleEndpointInput) => void;
  readonly onClose: () => void;
}

const modes = [
  { value: "SNAPSHOT", label: "The complete resource at the time of the event" },
  { value: "THIN", label: "Only the resource's id" },
] as const;

function Fields({
  installationId,
  before,
  action,
  isBusy,
  failure,
  onSave,
  onClose,
}: FieldsProps): JSX.Element {
  const types = useGraphqlQuery(eventTypesDocument, { installationId });
  const [url, setUrl] = useState(before.url);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(before.eventTypes));
  const [description, setDescription] = useState(before.description ?? "");
  const [mode, setMode] = useState<ConsolePayloadMode>(before.payloadMode);
  const save = (event: Event): void => {
    event.preventDefault();
    const text = description.trim();
    if (!isBusy)
      onSave({
        url: url.trim(),
        eventTypes: [...chosen].toSorted(),
        description: text === "" ? null : text,
        payloadMode: mode,
      });
  };
  return (
    <form onSubmit={save} noValidate>
      <FailureBanner failure={failure} shown={["/url", "/eventTypes", "/description", "/payloadMode"]} />
      <TextFields
        url={url}
        description={description}
        failure={failure}
        onUrl={setUrl}
        onDescription={setDescription}
      />
      <SelectField
        label="Content of the deliveries"
        pointer="/payloadMode"
        failure={failure}
        name="payloadMode"
        value={mode}
        options={modes}
        onChange={setMode}
      />
      <QueryResultView query={types} what="the events">
        {({ installation }) => (
          <EventTypeField
            types={(installation?.webhookLog.eventTypes ?? []).filter(({ deprecated }) => !deprecated)}
            chosen={chosen}
            failure={failure}
            onChange={setChosen}
          />
        )}
      </QueryResultView>
      <DialogFormButtons action={action} isBusy={isBusy} onCancel={onClose} />
    </form>
  );
}

interface TextFieldsProps {
  readonly url: string;
  readonly description: string;
  readonly failure: GraphqlFailure | undefined;
  readonly onUrl: (url: string) => void;
  readonly onDescription: (description: string) => void;
}

/** The form fields for the URL and the description of a webhook endpoint. */
function TextFields({ url, description, failure, onUrl, onDescription }: TextFieldsProps): JSX.Element {
  return (
    <>
      <TextField
        label="Address"
        hint="The address that receives the events. It must start with https://."
        pointer="/url"
        failure={failure}
        name="url"
        value={url}
        onChange={onUrl}
        input={{ type: "url", spellcheck: false }}
      />
      <TextField
        label="Description (optional)"
        hint="The purpose of the endpoint, at most 200 characters."
        pointer="/description"
        failure={failure}
        name="description"
        value={description}
        onChange={onDescription}
      />
    </>
  );
}
