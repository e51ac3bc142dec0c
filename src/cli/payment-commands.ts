/** The commands `payment-provider`: connect and disconnect a merchant's account at a payment provider. */
import { Command } from "commander";
import { createEncryptionKeyringFromSettings } from "#app/encryption-keys.ts";
import { getPublicUrl, parseServiceSettings } from "#app/settings.ts";
import {
  connectPaymentProvider,
  disconnectPaymentProvider,
  findSigningSecretFaults,
} from "#commerce/payments/connections.ts";
import { createPaymentProviderEventsUrl } from "#commerce/payments/provider-events.ts";
import { verifyStripeKey } from "#commerce/payments/stripe/verify-key.ts";
import { requireNoInputFieldErrors } from "#foundation/faults.ts";
import { getCliCommandEnvironment } from "./command-session.ts";
import {
  createCliCommand,
  type JsonOutputOption,
  runAuditedCliCommand,
  runFunctionWithMigratedDatabase,
} from "./command.ts";
import { printCommandResult } from "./output.ts";

export const createPaymentProviderCommand = (): Command =>
  new Command("payment-provider")
    .description("Connects merchants to their accounts at Stripe.")
    .addCommand(connectCommand())
    .addCommand(disconnectCommand())
    .addCommand(listCommand());

interface MerchantOption extends JsonOutputOption {
  readonly merchant: string;
}

/** The keys are read from standard input, because other users of the machine can see arguments. */
function connectCommand(): Command {
  return createCliCommand(
    "connect",
    "Connects a merchant's Stripe account, or replaces its keys. Reads the secret key and, on a second line, the " +
      "signing secret of the webhook endpoint from standard input. Without the second line, the stored signing " +
      "secret stays.",
  )
    .requiredOption("--merchant <id>", "the merchant's id, mer_…")
    .action(async (given: MerchantOption) => {
      const { merchant: merchantId } = given;
      const [secretKey = "", signingSecret = ""] = (await getCliCommandEnvironment().readInput())
        .split("\n")
        .map((line) => line.trim());
      const secret = signingSecret === "" ? null : signingSecret;
      requireNoInputFieldErrors(findSigningSecretFaults("/webhookSigningSecret", secret));
      const { stripeApiBase } = parseServiceSettings(process.env);
      const account = await verifyStripeKey(secretKey, stripeApiBase);
      await runAuditedCliCommand(
        given,
        "paymentProviderConnect",
        async (transaction, { settings, ...access }) => {
          const keyring = createEncryptionKeyringFromSettings(settings);
          const id = await connectPaymentProvider(
            transaction,
            { ...access, keyring },
            { merchantId, account, secretKey, signingSecret: secret },
          );
          const { accountId, accountName, mode } = account;
          return {
            id,
            accountId,
            accountName,
            mode,
            webhookUrl: createPaymentProviderEventsUrl(getPublicUrl(settings), id),
          };
        },
      );
    });
}

function disconnectCommand(): Command {
  return createCliCommand(
    "disconnect",
    "Ends a merchant's connection. Its payments can still be captured, voided and refunded.",
  )
    .argument("<id>", "the connection's id, pcn_…")
    .requiredOption("--merchant <id>", "the merchant's id, mer_…")
    .action(async (id: string, given: MerchantOption) => {
      await runAuditedCliCommand(given, "paymentProviderDisconnect", async (transaction, access) => {
        await disconnectPaymentProvider(transaction, access, {
          merchantId: given.merchant,
          connectionId: id,
        });
        return { id, disconnected: true };
      });
    });
}

function listCommand(): Command {
  return createCliCommand("list", "Lists the connections of all merchants, without their keys.")
    .option("--merchant <id>", "only those of the merchant with this id")
    .action(async ({ merchant, json }: JsonOutputOption & { merchant?: string }) => {
      await runFunctionWithMigratedDatabase(async ({ db }, settings) => {
        const rows = await db
          .selectFrom("paymentConnection")
          .select([
            "id",
            "merchantId",
            "provider",
            "mode",
            "accountId",
            "accountName",
            "keyHint",
            "hasSigningSecret",
            "disconnectedAt",
          ])
          .$if(merchant !== undefined, (query) => query.where("merchantId", "=", merchant ?? ""))
          .orderBy("id")
          .execute();
        const publicUrl = getPublicUrl(settings);
        printCommandResult(
          rows.map((row) =>
            Object.assign(row, { webhookUrl: createPaymentProviderEventsUrl(publicUrl, row.id) }),
          ),
          json === true,
        );
      });
    });
}
