/** The MCP prompts: instructions for common tasks, which name the tools to call and the facts to report. */
import { INVALID_PARAMS, type Prompt, ProtocolError } from "@modelcontextprotocol/server";

type PromptArguments = Readonly<Record<string, string>>;

interface TaskPrompt extends Prompt {
  /**
   * Returns the instructions of the prompt for the given arguments. The caller has checked that all required
   * arguments are present.
   */
  readonly write: (args: PromptArguments) => string;
}

const taskPrompts: readonly TaskPrompt[] = [
  {
    name: "find_products",
    title: "Find products",
    description: "Searches published products for what a person needs, and compares the best ones.",
    arguments: [
      { name: "need", description: "The product that the person needs, in their own words.", required: true },
      { name: "country", description: "The country of delivery, ISO 3166-1 alpha-2.", required: true },
    ],
    write: ({ need = "", country = "" }) =>
      `Find products for this need: ${need}\n\n` +
      `Call searchPublicProducts for the country ${country}. Try other words and filters if there are few ` +
      "results. Call getPublicMerchantProduct for up to three results and compare their price, availability " +
      "and variants. Prices are integers in the minor unit of the currency.",
  },
  {
    name: "explain_order",
    title: "Explain an order",
    description: "Explains the state of an order, and what the buyer can do next.",
    arguments: [{ name: "orderId", description: "The id of the order, `ord_…`.", required: true }],
    write: ({ orderId = "" }) =>
      `Explain the order ${orderId} to its buyer.\n\n` +
      "Call getStorefrontOrder, and describe payment, shipment and returns with their dates. Then call " +
      "getStorefrontOrderCancellationEligibility and getStorefrontOrderAfterSalesEligibility, and list what " +
      "the buyer can still do and until when. If an option is refused, give the reasons from the answer.",
  },
  {
    name: "apply_promotion_code",
    title: "Apply a promotion code",
    description: "Applies a promotion code to a cart, and explains the result.",
    arguments: [
      { name: "cartId", description: "The id of the cart, `crt_…`.", required: true },
      { name: "code", description: "The promotion code as the buyer entered it.", required: true },
    ],
    write: ({ cartId = "", code = "" }) =>
      `Apply the promotion code ${code} to the cart ${cartId}.\n\n` +
      "Call getPublicCart for the cart's version and present code. If the cart has another code, ask before " +
      "you replace it. Call applyPublicCartPromotion with a new random idempotencyKey; if the call is " +
      "interrupted, repeat it with the same idempotencyKey. Compare the totals before and after.",
  },
  {
    name: "set_up_webhook",
    title: "Set up a webhook",
    description: "Registers a webhook endpoint, and helps to verify the signatures of its deliveries.",
    arguments: [
      { name: "url", description: "The https URL of the receiver.", required: true },
      { name: "eventTypes", description: "The event types, separated by commas.", required: false },
    ],
    write: ({ url = "", eventTypes = "" }) =>
      `Set up a webhook endpoint at ${url}.\n\n` +
      (eventTypes === ""
        ? "Read the resource of the event types, and ask which of them the receiver needs.\n"
        : `Event types: ${eventTypes}\n`) +
      "Call listInstallationWebhooks and stop if the URL is registered already. Call " +
      "createInstallationWebhook. The answer is the only one that contains the signing secret: ask the " +
      "person to store it, and do not repeat it later. Call getInstallationWebhookSignatureFixture and show " +
      "how to check a verifier with it, as the guide on webhooks describes.",
  },
  {
    name: "recover_deliveries",
    title: "Replay failed deliveries",
    description: "Finds webhook deliveries that failed for good, and sends them again.",
    arguments: [],
    write: () =>
      "Replay the webhook deliveries that failed for good.\n\n" +
      "Call getInstallationCredentialReadiness for the problems of the endpoints. Call " +
      "listInstallationWebhookEvents and collect the deliveries with the status exhausted. Report the causes " +
      "and ask before you continue. Then call replayInstallationWebhookDelivery once for each delivery, each " +
      "with a new idempotencyKey, and stop when the rate limit is reached.",
  },
];

export const listMcpPrompts = (): Prompt[] => taskPrompts.map(({ write: _write, ...prompt }) => prompt);

/** Returns the instructions of a prompt. Throws INVALID_PARAMS for unknown prompts and missing arguments. */
export function renderMcpPrompt(name: string, args: PromptArguments): { description: string; text: string } {
  const prompt = taskPrompts.find((known) => known.name === name);
  if (prompt === undefined) {
    const names = taskPrompts.map((known) => known.name).join(", ");
    throw new ProtocolError(INVALID_PARAMS, `There is no prompt "${name}". Prompts: ${names}.`);
  }
  const missing = prompt.arguments?.find(
    (argument) => argument.required === true && (args[argument.name] ?? "") === "",
  );
  if (missing !== undefined)
    throw new ProtocolError(INVALID_PARAMS, `The prompt ${name} requires the argument "${missing.name}".`);
  return { description: prompt.description ?? "", text: prompt.write(args) };
}
