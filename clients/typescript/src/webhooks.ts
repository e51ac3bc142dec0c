/**
 * Whether a webhook is genuine (Standard Webhooks), over the bytes as they came, and what it tells. It needs
 * nothing but WebCrypto, whose `verify` compares in constant time.
 */
import type { webhooks } from "./schema.ts";

/**
 * By `type`: each has its own `data.object`, which is an id alone where the endpoint is thin or the thing too
 * large.
 */
export type CommerceEvent = webhooks[keyof webhooks]["post"]["requestBody"]["content"]["application/json"];

/** `Headers`, of whatever realm or package. */
interface HeadersRead {
  get(name: string): string | null;
}

type HeadersTold = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface Received {
  /** As the server gives them; the names in any case. */
  readonly headers: HeadersRead | HeadersTold;
  /** The raw body: JSON that was parsed and written again is another text. */
  readonly body: string | Uint8Array;
}

export interface Trust {
  /** The endpoint's (`whsec_…`); while one is replaced, both. */
  readonly secret: string | readonly string[];
  /** How old it may be, and how far ahead. 300 unless told. */
  readonly toleranceSeconds?: number;
  /** In Unix seconds; the machine's clock unless told. */
  readonly now?: number;
}

/**
 * As the service's signature fixture calls them. Too old or new: somebody sends what they have overheard, or
 * a clock is wrong.
 */
export type WebhookFault =
  | "missing_header"
  | "malformed_timestamp"
  | "timestamp_too_old"
  | "timestamp_too_new"
  | "no_matching_signature";

export class WebhookError extends Error {
  override readonly name = "WebhookError";
  readonly fault: WebhookFault;

  constructor(fault: WebhookFault) {
    super(`The webhook was not verified: ${fault}.`);
    this.fault = fault;
  }
}

/**
 * The event; throws a WebhookError where it is not genuine. Events come at least once: pass over an `id` that
 * you have seen.
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
    if (await isSignedWith(each, signatures, signed))
      return JSON.parse(new TextDecoder().decode(body)) as CommerceEvent;
  throw new WebhookError("no_matching_signature");
}

interface SignedHeaders {
  readonly id: string;
  readonly timestamp: string;
  readonly signatures: readonly Uint8Array<ArrayBuffer>[];
}

function readHeaders(headers: Received["headers"]): SignedHeaders {
  const given = isRead(headers) ? headers : toHeaders(headers);
  const id = given.get("webhook-id");
  const timestamp = given.get("webhook-timestamp");
  const signature = given.get("webhook-signature");
  if (!id || !timestamp || !signature) throw new WebhookError("missing_header");
  if (!/^\d+$/.test(timestamp)) throw new WebhookError("malformed_timestamp");
  // Versions that are not known are passed over, and what cannot be a signature: each that is left costs a
  // reading of the whole body.
  const entries = signature.split(" ").filter((entry) => entry.startsWith("v1,"));
  const signatures = entries
    .flatMap((entry) => decode(entry.slice("v1,".length)) ?? [])
    .filter(({ length }) => length === signatureBytes);
  return { id, timestamp, signatures: signatures.slice(0, signaturesMax) };
}

/** Of HMAC with SHA-256. */
const signatureBytes = 32;

/**
 * The service sends two at most, while a secret is replaced; nobody who knows none shall make a receiver try
 * thousands.
 */
const signaturesMax = 5;

const isRead = (headers: Received["headers"]): headers is HeadersRead =>
  typeof headers["get" as keyof typeof headers] === "function";

function toHeaders(given: HeadersTold): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
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
  if (bytes === undefined || bytes.length === 0) throw new TypeError("A secret is `whsec_` and base64.");
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
