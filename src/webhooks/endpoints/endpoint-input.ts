/**
 * Validates the input of commands on webhook endpoints before any row is read. The failure lists all faults
 * of the input; the first fault determines the error code.
 */
import { createRequestBodyErrorDetail, getTextFieldErrors } from "#foundation/faults.ts";
import { createFailure, type FailureCode, type FailureDetail } from "#foundation/failure.ts";
import type { DeliveryOrderMode } from "#webhooks/delivery-order.ts";
import { findMostSimilarTexts } from "#foundation/nearest.ts";
import { findEndpointUrlFaults, type EndpointUrlCheckOptions } from "#webhooks/endpoint-url.ts";
import { eventTypes } from "#webhooks/event-types.ts";
import { type EventChangedFieldsFilter, getErrorsOfChangedFieldsFilters } from "./field-filters.ts";

export const endpointInputLimits = {
  eventTypesMax: 100,
  descriptionMax: 200,
  perSecondMax: 100,
  metadataKeysMax: 20,
  metadataKeyMax: 40,
  metadataValueMax: 500,
} as const;

export interface EndpointInputFields {
  readonly url?: string | null | undefined;
  readonly eventTypes?: readonly string[] | null | undefined;
  readonly description?: string | null | undefined;
  readonly maxPerSecond?: number | null | undefined;
  readonly metadata?: Readonly<Record<string, string>> | null | undefined;
  readonly fieldFilters?: readonly EventChangedFieldsFilter[] | null | undefined;
  readonly deliveryOrder?: DeliveryOrderMode | null | undefined;
}

export interface EndpointInputCheckOptions extends EndpointUrlCheckOptions {
  /**
   * The faults of the IP addresses of the URL's host name. The addresses were looked up before the
   * transaction began.
   */
  readonly resolvedFaults: readonly FailureDetail[];
}

type Fault = readonly [FailureCode, FailureDetail];

export function requireValidEndpointFields(
  fields: EndpointInputFields,
  rules: EndpointInputCheckOptions,
): void {
  const faults = [
    ...asFaults("webhook_url_not_allowed", urlFaults(fields.url, rules)),
    ...patternFaults(fields.eventTypes ?? []),
    ...asFaults(
      "invalid_field",
      getTextFieldErrors("/description", fields.description, {
        min: 0,
        max: endpointInputLimits.descriptionMax,
        lines: "many",
      }),
    ),
    ...asFaults("invalid_field", metadataFaults(fields.metadata ?? {})),
    ...asFaults("invalid_field", getErrorsOfChangedFieldsFilters(fields.fieldFilters)),
  ];
  const [first] = faults;
  if (first !== undefined)
    throw createFailure(first[0], { message: first[1].message, details: faults.map(([, detail]) => detail) });
}

/**
 * Checks the form of the URL by the rules for the merchant's mode (live or test). The mode is known only
 * after the merchant was read; before, `requireValidEndpointFields` checks the URL by rules that may be less
 * strict.
 */
export function requireValidEndpointUrl(url: string, rules: EndpointUrlCheckOptions): void {
  const [first, ...rest] = findEndpointUrlFaults(url, rules);
  if (first !== undefined)
    throw createFailure("webhook_url_not_allowed", { message: first.message, details: [first, ...rest] });
}

const asFaults = (failure: FailureCode, details: readonly FailureDetail[]): Fault[] =>
  details.map((detail) => [failure, detail]);

function urlFaults(
  url: string | null | undefined,
  { resolvedFaults, ...rules }: EndpointInputCheckOptions,
): readonly FailureDetail[] {
  if (url === null || url === undefined) return [];
  const faults = findEndpointUrlFaults(url, rules);
  return faults.length > 0 ? faults : resolvedFaults;
}

const knownEventTypePatterns = new Set<string>(
  Object.keys(eventTypes).flatMap((type) => [type, `${type.split(".")[0]}.*`]),
);

const suggestionsMax = 20;

/**
 * Creates the fault of an unknown event type. The message names the most similar event types; if none is
 * similar, it names all event types of the same group (for example `order`).
 */
function createEventTypeFault(field: string, pattern: string): FailureDetail {
  const nearest = findMostSimilarTexts(pattern, knownEventTypePatterns);
  const group = `${pattern.split(".")[0]}.`;
  const inGroup = [...knownEventTypePatterns].filter((known) => known.startsWith(group));
  const [hint, allowed] =
    nearest.length > 0
      ? [`; the nearest is ${nearest.join(", ")}`, nearest]
      : inGroup.length > 0
        ? [`; "allowed" lists the event types of the group`, inGroup.slice(0, suggestionsMax)]
        : ["; listInstallationWebhookEvents lists them in data.eventTypes", null];
  const message = `The value must be an event type of the catalogue or a group such as order.*${hint}.`;
  return { ...createRequestBodyErrorDetail(field, "unknown", message), allowed };
}

/**
 * Returns the faults of the subscribed event types. Allowed are event types of the catalogue, groups such as
 * `order.*`, and `*` as the only entry.
 */
function patternFaults(patterns: readonly string[]): Fault[] {
  const isRepeated = new Set(patterns).size < patterns.length;
  return [
    ...patterns.flatMap((pattern, index): Fault[] => {
      const field = `/eventTypes/${index}`;
      if (pattern === "*")
        return patterns.length === 1
          ? []
          : [
              [
                "invalid_field",
                createRequestBodyErrorDetail(
                  field,
                  "not_alone",
                  '"*" means all events and must be the only entry.',
                ),
              ],
            ];
      return knownEventTypePatterns.has(pattern)
        ? []
        : [["unknown_event_type", createEventTypeFault(field, pattern)]];
    }),
    ...(isRepeated
      ? asFaults("invalid_field", [
          createRequestBodyErrorDetail("/eventTypes", "duplicate", "eventTypes must not contain duplicates."),
        ])
      : []),
  ];
}

function metadataFaults(metadata: Readonly<Record<string, string>>): FailureDetail[] {
  const { metadataKeysMax, metadataKeyMax, metadataValueMax } = endpointInputLimits;
  const entries = Object.entries(metadata);
  if (entries.length > metadataKeysMax)
    return [
      createRequestBodyErrorDetail(
        "/metadata",
        "too_long",
        `metadata may have at most ${metadataKeysMax} keys.`,
      ),
    ];
  const ofKeys = entries.flatMap(([key]) => getTextFieldErrors("/metadata", key, { max: metadataKeyMax }));
  const ofValues = entries.flatMap(([key, value]) =>
    getTextFieldErrors(`/metadata/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`, value, {
      min: 0,
      max: metadataValueMax,
      lines: "many",
    }),
  );
  return [...ofKeys, ...ofValues];
}
