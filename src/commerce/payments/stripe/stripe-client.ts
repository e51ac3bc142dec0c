/**
 * Creates clients of Stripe's API for the key of a merchant. The package is loaded with the first client, so
 * that a service without live merchants does not load it. The driver of payment operations repeats requests
 * with the same idempotency key; the client itself only repeats a request once after a closed connection.
 */
import type Stripe from "stripe";
import { type OpenedPaymentConnection, openPaymentConnection } from "#commerce/payments/connections.ts";
import type { Database } from "#database/connect.ts";
import type { Clock } from "#foundation/clock.ts";
import type { EncryptionKeyring } from "#foundation/encryption.ts";

/** The base URL of Stripe's API. Another one is used only in tests. */
export const stripeApiBase = "https://api.stripe.com";

/** Time after which a request is given up, in milliseconds; shorter than the driver's own limit. */
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

/** Opens a connection and creates a client with its key. */
export async function openStripe(
  { db, keyring, stripeApiBase: apiBase }: StripeServices,
  connectionId: string | null,
): Promise<{ readonly client: Stripe; readonly connection: OpenedPaymentConnection }> {
  const connection =
    connectionId === null ? undefined : await openPaymentConnection(db, keyring, connectionId);
  if (connection === undefined) throw new Error(`There is no payment connection ${connectionId}.`);
  return { client: await createStripeClient(connection.secretKey, apiBase), connection };
}

export interface SignedStripeEvent {
  /** The body exactly as Stripe sent it. */
  readonly body: Buffer;
  readonly signature: string;
  readonly signingSecret: string;
  readonly now: Date;
}

/** Time for which a signature is valid, in seconds. */
const toleranceSeconds = 300;

/** Verifies the signature of an event and parses the event. Returns undefined if the signature is wrong. */
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
    // A correctly signed body that is not JSON cannot come from Stripe.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
