/**
 * Executes the forms of the checkout page. Each form runs one GraphQL mutation of the checkout session. In
 * the same transaction, the browser that sent the form becomes the only one that may change the session. A
 * payment form also stores its idempotency key with the answer, so that sending it twice pays only once.
 */
import type { FastifyReply } from "fastify";
import { runInTransaction, type Transaction } from "#database/transaction.ts";
import { createFailure, Failure, getRetryAfterSeconds } from "#foundation/failure.ts";
import { amountMinorMax } from "#foundation/money.ts";
import { createRequestFingerprint, parseIdempotencyKey } from "#database/idempotency.ts";
import {
  pickAddressFieldsUsedInCountry,
  getEmailEnteredInAddressForm,
  findEnteredAddressFaults,
  readEnteredAddress,
} from "./address-view.ts";
import { formatWaitTime } from "./amounts.ts";
import { readEnteredCardFieldsWithoutValidation, parseSubmittedCardForm } from "./card-form.ts";
import { getFailureCodeMessage } from "./fault-texts.ts";
import {
  createFormSuccessUrlQuery,
  parseCheckoutSessionVersionField,
  parseFormInteger,
} from "./form-values.ts";
import { findFirstMissingCheckoutSection, hasCartLineThatNeedsShipping } from "./missing-parts.ts";
import { getLanguageSelectedByFormAction } from "./page-language.ts";
import { getPaymentPageReturnQuery } from "./payment-page.ts";
import { getDetailedPromotionRefusalMessage } from "./promotion-texts.ts";
import type { CheckoutLanguage } from "./texts.ts";
import {
  switchCheckoutPageLanguage,
  type CheckoutPageVisit,
  hasBuyerChosenToStayOnCheckoutPage,
} from "./visit.ts";
import {
  sendCheckoutPageWithFormErrors,
  redirectToCheckoutPage,
  sendFormFailureResponse,
  reloadCheckoutSessionAfterRefusedForm,
  changeCheckoutSessionAndRedirect,
  runCheckoutSessionMutation,
  claimCheckoutPageOrThrowConflict,
} from "./form-replies.ts";

type Answer = Promise<FastifyReply> | FastifyReply;
type CheckoutAction = (visit: CheckoutPageVisit, form: URLSearchParams) => Answer;

const actions: Readonly<Record<string, CheckoutAction>> = {
  country: (visit, form) =>
    sendCheckoutPageWithFormErrors(visit, 200, { typed: readEnteredAddress(form), isCountryNew: true }),
  address: setAddress,
  contact: setContact,
  delivery: selectDelivery,
  promotion: applyPromotion,
  "promotion-remove": (visit) =>
    changeCheckoutSessionAndRedirect(visit, visit.pageContext.documents.removePromotion, {
      to: createFormSuccessUrlQuery(),
    }),
  pay,
  "give-up": giveUp,
  cancel: (visit) =>
    changeCheckoutSessionAndRedirect(visit, visit.pageContext.documents.cancel, {
      input: { reason: "buyer_changed_mind" },
      to: "?left",
    }),
};

/**
 * The form actions that every browser may send, even a browser that may not change the checkout session. A
 * browser that sends an address becomes the only one that may change the session.
 */
const openActions: ReadonlySet<string> = new Set(["country", "address"]);
/** Form actions that the service accepts while the payment is being processed. */
const waitingActions: ReadonlySet<string> = new Set(["give-up"]);

/**
 * Runs the action of a form that a browser has sent. Returns undefined if the page has no form with this
 * action.
 */
export async function runCheckoutFormAction(
  visit: CheckoutPageVisit,
  form: URLSearchParams,
): Promise<FastifyReply | undefined> {
  const action = form.get("action") ?? "";
  const language = getLanguageSelectedByFormAction(action);
  if (language !== undefined) return showInLanguage(visit, form, language);
  const doIt = Object.hasOwn(actions, action) ? actions[action] : undefined;
  if (doIt === undefined) return undefined;
  const isWaiting = waitingActions.has(action);
  // A form is ignored, and the current page shown, if the status of the checkout session has changed since
  // the page was loaded. Payment forms are executed in any status, because a repeated payment form gets the
  // stored answer of its first execution.
  if (action !== "pay" && visit.session.status !== (isWaiting ? "processing" : "open"))
    return redirectToCheckoutPage(visit);
  if (!visit.isHolder && !openActions.has(action)) return refuseStranger(visit);
  try {
    return await doIt(visit, form);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return sendFormFailureResponse(visit, form, error);
  }
}

/** Shows the page in another language, with the values that the buyer has typed into the address form. */
function showInLanguage(
  visit: CheckoutPageVisit,
  form: URLSearchParams,
  language: CheckoutLanguage,
): FastifyReply {
  const changed = switchCheckoutPageLanguage(visit, language);
  const typed = readEnteredAddress(form);
  if (visit.session.status === "open" && Object.keys(typed).length > 0)
    return sendCheckoutPageWithFormErrors(changed, 200, { typed });
  return redirectToCheckoutPage(
    changed,
    hasBuyerChosenToStayOnCheckoutPage(visit) ? "?stay" : getPaymentPageReturnQuery(visit),
  );
}

