/**
 * Converts the actions of the audit log to readable words: `apiKeyRotate` → “rotated the API key”. The name
 * of a GraphQL mutation ends with its verb, and the name of a REST operation begins with its verb.
 */

/** The past tense of the verbs in action names, with the verb's preposition, for example “added to”. */
const verbs: Readonly<Record<string, string>> = {
  activate: "activated",
  add: "added",
  adjust: "adjusted",
  apply: "applied",
  approve: "approved",
  attach: "attached",
  cancel: "canceled",
  capture: "captured",
  change: "changed",
  close: "closed",
  complete: "completed",
  confirm: "confirmed",
  create: "created",
  decline: "declined",
  delete: "deleted",
  deliver: "recorded the delivery of",
  disable: "disabled",
  enable: "enabled",
  end: "ended",
  fail: "recorded the failure of",
  generate: "generated",
  import: "imported",
  inspect: "inspected",
  merge: "merged",
  open: "opened",
  pack: "packed",
  pause: "paused",
  publish: "published",
  receive: "received",
  register: "registered",
  release: "released",
  remove: "removed",
  replay: "replayed",
  request: "requested",
  resolve: "resolved",
  resume: "resumed",
  revoke: "revoked",
  rotate: "rotated",
  select: "selected",
  set: "set",
  ship: "shipped",
  submit: "submitted",
  suspend: "suspended",
  test: "tested",
  track: "set the tracking of",
  uninstall: "uninstalled",
  unpublish: "unpublished",
  update: "changed",
  upsert: "saved",
  void: "voided",
};

/** The readable words for actions of the audit log whose names do not follow the general rule. */
const irregular: Readonly<Record<string, string>> = {
  cartBuyerSet: "set the buyer of the cart",
  cartMerge: "merged another cart into the cart",
  commandLineSignIn: "signed in the command line",
  consoleSignIn: "signed in to the console",
  consoleSignOut: "signed out of the console",
  installationCreate: "installed the app",
  installationScopesSet: "changed the permissions of the app",
  installationUninstall: "uninstalled the app",
  oauthGrantCreate: "allowed the app to access the shop",
  oauthGrantRevoke: "revoked the access of the app",
  orderHold: "put the order on hold",
  privacyErase: "erased the personal data of the buyer",
  staffRoleSet: "changed the role of the staff account",
  merchantBrandingUpdate: "changed the branding of the checkout",
  paymentProviderConnect: "connected the account at the payment provider",
  paymentProviderDisconnect: "disconnected the account at the payment provider",
  staffPasswordSet: "set a new password for the staff account",
  webhookDeliveryRetry: "retried the webhook delivery at once",
  webhookDeliveriesReplay: "replayed several webhook deliveries",
  webhookEndpointTest: "sent a test ping to the webhook endpoint",
};

/**
 * Words in action names that mean nothing to staff, for example “public”. The sentences of the audit log
 * leave them out.
 */
const omittedWords = new Set(["public", "hosted", "storefront"]);

const nouns: Readonly<Record<string, string>> = {
  api: "API",
  oauth: "OAuth",
  staff: "staff account",
};

const joinedNoun = (words: readonly string[]): string =>
  words
    .filter((word) => !omittedWords.has(word))
    .map((word) => nouns[word] ?? word)
    .join(" ")
    .replace("installation webhook", "webhook");

/**
 * Returns an action of the audit log in words, for example “rotated the API key”; undefined for an unknown
 * action.
 */
export function formatAuditAction(action: string): string | undefined {
  const known = irregular[action];
  if (known !== undefined) return known;
  const words = action
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(" ");
  const [first = "", last = ""] = [words[0], words.at(-1)];
  const isRest = verbs[last] === undefined;
  const verb = verbs[isRest ? first : last];
  const noun = joinedNoun(isRest ? words.slice(1) : words.slice(0, -1));
  return verb === undefined || noun === "" ? undefined : `${verb} the ${noun}`;
}

/** The actions by which the audit log can be filtered, in groups. */
export const auditActionGroups: Readonly<Record<string, string>> = {
  Apps:
    "installationCreate installationScopesSet installationSuspend installationResume installationUninstall " +
    "oauthGrantCreate oauthGrantRevoke",
  "API keys and tokens":
    "apiKeyCreate apiKeyRotate apiKeyRevoke internalTokenCreate internalTokenRevoke " +
    "trustedDocumentsRegister trustedDocumentRemove",
  Exports: "exportCreate exportCancel",
  Staff:
    "staffCreate staffDisable staffEnable staffPasswordSet staffRoleSet consoleSignIn consoleSignOut " +
    "commandLineSignIn",
  Webhooks:
    "webhookEndpointCreate webhookEndpointUpdate webhookEndpointEnable webhookEndpointDisable " +
    "webhookEndpointDelete webhookEndpointTest webhookSecretRotate webhookDeliveryReplay " +
    "webhookDeliveriesReplay webhookDeliveryRetry",
  "Carts and checkouts":
    "cartCreate cartLinesAdd cartLinesUpdate cartLinesRemove cartBuyerSet cartMarketChange cartMerge " +
    "cartAddressSet cartSavedAddressSet cartDeliveryOptionSelect cartPromotionApply cartPromotionRemove " +
    "cartRevoke savedAddressRemove hostedCheckoutSessionCreate hostedCheckoutSessionCancel " +
    "hostedCheckoutSessionAddressSet hostedCheckoutSessionContactSet " +
    "hostedCheckoutSessionDeliveryOptionSelect hostedCheckoutSessionPromotionApply " +
    "hostedCheckoutSessionPromotionRemove hostedCheckoutSessionSubmit hostedCheckoutSessionComplete " +
    "hostedCheckoutSessionFail",
  Orders:
    "orderConfirm orderHold orderRelease orderCancel orderCancellationApprove orderCancellationDecline " +
    "fulfillmentCreate fulfillmentPack fulfillmentShip fulfillmentTrack fulfillmentDeliver fulfillmentFail " +
    "fulfillmentCancel paymentCapture paymentVoid paymentDisputeOpen paymentDisputeClose refundCreate " +
    "returnRequest returnApprove returnDecline returnTrack returnReceive returnInspect returnClose " +
    "returnCancel warrantyRegister warrantyClaimOpen warrantyClaimResolve privacyErase",
  Catalog:
    "productCreate productUpdate productPublish productUnpublish productDelete productTranslationUpsert " +
    "productsImport variantUpsert pricesSet stockAdjust mediaAttach mediaRemove categoryUpsert " +
    "categoryDelete searchSynonymsSet",
  "Promotions and markets":
    "promotionCreate promotionUpdate promotionActivate promotionPause promotionEnd promotionCodesGenerate " +
    "marketUpsert taxClassUpsert taxRateUpsert taxRateUpdate taxRateDelete deliveryMethodUpsert policyUpsert",
  Merchant:
    "merchantCreate merchantUpdate merchantBrandingUpdate merchantSuspend merchantResume " +
    "paymentProviderConnect paymentProviderDisconnect",
  "Requests of apps (REST)":
    "setPublicCartAddress applyPublicCartPromotion removePublicCartPromotion revokePublicCart " +
    "cancelHostedCheckoutSession createInstallationWebhook replayInstallationWebhookDelivery",
};

export const getAuditActionsOfGroup = (group: string): readonly string[] =>
  (auditActionGroups[group] ?? "").split(" ");
