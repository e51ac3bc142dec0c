/**
 * Creates clients of Stripe's API with the key of a merchant. The package `stripe` is loaded with the first
 * client, so that a service without live merchants does not load it. The client repeats a request only once,
 * and only after a closed connection. All other repetitions come from the driver of payment operations, with
 * the same idempotency key.
 */
import type Stripe from "stripe";
import {
  type PaymentConnectionWithDecryptedSecrets,
  loadDecryptedPaymentConnection,
} from "#commerce/payments/connections.ts";
import type { Database } from "#database/connect.ts";
import type { Clock } from "#foundation/clock.ts";
import type { EncryptionKeyring } from "#foundation/encryption.ts";

/** The base URL of Stripe's API. Tests use another URL. */
export const stripeApiBase = "https://api.stripe.com";

/**
 * Timeout of a request to Stripe, in milliseconds; shorter than the request timeout of the driver of payment
 * operations.
 */
const requestMsMax = 9_000;

const loadStripe = async (): Promise<typeof Stripe> => (await import("stripe")).default;

export async function createStripeClient(secretKey: string, apiBase: string): Promise<Stripe> {
  const [StripeClient, { protocol, hostname, port }] = [await loadStripe(), new URL(apiBase)];
  return new StripeClient(secretKey, {
    host: hostname,
    port: port === "" ? (protocol === "http:" ? 80 : 443) : Number(port),
    protocol: protocol === "http:" ? "http" : "https",
    maxNetworkRetries: 0,
    timeout: requestMsMax,
    telemetry: false,
  });
}

export interface StripeServices {
  readonly db: Database;
  readonly clock: Clock;
  readonly keyring: EncryptionKeyring;
  /** The base URL of Stripe's API. */
  readonly stripeApiBase: string;
}

/** Reads a payment connection, and creates a Stripe client with the secret key of the connection. */
export async function openStripeClientForConnection(
  { db, keyring, stripeApiBase: apiBase }: StripeServices,
  connectionId: string | null,
): Promise<{ readonly client: Stripe; readonly connection: PaymentConnectionWithDecryptedSecrets }> {
  const connection =
    connectionId === null ? undefined : await loadDecryptedPaymentConnection(db, keyring, connectionId);
  if (connection === undefined) throw new Error(`There is no payment connection ${connectionId}.`);
  return { client: await createStripeClient(connection.secretKey, apiBase), connection };
}

export interface SignedStripeEvent {
  /** The body of the webhook request, exactly as Stripe sent it. */
  readonly body: Buffer;
  readonly signature: string;
  readonly signingSecret: string;
  readonly now: Date;
}

/** Maximum age of an event's signature, in seconds. */
const toleranceSeconds = 300;

/**
 * Verifies the signature of a Stripe event and parses the event. Returns undefined if the signature is wrong,
 * or if the body is not JSON.
 */
export async function verifyStripeEvent({
  body,
  signature,
  signingSecret,
  now,
}: SignedStripeEvent): Promise<Stripe.Event | undefined> {
  const StripeClient = await loadStripe();
  try {
    return StripeClient.webhooks.constructEvent(
      body,
      signature,
      signingSecret,
      toleranceSeconds,
      undefined,
      now.getTime(),
    );
  } catch (error) {
    if (error instanceof StripeClient.errors.StripeSignatureVerificationError) return undefined;
    // A body that is correctly signed but is not JSON does not come from Stripe's webhooks.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