/**
 * Refuses a form from a browser that may not change the checkout session, because only another browser may.
 * The page explains how the buyer can continue in this browser.
 */
function refuseStranger(visit: CheckoutPageVisit): FastifyReply {
  visit.request.failureCode = "role_not_allowed";
  return visit.session.status === "open"
    ? sendCheckoutPageWithFormErrors(visit, 403, { notice: visit.say("elsewhere") })
    : redirectToCheckoutPage(visit);
}

async function setAddress(visit: CheckoutPageVisit, form: URLSearchParams): Promise<FastifyReply> {
  const typed = readEnteredAddress(form);
  const faults = findEnteredAddressFaults(typed, visit);
  if (faults.length > 0) {
    visit.request.failureCode = "address_invalid";
    return sendCheckoutPageWithFormErrors(visit, 400, { typed, fieldFaults: faults });
  }
  const contactEmail = getEmailEnteredInAddressForm(typed, visit);
  const input = {
    address: pickAddressFieldsUsedInCountry(typed, visit),
    ...(contactEmail === undefined ? {} : { contactEmail }),
  };
  await runCheckoutSessionMutation(visit, visit.pageContext.documents.setAddress, {
    input,
    takesOver: true,
    entered: contactEmail === undefined ? ["address"] : ["address", "buyer_email"],
  });
  return redirectToCheckoutPage(
    visit,
    createFormSuccessUrlQuery(hasCartLineThatNeedsShipping(visit.session.cart) ? "#delivery" : ""),
  );
}

/**
 * Sets the buyer's e-mail address with its own form. The page has this form if the delivery address is
 * already set, or if the cart needs no delivery.
 */
async function setContact(visit: CheckoutPageVisit, form: URLSearchParams): Promise<FastifyReply> {
  const { pageContext, request, language } = visit;
  const contact = (form.get("email") ?? "").trim().slice(0, 1000);
  try {
    return await changeCheckoutSessionAndRedirect(visit, pageContext.documents.setContact, {
      input: { email: contact },
      entered: ["buyer_email"],
      to: createFormSuccessUrlQuery(),
    });
  } catch (error) {
    if (!(error instanceof Failure) || error.status !== 400) throw error;
    request.failureCode = error.code;
    return sendCheckoutPageWithFormErrors(visit, 400, {
      contact,
      contactFault: getFailureCodeMessage(contact === "" ? "email_empty" : "email_malformed", language),
    });
  }
}

async function selectDelivery(visit: CheckoutPageVisit, form: URLSearchParams): Promise<FastifyReply> {
  const optionId = form.get("optionId");
  if (optionId === null)
    return sendCheckoutPageWithFormErrors(visit, 400, {
      notice: getFailureCodeMessage("delivery_option_required", visit.language),
    });
  return changeCheckoutSessionAndRedirect(visit, visit.pageContext.documents.selectDelivery, {
    input: { optionId },
    to: createFormSuccessUrlQuery("#pay"),
  });
}

/**
 * Applies a promotion code to the cart. Wrong codes are counted together with those that are sent over the
 * REST API.
 */
async function applyPromotion(visit: CheckoutPageVisit, form: URLSearchParams): Promise<FastifyReply> {
  const { pageContext, request, viewer, language } = visit;
  const code = (form.get("code") ?? "").slice(0, 200);
  if (code.trim() === "")
    return sendCheckoutPageWithFormErrors(visit, 400, {
      code,
      codeFault: getFailureCodeMessage("promotion_code_empty", language),
    });
  try {
    await pageContext.services.limits.requireCodesLeft(request, viewer.cartId);
    return await changeCheckoutSessionAndRedirect(visit, pageContext.documents.applyPromotion, {
      input: { code },
      to: createFormSuccessUrlQuery(),
    });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return refuseCode(visit, code, await countIfWrongCode(visit, error));
  }
}

const wrongCodes: ReadonlySet<string> = new Set(["promotion_code_not_found", "promotion_not_applicable"]);

/**
 * Counts a failed attempt to apply a promotion code if the code was wrong. Returns the failure for the page:
 * the given failure, or `rate_limited` after too many wrong codes.
 */
