/**
 * Writes the id of a request into the SQL statements that the request runs, as a comment in the format of
 * sqlcommenter (https://google.github.io/sqlcommenter/spec/). PostgreSQL shows the comment in its log and in
 * `pg_stat_activity`.
 */
import { getCurrentRequestIdAndRoute } from "#foundation/request-origin.ts";
import { getCurrentRecordedSpan } from "#foundation/tracing.ts";

/**
 * Appends a comment with the id of the current request to a statement. Returns the statement unchanged if the
 * running code serves no request.
 */
export function appendRequestIdSqlComment(statement: string): string {
  const origin = getCurrentRequestIdAndRoute();
  if (origin === undefined) return statement;
  const comment = formatSqlComment({
    operation: origin.operationId,
    request_id: origin.requestId,
    route: origin.operationId === undefined ? origin.route : undefined,
    traceparent: getCurrentRecordedSpan()?.traceparent,
  });
  return `${statement} ${comment}`;
}

/**
 * Formats tags as an SQL comment, sorted by their names. Values that are undefined are left out. Names and
 * values are percent-encoded, so the comment contains no quote, asterisk or slash of a value, and no value
 * can end the comment.
 */
export function formatSqlComment(tags: Readonly<Record<string, string | undefined>>): string {
  const pairs = Object.entries(tags)
    .filter((pair): pair is [string, string] => pair[1] !== undefined)
    .map(([name, value]) => `${percentEncode(name)}='${percentEncode(value)}'`);
  return `/*${pairs.toSorted().join(",")}*/`;
}

/** Encodes all characters except letters, digits and `-._~`. `encodeURIComponent` alone leaves `!'()*`. */
const percentEncode = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
