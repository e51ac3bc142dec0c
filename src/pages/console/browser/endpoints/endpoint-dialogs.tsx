/**
 * The dialogs that register or change a webhook endpoint: its URL, deliveries, events and field filters.
 * After a refusal by the service, the form keeps the typed values.
 */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { GraphqlRequestError } from "#pages/console/browser/graph/client.ts";
import { useGraphqlMutation, useGraphqlQuery } from "#pages/console/browser/graph/hooks.ts";
import { FailureBanner, SelectField, TextField } from "#pages/console/browser/parts/fields.tsx";
import { Dialog, DialogFormButtons } from "#pages/console/browser/parts/dialogs.tsx";
import { QueryResultOrLoadingNote } from "#pages/console/browser/parts/tables.tsx";
import {
  createEndpointDocument,
  type ConsoleWebhookEndpoint,
  type ConsoleEndpointInput,
  type ConsoleEndpointOptions,
  type EndpointSecretMutationResult,
  eventTypesDocument,
  updateEndpointDocument,
} from "./endpoint-documents.ts";
import { EventTypeCheckboxes } from "./event-type-choice.tsx";
import {
  EventFieldFilterInputs,
  parseFieldFilterFormValues,
  toFieldFilterFormValues,
  type FieldFilterFormValues,
} from "./field-filters.tsx";

interface EndpointFormProps {
  readonly installationId: string;
  readonly onMade: (made: EndpointSecretMutationResult) => void;
  readonly onClose: () => void;
}

export function CreateEndpointDialog({ installationId, onMade, onClose }: EndpointFormProps): JSX.Element {
  const { isBusy, failure, run } = useGraphqlMutation(createEndpointDocument);
  const create = async ({ fieldFilters, deliveryOrder, ...input }: EndpointSettings): Promise<void> => {
    const made = await run({ installationId, input, options: { fieldFilters, deliveryOrder } });
    if (made !== undefined) onMade(made.webhookEndpointCreate);
  };
  return (
    <Dialog title="Register an endpoint" onClose={onClose} isFirm={isBusy}>
      <Fields
        installationId={installationId}
        before={newEndpoint}
        action="Register"
        isBusy={isBusy}
        failure={failure}
        onSave={(input) => void create(input)}
        onClose={onClose}
      />
    </Dialog>
  );
}

type EndpointSettings = ConsoleEndpointInput & ConsoleEndpointOptions;

const newEndpoint: EndpointSettings = {
  url: "",
  eventTypes: ["*"],
  description: null,
  payloadMode: "SNAPSHOT",
  fieldFilters: [],
  deliveryOrder: "ANY",
};

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
  // The form sends the endpoint's version from the time when the form was opened. The service refuses the
  // request if another person has changed the endpoint since, so no change is overwritten unnoticed.
  const [expectedVersion] = useState(endpoint.version);
  const save = async (input: EndpointSettings): Promise<void> => {
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
  readonly before: EndpointSettings;
  readonly action: string;
  readonly isBusy: boolean;
  readonly failure: GraphqlRequestError | undefined;
  readonly onSave: (input: EndpointSettings) => void;
  readonly onClose: () => void;
}

/** The values of the form as they are typed. */
interface FormValues extends Omit<EndpointSettings, "eventTypes" | "description" | "fieldFilters"> {
  readonly eventTypes: ReadonlySet<string>;
  readonly description: string;
  readonly fieldFilters: readonly FieldFilterFormValues[];
}

const toFormValues = (before: EndpointSettings): FormValues => ({
  url: before.url,
  eventTypes: new Set(before.eventTypes),
  description: before.description ?? "",
  payloadMode: before.payloadMode,
  fieldFilters: before.fieldFilters.map(toFieldFilterFormValues),
  deliveryOrder: before.deliveryOrder,
});

function toSettings({ url, eventTypes, description, fieldFilters, ...values }: FormValues): EndpointSettings {
  const text = description.trim();
  return {
    ...values,
    url: url.trim(),
    eventTypes: [...eventTypes].toSorted(),
    description: text === "" ? null : text,
    fieldFilters: fieldFilters.map(parseFieldFilterFormValues),
  };
}

const shownPointers = [
  "/url",
  "/eventTypes",
  "/description",
  "/payloadMode",
  "/fieldFilters",
  "/deliveryOrder",
];

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
  const [values, setValues] = useState(() => toFormValues(before));
  const change = (changed: Partial<FormValues>): void => setValues((current) => ({ ...current, ...changed }));
  const save = (event: Event): void => {
    event.preventDefault();
    if (!isBusy) onSave(toSettings(values));
  };
  return (
    <form onSubmit={save} noValidate>
      <FailureBanner failure={failure} shown={shownPointers} />
      <TextFields
        url={values.url}
        description={values.description}
        failure={failure}
        onUrl={(url) => change({ url })}
        onDescription={(description) => change({ description })}
      />
      <DeliveryFields values={values} failure={failure} onChange={change} />
      <QueryResultOrLoadingNote query={types} what="the events">
        {({ installation }) => {
          const known = (installation?.webhookLog.eventTypes ?? []).filter(({ deprecated }) => !deprecated);
          return (
            <>
              <EventTypeCheckboxes
                types={known}
                chosen={values.eventTypes}
                failure={failure}
                onChange={(eventTypes) => change({ eventTypes })}
              />
              <EventFieldFilterInputs
                types={known}
                filters={values.fieldFilters}
                failure={failure}
                onChange={(fieldFilters) => change({ fieldFilters })}
              />
            </>
          );
        }}
      </QueryResultOrLoadingNote>
      <DialogFormButtons action={action} isBusy={isBusy} onCancel={onClose} />
    </form>
  );
}

const modes = [
  { value: "SNAPSHOT", label: "The complete resource at the time of the event" },
  { value: "THIN", label: "Only the resource's id" },
] as const;

const orders = [
  { value: "ANY", label: "Each delivery at once" },
  { value: "SUBJECT", label: "One after the other per object" },
] as const;

const orderHint =
  "One after the other: a delivery that fails holds back later ones about the same object, for example an " +
  "order, until it succeeds or its last attempt has failed.";

interface DeliveryFieldsProps {
  readonly values: Pick<FormValues, "payloadMode" | "deliveryOrder">;
  readonly failure: GraphqlRequestError | undefined;
  readonly onChange: (changed: Partial<FormValues>) => void;
}

/** The form fields for the content and the order of the deliveries of a webhook endpoint. */
function DeliveryFields({ values, failure, onChange }: DeliveryFieldsProps): JSX.Element {
  return (
    <>
      <SelectField
        label="Content of the deliveries"
        pointer="/payloadMode"
        failure={failure}
        name="payloadMode"
        value={values.payloadMode}
        options={modes}
        onChange={(payloadMode) => onChange({ payloadMode })}
      />
      <SelectField
        label="Order of the deliveries"
        hint={orderHint}
        pointer="/deliveryOrder"
        failure={failure}
        name="deliveryOrder"
        value={values.deliveryOrder}
        options={orders}
        onChange={(deliveryOrder) => onChange({ deliveryOrder })}
      />
    </>
  );
}

interface TextFieldsProps {
  readonly url: string;
  readonly description: string;
  readonly failure: GraphqlRequestError | undefined;
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