async function countIfWrongCode(
  { pageContext, request, viewer }: CheckoutPageVisit,
  failure: Failure,
): Promise<Failure> {
  if (!wrongCodes.has(failure.code)) return failure;
  try {
    await pageContext.services.limits.countWrongCode(request, viewer.cartId);
    return failure;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

async function refuseCode(visit: CheckoutPageVisit, code: string, failure: Failure): Promise<FastifyReply> {
  const codeFault = codeFaultOf(visit, failure);
  if (codeFault === undefined) throw failure;
  visit.request.failureCode = failure.code;
  if (failure.status === 429)
    void visit.reply.header("retry-after", String(getRetryAfterSeconds(failure) ?? 1));
  return sendCheckoutPageWithFormErrors(await reloadCheckoutSessionAfterRefusedForm(visit), failure.status, {
    code,
    codeFault,
  });
}

/** Returns the error message for the promotion code field; undefined if the failure is not about the code. */
function codeFaultOf({ language, locale, say }: CheckoutPageVisit, failure: Failure): string | undefined {
  if (failure.status === 429)
    return say("tooManyCodes", { time: formatWaitTime(getRetryAfterSeconds(failure) ?? 1, language) });
  if (failure.status === 400) return getFailureCodeMessage("promotion_code_malformed", language);
  return wrongCodes.has(failure.code)
    ? getDetailedPromotionRefusalMessage(failure, { language, locale })
    : undefined;
}

async function pay(visit: CheckoutPageVisit, form: URLSearchParams): Promise<FastifyReply> {
  const { session, language, pageContext } = visit;
  const optionId = form.get("optionId");
  const isOtherDelivery =
    session.status === "open" && optionId !== null && optionId !== session.cart.delivery?.selectedOptionId;
  if (isOtherDelivery) {
    // The buyer has changed the delivery option in the form that pays, so the page showed the amount for the
    // old option. Nothing is paid yet; the page is shown again with the new amount.
    await runCheckoutSessionMutation(visit, pageContext.documents.selectDelivery, {
      input: { optionId },
    });
    return sendCheckoutPageWithFormErrors(await reloadCheckoutSessionAfterRefusedForm(visit), 409, {
      card: readEnteredCardFieldsWithoutValidation(visit, form),
      notice: getFailureCodeMessage("checkout_amount_changed", language),
    });
  }
  if (session.status === "open" && findFirstMissingCheckoutSection(session.cart) === "contact")
    return sendCheckoutPageWithFormErrors(visit, 409, {
      card: readEnteredCardFieldsWithoutValidation(visit, form),
      contact: "",
      contactFault: getFailureCodeMessage("email_empty", language),
    });
  // No card data is needed for an amount of 0, or if the buyer pays on the payment provider's page.
  if (amountOf(form) === 0 || session.paymentProvider !== "test") {
    await submit(visit, form, null);
    return redirectToCheckoutPage(visit);
  }
  return payByTestCard(visit, form);
}

async function payByTestCard(visit: CheckoutPageVisit, form: URLSearchParams): Promise<FastifyReply> {
  const { token, typed } = parseSubmittedCardForm(visit, form);
  if (token === undefined && visit.session.status !== "open") return redirectToCheckoutPage(visit);
  if (token === undefined) {
    visit.request.failureCode = "invalid_field";
    return sendCheckoutPageWithFormErrors(visit, 400, {
      card: typed,
      optionId: form.get("optionId") ?? undefined,
    });
  }
  await submit(visit, form, token);
  return redirectToCheckoutPage(visit);
}

const amountOf = (form: URLSearchParams): number | undefined =>
  parseFormInteger(form, "amountMinor", amountMinorMax);

/**
 * Submits the payment. The form contains the idempotency key, the amount and the version of the session, so
 * the buyer pays exactly the amount that the page showed.
 */
async function submit(
  visit: CheckoutPageVisit,
  form: URLSearchParams,
  paymentToken: string | null,
): Promise<void> {
  const { pageContext, viewer, request } = visit;
  const key = parseIdempotencyKey(form.get("key") ?? "");
  const amountMinor = amountOf(form);
  if (key === undefined || amountMinor === undefined)
    throw createFailure("checkout_session_version_conflict");
  const input = {
    expectedAmount: { amountMinor, currency: form.get("currency") ?? "" },
    paymentToken,
    expectedVersion: parseCheckoutSessionVersionField(form),
  };
  const { sessionId } = viewer;
  const claim = {
    ownerId: sessionId,
    merchantId: viewer.merchantId,
    key,
    fingerprint: createRequestFingerprint({ page: "checkout", input }),
  };
  await pageContext.services.doOnce(claim, async (transaction) => {
    await pageContext.documents.submit(
      { viewer, requestId: request.id, variables: { sessionId, key, input } },
      transaction,
    );
    await claimCheckoutPageOrThrowConflict(visit, transaction, false);
    return { status: 303, contentType: "text/plain", body: "" };
  });
}

/**
 * Lets the buyer pay in another way while the result of the running payment is unknown. The service refunds
 * the running payment if it succeeds later.
 */
async function giveUp(visit: CheckoutPageVisit, form: URLSearchParams): Promise<FastifyReply> {
  const { pageContext, viewer, request } = visit;
  const input = { reason: "buyer_gave_up", expectedVersion: parseCheckoutSessionVersionField(form) };
  const variables = { sessionId: viewer.sessionId, key: `page-${input.expectedVersion}`, input };
  const giveUpPayment = async (transaction: Transaction): Promise<void> => {
    await pageContext.documents.giveUp({ viewer, requestId: request.id, variables }, transaction);
    await claimCheckoutPageOrThrowConflict(visit, transaction, false);
  };
  await runInTransaction(pageContext.services.db, giveUpPayment, { merchantId: viewer.merchantId });
  return redirectToCheckoutPage(visit);
}
