/**
 * Field filters of a webhook endpoint. A field filter names an event type and the fields of the event's
 * object; the endpoint then receives an event of this type only if one of these fields has changed. The
 * property `previous` of an event lists the fields that have changed.
 */
import { type RawBuilder, sql } from "kysely";
import {
  createDisallowedValueErrorDetail,
  getDisallowedValueErrors,
  getDuplicateEntryErrors,
  getListLengthErrors,
} from "#foundation/faults.ts";
import type { FailureDetail } from "#foundation/failure.ts";
import { eventTypeNames, listEventObjectFields } from "#webhooks/event-catalogue.ts";
import type { EventType } from "#webhooks/event-types.ts";

export interface EventChangedFieldsFilter {
  readonly eventType: string;
  readonly fields: readonly string[];
}

/** Field filters as they are stored: an object with the event types as keys and the lists of fields as values. */
export type StoredChangedFieldsFilters = Readonly<Record<string, readonly string[]>>;

export const filteredTypesMax = 100;
const filteredFieldsMax = 50;

export function getErrorsOfChangedFieldsFilters(
  filters: readonly EventChangedFieldsFilter[] | null | undefined,
): FailureDetail[] {
  if (filters === null || filters === undefined) return [];
  const types = filters.map(({ eventType }) => eventType);
  return [
    ...getListLengthErrors("/fieldFilters", filters, { min: 0, max: filteredTypesMax }),
    ...getDuplicateEntryErrors(types, (index) => `/fieldFilters/${index}/eventType`),
    ...filters.flatMap((filter, index) => findFilterFaults(filter, `/fieldFilters/${index}`)),
  ];
}

function findFilterFaults({ eventType, fields }: EventChangedFieldsFilter, path: string): FailureDetail[] {
  if (!isEventType(eventType))
    return [
      createDisallowedValueErrorDetail(`${path}/eventType`, eventType, {
        allowed: eventTypeNames,
        noun: "event type",
        code: "unknown",
      }),
    ];
  const values = {
    allowed: listEventObjectFields(eventType),
    noun: `field of the object of ${eventType}`,
    code: "unknown",
  };
  return [
    ...getListLengthErrors(`${path}/fields`, fields, { min: 1, max: filteredFieldsMax }),
    ...getDuplicateEntryErrors(fields, (index) => `${path}/fields/${index}`),
    ...fields.flatMap((field, index) => getDisallowedValueErrors(`${path}/fields/${index}`, field, values)),
  ];
}

const isEventType = (name: string): name is EventType => (eventTypeNames as readonly string[]).includes(name);

/** Converts field filters to the form in which they are stored; null if there are no filters. */
export const toStoredChangedFieldsFilters = (
  filters: readonly EventChangedFieldsFilter[] | null | undefined,
): StoredChangedFieldsFilters | null =>
  filters === null || filters === undefined || filters.length === 0
    ? null
    : Object.fromEntries(filters.map(({ eventType, fields }) => [eventType, [...fields]]));

/**
 * The SQL condition that is true if endpoint `w` receives event `e` according to the endpoint's field
 * filters. An event without `previous` (which is not compared with an earlier state) is always received. The
 * body of the event is parsed only if the endpoint has a filter for the event's type.
 */
export const passesFieldFiltersSql: RawBuilder<boolean> = sql`
  case when w.field_filters is null or not w.field_filters ? e.type then true else coalesce((
    select bool_or(w.field_filters -> e.type ? changed.field)
    from jsonb_object_keys(nullif(e.snapshot::jsonb #> '{data,previous}', 'null')) as changed (field)
  ), jsonb_typeof(e.snapshot::jsonb #> '{data,previous}') is distinct from 'object') end`;
