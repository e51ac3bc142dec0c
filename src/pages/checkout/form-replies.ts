/**
 * Functions for all forms of the checkout page. They run a form's mutation and record, in the same
 * transaction, which browser may change the checkout session. A successful form redirects; a failed form
 * shows the page with the error.
 */
import type { FastifyReply } from "fastify";
import { runInTransaction, type Transaction } from "#database/transaction.ts";
import { createFailure, Failure } from "#foundation/failure.ts";
import { type AddressFormFieldFault, readEnteredAddress } from "./address-view.ts";
import { recordBrowserThatEnteredPersonalData } from "#commerce/checkout/entered-data.ts";
import { tryClaimCheckoutPageForBrowser } from "#commerce/checkout/session-page.ts";
import type { CheckoutGraphqlDocumentRunner } from "./checkout-services.ts";
import { readEnteredCardFieldsWithoutValidation } from "./card-form.ts";
import { renderCheckoutPage, type RefusedCheckoutFormValuesAndErrors } from "./checkout-view.ts";
import type { CheckoutPageSession } from "./documents.ts";
import { getFailureMessage } from "./fault-texts.ts";
import { sendCheckoutPage, type CheckoutPageVisit } from "./visit.ts";

export const sendCheckoutPageWithFormErrors = (
  { reply, pageContext, ...visit }: CheckoutPageVisit,
  status: number,
  shown: RefusedCheckoutFormValuesAndErrors,
): FastifyReply =>
  sendCheckoutPage(
    reply.code(status),
    renderCheckoutPage({ reply, pageContext, ...visit }, shown),
    pageContext.services.publicUrl,
  );

export const redirectToCheckoutPage = ({ reply, path }: CheckoutPageVisit, to = ""): FastifyReply =>
  reply.redirect(path + to, 303);

/**
 * The codes of failures without an error message. After such a failure, the page shows the new status of the
 * checkout session, for example "completed".
 */
const failuresShownByState: ReadonlySet<string> = new Set([
  "checkout_session_processing",
  "checkout_session_completed",
  "checkout_session_canceled",
  "checkout_session_expired",
  "idempotency_in_progress",
]);

export async function sendFormFailureResponse(
  visit: CheckoutPageVisit,
  form: URLSearchParams,
  failure: Failure,
): Promise<FastifyReply> {
  const { code, status } = failure;
  if (failuresShownByState.has(code)) return redirectToCheckoutPage(visit);
  if (status === 429 || status >= 500) throw failure;
  visit.request.failureCode = code;
  const { language } = visit;
  if (form.get("action") === "pay" && status === 409) await reprice(visit);
  const fresh = await reloadCheckoutSessionAfterRefusedForm(visit);
  if (code === "address_market_mismatch")
    return sendCheckoutPageWithFormErrors(fresh, 409, {
      typed: readEnteredAddress(form),
      fieldFaults: [countryFault(getFailureMessage(failure, language))],
    });
  const choices = {
    optionId: form.get("optionId") ?? undefined,
    card: readEnteredCardFieldsWithoutValidation(visit, form),
  };
  const typed = form.get("action") === "address" ? { typed: readEnteredAddress(form) } : {};
  return sendCheckoutPageWithFormErrors(fresh, status, {
    ...choices,
    ...typed,
    notice: getFailureMessage(failure, language),
  });
}

const countryFault = (message: string): AddressFormFieldFault => ({
  field: "countryCode",
  message,
  summary: message,
});

/**
 * Computes the prices of the checkout session again, because the rollback of a refused payment has also
 * undone the new prices. Selects the same delivery option again, or none if that option is no longer
 * available. The page then shows an amount that can be paid.
 */
async function reprice(visit: CheckoutPageVisit): Promise<void> {
  const selected = visit.session.cart.delivery?.selectedOptionId ?? null;
  const isChosen = await tryDelivery(visit, selected);
  if (!isChosen && selected !== null) await tryDelivery(visit, null);
}

/**
 * Selects a delivery option, or none for null. Returns false if the option is no longer available. Ignores
 * other failures with an HTTP status below 500, because the page already shows the error of the buyer's
 * form.
 */
async function tryDelivery(visit: CheckoutPageVisit, optionId: string | null): Promise<boolean> {
  try {
    await runCheckoutSessionMutation(visit, visit.pageContext.documents.selectDelivery, {
      input: { optionId },
    });
    return true;
  } catch (error) {
    if (!(error instanceof Failure) || error.status >= 500) throw error;
    return error.code !== "invalid_field" && error.parts.conflict?.reason !== "address_required";
  }
}

/**
 * Loads the checkout session again after the service has refused a form. The page then shows the current
 * amounts, not those from before the form.
 */
export async function reloadCheckoutSessionAfterRefusedForm(
  visit: CheckoutPageVisit,
): Promise<CheckoutPageVisit> {
  const { viewer, request, pageContext } = visit;
  const documentRequest = { viewer, requestId: request.id, variables: { id: viewer.sessionId } };
  const session = await pageContext.documents.session<CheckoutPageSession | null>(documentRequest);
  return session === null ? visit : { ...visit, session };
}

interface SessionChangeOptions {
  readonly input?: Readonly<Record<string, unknown>>;
  readonly takesOver?: boolean;
  /**
   * The kinds of personal data in the form. The service records that this browser has sent them, so that the
   * page may show them completely in this browser.
   */
  readonly entered?: readonly ("address" | "buyer_email")[];
}

export async function changeCheckoutSessionAndRedirect(
  visit: CheckoutPageVisit,
  run: CheckoutGraphqlDocumentRunner,
  { to = "", ...options }: SessionChangeOptions & { readonly to?: string } = {},
): Promise<FastifyReply> {
  await runCheckoutSessionMutation(visit, run, options);
  return redirectToCheckoutPage(visit, to);
}

export function runCheckoutSessionMutation(
  visit: CheckoutPageVisit,
  run: CheckoutGraphqlDocumentRunner,
  { input = {}, takesOver = false, entered = [] }: SessionChangeOptions,
): Promise<void> {
  const { pageContext, viewer, request } = visit;
  const change = async (transaction: Transaction): Promise<void> => {
    await run(
      { viewer, requestId: request.id, variables: { sessionId: viewer.sessionId, input } },
      transaction,
    );
    await claimCheckoutPageOrThrowConflict(visit, transaction, takesOver);
    const { digest } = visit.browser;
    await recordBrowserThatEnteredPersonalData(transaction, {
      cartId: viewer.cartId,
      digest,
      kinds: entered,
    });
  };
  return runInTransaction(pageContext.services.db, change, { merchantId: viewer.merchantId });
}

export async function claimCheckoutPageOrThrowConflict(
  { viewer, browser }: CheckoutPageVisit,
  transaction: Transaction,
  takesOver: boolean,
): Promise<void> {
  const { sessionId } = viewer;
  const isHeld = await tryClaimCheckoutPageForBrowser(transaction, {
    sessionId,
    digest: browser.digest,
    takesOver,
  });
  // While this request was running, another browser has become the only one that may change the checkout
  // session. The next page explains this to the buyer.
  if (!isHeld) throw createFailure("checkout_session_version_conflict");
}
