/** Checks the secret key of a Stripe account that a merchant wants to connect. */
import type { VerifiedPaymentProviderAccount } from "#commerce/payments/connections.ts";
import { createFailure, type Failure } from "#foundation/failure.ts";
import { createInvalidFieldFailure } from "#foundation/faults.ts";
import { createStripeClient } from "./stripe-client.ts";
import { isStripeKeyRefusalError } from "./stripe-errors.ts";

/**
 * Matches secret keys (`sk_`) and restricted keys (`rk_`) of both modes. Publishable keys (`pk_`) are not
 * accepted, because they are no secrets.
 */
const keyPattern = /^(?:sk|rk)_(live|test)_\w{8,240}$/;

const keyFailure = (code: string, message: string): Failure =>
  createInvalidFieldFailure("invalid_field", "/secretKey", { code, message });

/** Reads the Stripe account to which a key belongs. Throws `invalid_field` if Stripe does not accept the key. */
export async function verifyStripeKey(
  secretKey: string,
  apiBase: string,
): Promise<VerifiedPaymentProviderAccount> {
  const mode = keyPattern.exec(secretKey)?.[1];
  if (mode !== "live" && mode !== "test")
    throw keyFailure(
      "pattern_mismatch",
      '"secretKey" must be a secret key (sk_live_… or sk_test_…) or a restricted key (rk_live_… or rk_test_…).',
    );
  const client = await createStripeClient(secretKey, apiBase);
  try {
    const { id, business_profile: profile } = await client.accounts.retrieveCurrent();
    return { provider: "stripe", mode, accountId: id, accountName: profile?.name ?? null };
  } catch (error) {
    if (isStripeKeyRefusalError(error))
      throw keyFailure("refused", `Stripe did not accept "secretKey", a key of the ${mode} mode.`);
    throw createFailure("upstream_timeout", {
      message: 'Stripe could not be asked whether "secretKey" is valid, so nothing was changed. Try again.',
      cause: error,
    });
  }
}
