/**
 * Verifies the signature of a webhook (Standard Webhooks) over the received bytes, and parses its event. It
 * needs only WebCrypto, whose `verify` compares in constant time.
 */
import { type components, eventSchemaVersions, type webhooks } from "./schema.ts";

/**
 * A webhook event of a type that this version of the client knows. `type` determines the type of
 * `data.object`. `data.object` has only an id if the endpoint receives thin events or the object is too
 * large.
 */
export type KnownCommerceEvent =
  webhooks[keyof webhooks]["post"]["requestBody"]["content"]["application/json"];

type AnyEvent = components["schemas"]["WebhookEvent"];

/**
 * A webhook event that this version of the client does not know: its type, or the version of its schema, is
 * newer.
 */
export interface UnknownCommerceEvent extends Omit<AnyEvent, "type" | "data"> {
  readonly type: "unknown";
  /** The type that the service sent, for example `order.archived`. */
  readonly receivedType: string;
  readonly data: Omit<AnyEvent["data"], "object"> & {
    readonly object: Readonly<Record<string, unknown>> & { readonly id: string };
  };
}

/**
 * A webhook event. `switch (event.type)` narrows `event.data`; `case "unknown"` is an event of a later
 * release.
 */
export type CommerceEvent = KnownCommerceEvent | UnknownCommerceEvent;

/** A `Headers` object, possibly of another JavaScript realm or package. */
interface HeadersObject {
  get(name: string): string | null;
}

type HeadersRecord = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface Received {
  /** The request headers as the server provides them. The case of their names does not matter. */
  readonly headers: HeadersObject | HeadersRecord;
  /**
   * The raw body as it was received. JSON that was parsed and serialized again has other bytes, so its
   * signature is wrong.
   */
  readonly body: string | Uint8Array;
}

export interface Trust {
  /** The endpoint's signing secret (`whsec_…`). During a rotation, both secrets. */
  readonly secret: string | readonly string[];
  /** Maximum difference in seconds between the webhook's timestamp and the current time; 300 by default. */
  readonly toleranceSeconds?: number;
  /** The current time in Unix seconds; the machine's clock by default. */
  readonly now?: number;
}

/**
 * The reasons why a webhook was not verified, as the service's signature fixture names them. A timestamp that
 * is too old or too new means that a recorded webhook was sent again, or that a clock is wrong. The body is
 * malformed if its signature is valid but it is no event.
 */
export type WebhookFault =
  | "missing_header"
  | "malformed_timestamp"
  | "timestamp_too_old"
  | "timestamp_too_new"
  | "no_matching_signature"
  | "malformed_body";

export class WebhookError extends Error {
  override readonly name = "WebhookError";
  readonly fault: WebhookFault;

  constructor(fault: WebhookFault) {
    super(`The webhook was not verified: ${fault}.`);
    this.fault = fault;
  }
}

/**
 * Returns the event of a genuine webhook; throws WebhookError otherwise. Events are delivered at least once,
 * so ignore an `id` that you have already processed.
 */
export async function verifyWebhook(
  received: Received,
  { secret, toleranceSeconds = 300, now = Date.now() / 1000 }: Trust,
): Promise<CommerceEvent> {
  const { id, timestamp, signatures } = readHeaders(received.headers);
  const seconds = Number(timestamp);
  if (seconds < Math.floor(now) - toleranceSeconds) throw new WebhookError("timestamp_too_old");
  if (seconds > Math.floor(now) + toleranceSeconds) throw new WebhookError("timestamp_too_new");
  const body = typeof received.body === "string" ? encode(received.body) : received.body;
  const signed = join(encode(`${id}.${timestamp}.`), body);
  for (const each of [secret].flat())
    if (await isSignedWith(each, signatures, signed)) return parseEvent(new TextDecoder().decode(body));
  throw new WebhookError("no_matching_signature");
}

function parseEvent(text: string): CommerceEvent {
  const event = parseObject(text);
  if (typeof event?.type !== "string") throw new WebhookError("malformed_body");
  const { type, schemaVersion } = event;
  // A later version of an event's schema may have other fields than the types of this client.
  if (Object.hasOwn(eventSchemaVersions, type) && eventSchemaVersions[type] === schemaVersion)
    return event as unknown as KnownCommerceEvent;
  return { ...event, type: "unknown", receivedType: type } as UnknownCommerceEvent;
}

function parseObject(text: string): Partial<AnyEvent> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

interface SignedHeaders {
  readonly id: string;
  readonly timestamp: string;
  readonly signatures: readonly Uint8Array<ArrayBuffer>[];
}

function readHeaders(headers: Received["headers"]): SignedHeaders {
  const headersObject = isHeadersObject(headers) ? headers : toHeaders(headers);
  const id = headersObject.get("webhook-id");
  const timestamp = headersObject.get("webhook-timestamp");
  const signature = headersObject.get("webhook-signature");
  if (!id || !timestamp || !signature) throw new WebhookError("missing_header");
  if (!/^\d+$/.test(timestamp)) throw new WebhookError("malformed_timestamp");
  // Ignores signatures of unknown versions and values that cannot be signatures, because each check reads the
  // whole body.
  const entries = signature.split(" ").filter((entry) => entry.startsWith("v1,"));
  const signatures = entries
    .flatMap((entry) => decode(entry.slice("v1,".length)) ?? [])
    .filter(({ length }) => length === signatureBytes);
  return { id, timestamp, signatures: signatures.slice(0, signaturesMax) };
}

/** The length of an HMAC-SHA-256 signature in bytes. */
const signatureBytes = 32;

/**
 * Maximum number of signatures that are checked. The service sends at most two, during a rotation. Without
 * the limit, attackers could make a receiver check thousands of signatures.
 */
const signaturesMax = 5;

const isHeadersObject = (headers: Received["headers"]): headers is HeadersObject =>
  typeof headers["get" as keyof typeof headers] === "function";

function toHeaders(record: HeadersRecord): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(record)) {
    const [one, ...others] = [value ?? []].flat();
    if (one !== undefined && others.length === 0 && name.toLowerCase().startsWith("webhook-"))
      headers.set(name, one);
  }
  return headers;
}

async function isSignedWith(
  secret: string,
  signatures: SignedHeaders["signatures"],
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const bytes = decode(secret.replace(/^whsec_/, ""));
  if (bytes === undefined || bytes.length === 0)
    throw new TypeError("A secret must be `whsec_` followed by base64.");
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, [
    "verify",
  ]);
  for (const signature of signatures)
    if (await crypto.subtle.verify("HMAC", key, signature, signed)) return true;
  return false;
}

const encode = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

function decode(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function join(head: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(head.length + tail.length);
  whole.set(head);
  whole.set(tail, head.length);
  return whole;
}
