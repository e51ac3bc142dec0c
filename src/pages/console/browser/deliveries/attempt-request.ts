/**
 * Reconstructs the request of a webhook delivery attempt: its headers, its formatted body, and a curl command
 * that sends the request again. The service does not store the headers, but all except `webhook-signature`
 * and `traceparent` follow from the delivery and the attempt.
 */
import type { ConsoleDeliveryAttempt, ConsoleWebhookDeliveryDetails } from "./delivery-documents.ts";

export interface DeliveryAttemptRequestHeader {
  readonly name: string;
  readonly value: string;
  /** True if the header's value is unknown and `value` is a description of it. */
  readonly isDescribed: boolean;
}

type SentDelivery = Pick<ConsoleWebhookDeliveryDetails, "id" | "replayOf" | "installation"> & {
  readonly event: Pick<ConsoleWebhookDeliveryDetails["event"], "id" | "type">;
};
type SentAttempt = Pick<ConsoleDeliveryAttempt, "number" | "at">;

const sent = (name: string, value: string): DeliveryAttemptRequestHeader => ({
  name,
  value,
  isDescribed: false,
});
const described = (name: string, value: string): DeliveryAttemptRequestHeader => ({
  name,
  value,
  isDescribed: true,
});

/** Returns the headers of a delivery attempt in the order in which they are sent. */
export function listDeliveryAttemptRequestHeaders(
  { id, replayOf, installation, event }: SentDelivery,
  { number, at }: SentAttempt,
): readonly DeliveryAttemptRequestHeader[] {
  return [
    sent("content-type", "application/json"),
    sent("user-agent", "CommerceGateway-Webhooks/1"),
    sent("webhook-id", event.id),
    sent("webhook-timestamp", String(Math.floor(Date.parse(at) / 1000))),
    described("webhook-signature", "v1,… (HMAC-SHA256 with the endpoint’s signing secret; not stored)"),
    sent("webhook-event-type", event.type),
    sent("webhook-delivery-id", id),
    sent("webhook-installation-id", installation.id),
    sent("webhook-attempt", String(number)),
    sent("webhook-replay", String(replayOf !== null)),
    described("traceparent", "00-… (the trace of the delivery; not stored)"),
  ];
}

/** Returns a JSON text with an indentation of two spaces. A text that is not JSON is returned unchanged. */
export function formatJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

export interface JsonSyntaxToken {
  readonly kind: "name" | "text" | "value" | "plain";
  readonly text: string;
}

const tokenPattern = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/**
 * Splits a JSON text into property names, strings, other values and the characters between them, so that the
 * page can colour them.
 */
export function tokenizeJson(json: string): readonly JsonSyntaxToken[] {
  const tokens: JsonSyntaxToken[] = [];
  let end = 0;
  for (const match of json.matchAll(tokenPattern)) {
    if (match.index > end) tokens.push({ kind: "plain", text: json.slice(end, match.index) });
    const [whole, quoted, colon] = match;
    if (quoted === undefined) tokens.push({ kind: "value", text: whole });
    else tokens.push({ kind: colon === undefined ? "text" : "name", text: quoted });
    if (colon !== undefined) tokens.push({ kind: "plain", text: colon });
    end = match.index + whole.length;
  }
  if (end < json.length) tokens.push({ kind: "plain", text: json.slice(end) });
  return tokens;
}

const quoteForShell = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

interface CurlRequest {
  readonly url: string;
  readonly headers: readonly DeliveryAttemptRequestHeader[];
  readonly body: string;
}

/**
 * Returns a curl command for a POSIX shell that sends the request of a delivery attempt again. The command
 * does not contain the headers whose values are not known.
 */
export function formatDeliveryAttemptAsCurl({ url, headers, body }: CurlRequest): string {
  const lines = headers
    .filter(({ isDescribed }) => !isDescribed)
    .map(({ name, value }) => `--header ${quoteForShell(`${name}: ${value}`)}`);
  return [`curl --request POST ${quoteForShell(url)}`, ...lines, `--data-raw ${quoteForShell(body)}`].join(
    " \\\n  ",
  );
}
