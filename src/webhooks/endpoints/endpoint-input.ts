/**
 * Validates the input of endpoint commands before any row is read. The failure lists all faults; the first
 * fault determines the error code.
 */
import { createBodyFault, findTextFaults } from "#foundation/faults.ts";
import { fail, type FailureCode, type FailureDetail } from "#foundation/failure.ts";
import { findEndpointUrlFaults, type EndpointUrlRules } from "#webhooks/endpoint-url.ts";
import { eventTypes } from "#webhooks/event-types.ts";

export const endpointInputLimits = {
  eventTypesMax: 100,
  descriptionMax: 200,
  perSecondMax: 100,
  metadataKeysMax: 20,
  metadataKeyMax: 40,
  metadataValueMax: 500,
} as const;

export interface EndpointFields {
  readonly url?: string | null | undefined;
  readonly eventTypes?: readonly string[] | null | undefined;
  readonly description?: string | null | undefined;
  readonly maxPerSecond?: number | null | undefined;
  readonly metadata?: Readonly<Record<string, string>> | null | undefined;
}

export interface EndpointInputRules extends EndpointUrlRules {
  /** The faults that were found in the IP addresses of the URL's host name before the transaction began. */
  readonly resolvedFaults: readonly FailureDetail[];
}

type Fault = readonly [FailureCode, FailureDetail];

export function requireEndpointFields(fields: EndpointFields, rules: EndpointInputRules): void {
  const faults = [
    ...asFaults("webhook_url_not_allowed", urlFaults(fields.url, rules)),
    ...patternFaults(fields.eventTypes ?? []),
    ...asFaults(
      "invalid_field",
      findTextFaults("/description", fields.description, {
        min: 0,
        max: endpointInputLimits.descriptionMax,
        lines: "many",
      }),
    ),
    ...asFaults("invalid_field", metadataFaults(fields.metadata ?? {})),
  ];
  const [first] = faults;
  if (first !== undefined)
    throw fail(first[0], { message: first[1].message, details: faults.map(([, detail]) => detail) });
}

/**
 * Checks the form of the URL by the rules for the merchant's mode. Before the merchant is read,
 * `requireEndpointFields` checks the URL by rules that may be less strict.
 */
export function requireEndpointUrl(url: string, rules: EndpointUrlRules): void {
  const [first, ...rest] = findEndpointUrlFaults(url, rules);
  if (first !== undefined)
    throw fail("webhook_url_not_allowed", { message: first.message, details: [first, ...rest] });
}

const asFaults = (failure: FailureCode, details: readonly FailureDetail[]): Fault[] =>
  details.map((detail) => [failure, detail]);

function urlFaults(
  url: string | null | undefined,
  { resolvedFaults, ...rules }: EndpointInputRules,
): readonly FailureDetail[] {
  if (url === null || url === undefined) return [];
  const faults = findEndpointUrlFaults(url, rules);
  return faults.length > 0 ? faults : resolvedFaults;
}

const knownEventTypePatterns = new Set<string>(
  Object.keys(eventTypes).flatMap((type) => [type, `${type.split(".")[0]}.*`]),
);

/**
 * Checks the event types to which an endpoint subscribes. Allowed are event types of the catalogue, all types
 * of a group (`order.*`), and all types (`*`), which must be the only entry.
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
                createBodyFault(field, "not_alone", '"*" means all events and must be the only entry.'),
              ],
            ];
      return knownEventTypePatterns.has(pattern)
        ? []
        : [
            [
              "unknown_event_type",
              createBodyFault(
                field,
                "unknown",
                "The value must be an event type of the catalogue or a group such as order.*.",
              ),
            ],
          ];
    }),
    ...(isRepeated
      ? asFaults("invalid_field", [
          createBodyFault("/eventTypes", "duplicate", "eventTypes must not contain duplicates."),
        ])
      : []),
  ];
}

function metadataFaults(metadata: Readonly<Record<string, string>>): FailureDetail[] {
  const { metadataKeysMax, metadataKeyMax, metadataValueMax } = endpointInputLimits;
  const entries = Object.entries(metadata);
  if (entries.length > metadataKeysMax)
    return [createBodyFault("/metadata", "too_long", `metadata may have at most ${metadataKeysMax} keys.`)];
  const ofKeys = entries.flatMap(([key]) => findTextFaults("/metadata", key, { max: metadataKeyMax }));
  const ofValues = entries.flatMap(([key, value]) =>
    findTextFaults(`/metadata/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`, value, {
      min: 0,
      max: metadataValueMax,
      lines: "many",
    }),
  );
  return [...ofKeys, ...ofValues];
}
