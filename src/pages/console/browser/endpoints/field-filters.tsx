/**
 * The form field with the field filters of a webhook endpoint. A field filter lists fields for one event
 * type. The endpoint receives such an event only if at least one of the fields has changed.
 */
import type { JSX } from "preact";
import type { GraphqlRequestError } from "#pages/console/browser/graph/client.ts";
import { SelectField, TextField } from "#pages/console/browser/parts/fields.tsx";
import type { ConsoleEventType, ConsoleEventFieldFilter } from "./endpoint-documents.ts";

/** A field filter in the form: its fields are a comma-separated text, as the staff member types it. */
export interface FieldFilterFormValues {
  readonly eventType: string;
  readonly fields: string;
}

export const toFieldFilterFormValues = ({
  eventType,
  fields,
}: ConsoleEventFieldFilter): FieldFilterFormValues => ({
  eventType,
  fields: fields.join(", "),
});

export const parseFieldFilterFormValues = ({
  eventType,
  fields,
}: FieldFilterFormValues): ConsoleEventFieldFilter => ({
  eventType,
  fields: fields.split(/[\s,]+/).filter((field) => field !== ""),
});

interface FieldFilterFieldProps {
  readonly types: readonly ConsoleEventType[];
  readonly filters: readonly FieldFilterFormValues[];
  readonly failure: GraphqlRequestError | undefined;
  readonly onChange: (filters: readonly FieldFilterFormValues[]) => void;
}

export function EventFieldFilterInputs({
  types,
  filters,
  failure,
  onChange,
}: FieldFilterFieldProps): JSX.Element {
  const used = new Set(filters.map(({ eventType }) => eventType));
  const unused = types.map(({ name }) => name).filter((name) => !used.has(name));
  const next = unused.find((name) => name.endsWith(".updated")) ?? unused[0];
  return (
    <fieldset>
      <legend>Field filters (optional)</legend>
      <p class="hint">
        An event with a filter is sent only if one of the named fields has changed. The fields are those of
        the event&apos;s <code>data.object</code>, for example <code>status</code>; the API reference lists
        them.
      </p>
      {filters.map((filter, index) => (
        <FilterRow
          key={index}
          index={index}
          filter={filter}
          types={types}
          failure={failure}
          onChange={(changed) => onChange(filters.with(index, changed))}
          onRemove={() => onChange(filters.toSpliced(index, 1))}
        />
      ))}
      {next === undefined ? null : (
        <button
          type="button"
          class="second"
          onClick={() => onChange([...filters, { eventType: next, fields: "" }])}
        >
          Add a filter
        </button>
      )}
    </fieldset>
  );
}

interface FilterRowProps {
  readonly index: number;
  readonly filter: FieldFilterFormValues;
  readonly types: readonly ConsoleEventType[];
  readonly failure: GraphqlRequestError | undefined;
  readonly onChange: (filter: FieldFilterFormValues) => void;
  readonly onRemove: () => void;
}

function FilterRow({ index, filter, types, failure, onChange, onRemove }: FilterRowProps): JSX.Element {
  const { eventType, fields } = filter;
  return (
    <div class="field-filter">
      <SelectField
        label="Event"
        pointer={`/fieldFilters/${index}/eventType`}
        failure={failure}
        name={`fieldFilterEvent${index}`}
        value={eventType}
        options={types.map(({ name }) => ({ value: name, label: name }))}
        onChange={(name) => onChange({ eventType: name, fields })}
      />
      <TextField
        label="Fields, separated by commas"
        pointer={`/fieldFilters/${index}/fields`}
        failure={failure}
        name={`fieldFilterFields${index}`}
        value={fields}
        input={{ spellcheck: false, autocapitalize: "off" }}
        onChange={(text) => onChange({ eventType, fields: text })}
      />
      <button
        type="button"
        class="second"
        aria-label={`Remove the filter for ${eventType}`}
        onClick={onRemove}
      >
        Remove
      </button>
    </div>
  );
}
