/**
 * Handles deprecated operations: reads the directive `@deprecation` of an operation's document, and announces
 * the end of the operation in the headers of its answers and in its description.
 */
import type { GraphQLSchema, OperationDefinitionNode } from "graphql";
import { getDirectiveArguments } from "#mesh/operation-security.ts";

export interface RestOperationDeprecation {
  /** The time from which the REST operation is deprecated. */
  readonly since: Date;
  /** The time from which the deprecated REST operation may no longer answer. */
  readonly sunset: Date;
  /** A sentence that says what clients should use instead of the deprecated operation. */
  readonly instead: string;
}

const dayMs = 86_400_000;
/**
 * The minimum number of days between the deprecation and the end of a REST operation. The key is the
 * stability of the operation.
 */
const noticeDays = { stable: 365, candidate: 30 } as const;

/**
 * Returns the deprecation of an operation; null if its document has no `@deprecation`. Throws an error if a
 * date is invalid, or if fewer days than required lie between the deprecation and the end of the operation.
 */
export function readOperationDeprecation(
  schema: GraphQLSchema,
  definition: OperationDefinitionNode,
  stability: keyof typeof noticeDays,
): RestOperationDeprecation | null {
  const announced = getDirectiveArguments(schema, definition, "deprecation");
  if (announced === undefined) return null;
  const id = definition.name?.value ?? "An unnamed operation";
  const since = parseDay(id, announced["since"]);
  const sunset = parseDay(id, announced["sunset"]);
  const days = noticeDays[stability];
  if (sunset.getTime() - since.getTime() < days * dayMs)
    throw new Error(
      `${id}: the sunset of a ${stability} operation must be at least ${days} days after its deprecation.`,
    );
  return { since, sunset, instead: String(announced["instead"]) };
}

function parseDay(id: string, value: unknown): Date {
  const day = new Date(`${String(value)}T00:00:00.000Z`);
  if (Number.isNaN(day.getTime()) || formatDay(day) !== value)
    throw new Error(`${id}: the dates of @deprecation must have the form YYYY-MM-DD.`);
  return day;
}

const formatDay = (day: Date): string => day.toISOString().slice(0, 10);

/**
 * Returns the headers of a deprecated operation's answers: `Deprecation` (RFC 9745, a date in Unix seconds),
 * `Sunset` (RFC 8594, an HTTP date), and a link to the page that explains both. Returns no headers for other
 * operations.
 */
export function toDeprecationHeaders(
  deprecation: RestOperationDeprecation | null,
  documentationUrl: string,
): Record<string, string> {
  if (deprecation === null) return {};
  return {
    deprecation: `@${deprecation.since.getTime() / 1000}`,
    sunset: deprecation.sunset.toUTCString(),
    link: `<${documentationUrl}>; rel="deprecation sunset"; type="text/html"`,
  };
}

/**
 * Returns the description of an operation. The description of a deprecated operation ends with the dates and
 * with what clients use instead.
 */
export function addDeprecationToDescription(
  description: string,
  deprecation: RestOperationDeprecation | null,
): string {
  if (deprecation === null) return description;
  const { since, sunset, instead } = deprecation;
  return `${description}\n\nDeprecated since ${formatDay(since)}, ends on ${formatDay(sunset)}. ${instead}`;
}
