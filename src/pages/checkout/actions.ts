/**
 * What the page's forms do, each by the session's own mutation of the graph. A change and the browser's hold
 * on the page are one transaction; a payment is one with the record of its key as well, so that a form that
 * is sent twice pays once.
 */
import type { FastifyReply } from "fastify";
import { inTransaction, type Transaction } from "#database/transaction.ts";
import { fail, Failure, retryAfterSecondsOf } from "#foundation/failure.ts";
import { amountMinorMax } from "#foundation/money.ts";
import { fingerprintOf, parseIdempotencyKey } from "#database/idempotency.ts";
import { askedOf, contactOf, faultsOfTyped, type FieldFault, typedAddress } from "./address-view.ts";
import { formatSeconds } from "./amounts.ts";
import { claimSessionPage } from "#commerce/checkout/session-page.ts";
import type { RunField } from "./checkout-services.ts";
import { checkoutPage, type Shown } from "./checkout-view.ts";
import type { ShownSession } from "./documents.ts";
import { messageOf, messageOfFailure } from "./fault-texts.ts";
import { knownToken } from "./payment-view.ts";
import { missingOf, needsDelivery } from "./readiness.ts";
import { sendPage, type Visit } from "./visit.ts";

type Answer = Promise<FastifyReply> | FastifyReply;
type Act = (visit: Visit, form: URLSearchParams) => Answer;

const actions: Readonly<Record<string, Act>> = {
  country: (visit, form) => show(visit, 200, { typed: typedAddress(form), isCountryNew: true }),
  address: setAddress,
  contact: setContact,
  delivery: selectDelivery,
  promotion: applyPromotion,
  "promotion-remove": (visit, form) =>
    changeThenBack(visit, visit.room.documents.removePromotion, { to: changedTo(form) }),
  pay,
  "give-up": giveUp,
  cancel: (visit) =>
    changeThenBack(visit, visit.room.documents.cancel, {
      input: { reason: "buyer_changed_mind" },
      to: "?left",
    }),
};

/** What a browser may do that the session does not belong to: give an address of its own. */
const openActions: ReadonlySet<string> = new Set(["country", "address"]);
/** What there is to do while the payment is under way. */
const waitingActions: ReadonlySet<string> = new Set(["give-up"]);

/** Undefined: the page has no such form. */
export async function act(visit: Visit, form: URLSearchParams): Promise<FastifyReply | undefined> {
  const action = form.get("action") ?? "";
  const doIt = Object.hasOwn(actions, action) ? actions[action] : undefined;
  if (doIt === undefined) return undefined;
  const isWaiting = waitingActions.has(action);
  // Sent before it went on: the page tells what it is like now. A payment that is sent again is answered by
  // its record.
  if (action !== "pay" && visit.session.status !== (isWaiting ? "processing" : "open")) return back(visit);
  if (!visit.isHolder && !openActions.has(action)) return refuseStranger(visit);
  try {
    return await doIt(visit, form);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return answerFailure(visit, form, error);
  }
}

/** The page says whose it is, and how to go on. */
function refuseStranger(visit: Visit): FastifyReply {
  visit.request.failureCode = "role_not_allowed";
  return visit.session.status === "open" ? show(visit, 403, { notice: visit.say("elsewhere") }) : back(visit);
}

const show = ({ reply, room, ...visit }: Visit, status: number, shown: Shown): FastifyReply =>
  sendPage(reply.code(status), checkoutPage({ reply, room, ...visit }, shown), room.services.publicUrl);

const back = ({ reply, path }: Visit, to = ""): FastifyReply => reply.redirect(path + to, 303);

/**
 * Where a change leads: what was said before is no longer shown, and the means of payment that was ticked
 * stays so.
 */
function changedTo(form: URLSearchParams, anchor = ""): string {
  const token = knownToken(form.get("token"));
  return `?changed${token === undefined ? "" : `&token=${token}`}${anchor}`;
}

/** The state of the session answers these better than any words. */
const toldByState: ReadonlySet<string> = new Set([
  "checkout_session_processing",
  "checkout_session_completed",
  "checkout_session_canceled",
  "checkout_session_expired",
  "idempotency_in_progress",
]);

async function answerFailure(visit: Visit, form: URLSearchParams, failure: Failure): Promise<FastifyReply> {
  const { code, status } = failure;
  if (toldByState.has(code)) return back(visit);
  if (status === 429 || status >= 500) throw failure;
  visit.request.failureCode = code;
  const { language } = visit;
  if (form.get("action") === "pay" && status === 409) await reprice(visit);
  const fresh = await readAgain(visit);
  if (code === "address_market_mismatch")
    return show(fresh, 409, {
      typed: typedAddress(form),
      fieldFaults: [countryFault(messageOfFailure(failure, language))],
    });
  const choices = { optionId: form.get("optionId") ?? undefined, token: form.get("token") ?? undefined };
  const typed = form.get("action") === "address" ? { typed: typedAddress(form) } : {};
  return show(fresh, status, { ...choices, ...typed, notice: messageOfFailure(failure, language) });
}

const countryFault = (message: string): FieldFault => ({ field: "countryCode", message, summary: message });

/**
 * The refusal took back what was priced anew for it: here that is saved, by choosing the same delivery once
 * more, or none where it is no longer there. What is shown then can be paid.
 */
async function reprice(visit: Visit): Promise<void> {
  const selected = visit.session.cart.delivery?.selectedOptionId ?? null;
  const isChosen = await tryDelivery(visit, selected);
  if (!isChosen && selected !== null) await tryDelivery(visit, null);
}

/** False: it is not offered any more. What else stands in the way has been told. */
async function tryDelivery(visit: Visit, optionId: string | null): Promise<boolean> {
  try {
    await change(visit, visit.room.documents.selectDelivery, { input: { optionId } });
    return true;
  } catch (error) {
    if (!(error instanceof Failure) || error.status >= 500) throw error;
    return error.code !== "invalid_field" && error.parts.conflict?.reason !== "address_required";
  }
}

/** As it is after a refusal: the amounts that are shown are those that would be paid. */
async function readAgain(visit: Visit): Promise<Visit> {
  const { viewer, request, room } = visit;
  const asked = { viewer, requestId: request.id, variables: { id: viewer.sessionId } };
  const session = await room.documents.session<ShownSession | null>(asked);
  return session === null ? visit : { ...visit, session };
}

interface Changing {
  readonly input?: Readonly<Record<string, unknown>>;
  readonly takesOver?: boolean;
}

async function changeThenBack(
  visit: Visit,
  run: RunField,
  { to = "", ...changing }: Changing & { readonly to?: string } = {},
): Promise<FastifyReply> {
  await change(visit, run, changing);
  return back(visit, to);
}

function change(visit: Visit, run: RunField, { input = {}, takesOver = false }: Changing): Promise<void> {
  const { room, viewer, request } = visit;
  return inTransaction(room.services.db, async (transaction) => {
    await run(
      { viewer, requestId: request.id, variables: { sessionId: viewer.sessionId, input } },
      transaction,
    );
    await hold(visit, transaction, takesOver);
  });
}

async function hold({ viewer, browser }: Visit, transaction: Transaction, takesOver: boolean): Promise<void> {
  const { sessionId } = viewer;
  const isHeld = await claimSessionPage(transaction, { sessionId, digest: browser.digest, takesOver });
  // Another browser was faster: what this one is shown next says so.
  if (!isHeld) throw fail("checkout_session_version_conflict");
}

async function setAddress(visit: Visit, form: URLSearchParams): Promise<FastifyReply> {
  const typed = typedAddress(form);
  const faults = faultsOfTyped(typed, visit);
  if (faults.length > 0) {
    visit.request.failureCode = "address_invalid";
    return show(visit, 400, { typed, fieldFaults: faults });
  }
  const contactEmail = contactOf(typed, visit);
  const input = { address: askedOf(typed, visit), ...(contactEmail === undefined ? {} : { contactEmail }) };
  await change(visit, visit.room.documents.setAddress, { input, takesOver: true });
  return back(visit, changedTo(form, needsDelivery(visit.session.cart) ? "#delivery" : ""));
}

/** Where the address is known already, or nothing is sent. */
async function setContact(visit: Visit, form: URLSearchParams): Promise<FastifyReply> {
  const { room, request, language } = visit;
  const contact = (form.get("email") ?? "").trim().slice(0, 1000);
  try {
    return await changeThenBack(visit, room.documents.setContact, {
      input: { email: contact },
      to: changedTo(form),
    });
  } catch (error) {
    if (!(error instanceof Failure) || error.status !== 400) throw error;
    request.failureCode = error.code;
    return show(visit, 400, {
      contact,
      contactFault: messageOf(contact === "" ? "email_empty" : "email_malformed", language),
    });
  }
}

async function selectDelivery(visit: Visit, form: URLSearchParams): Promise<FastifyReply> {
  const optionId = form.get("optionId");
  if (optionId === null)
    return show(visit, 400, { notice: messageOf("delivery_option_required", visit.language) });
  return changeThenBack(visit, visit.room.documents.selectDelivery, {
    input: { optionId },
    to: changedTo(form, "#pay"),
  });
}

/** Wrong codes are counted as they are over REST. */
async function applyPromotion(visit: Visit, form: URLSearchParams): Promise<FastifyReply> {
  const { room, request, viewer, language } = visit;
  const code = (form.get("code") ?? "").slice(0, 200);
  if (code.trim() === "")
    return show(visit, 400, { code, codeFault: messageOf("promotion_code_empty", language) });
  try {
    await room.services.limits.requireCodesLeft(request, viewer.cartId);
    return await changeThenBack(visit, room.documents.applyPromotion, {
      input: { code },
      to: changedTo(form),
    });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return refuseCode(visit, code, await counted(visit, error));
  }
}

const wrongCodes: ReadonlySet<string> = new Set(["promotion_code_not_found", "promotion_not_applicable"]);

/** A wrong one counts; one too many is refused for that. */
async function counted({ room, request, viewer }: Visit, failure: Failure): Promise<Failure> {
  if (!wrongCodes.has(failure.code)) return failure;
  try {
    await room.services.limits.countWrongCode(request, viewer.cartId);
    return failure;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

async function refuseCode(visit: Visit, code: string, failure: Failure): Promise<FastifyReply> {
  const codeFault = codeFaultOf(visit, failure);
  if (codeFault === undefined) throw failure;
  visit.request.failureCode = failure.code;
  if (failure.status === 429)
    void visit.reply.header("retry-after", String(retryAfterSecondsOf(failure) ?? 1));
  return show(await readAgain(visit), failure.status, { code, codeFault });
}

/** Undefined: it is not the code that is refused. */
function codeFaultOf({ language, say }: Visit, failure: Failure): string | undefined {
  if (failure.status === 429)
    return say("tooManyCodes", { time: formatSeconds(retryAfterSecondsOf(failure) ?? 1, language) });
  if (failure.status === 400) return messageOf("promotion_code_malformed", language);
  return wrongCodes.has(failure.code) ? messageOfFailure(failure, language) : undefined;
}

/** Undefined: no number that any form of ours has. */
function wholeOf(form: URLSearchParams, name: string, max: number): number | undefined {
  const text = form.get(name) ?? "";
  const value = /^\d{1,16}$/.test(text) ? Number(text) : undefined;
  return value === undefined || value > max ? undefined : value;
}

const versionMax = 2 ** 31 - 1;

function versionOf(form: URLSearchParams): number {
  const version = wholeOf(form, "version", versionMax) ?? 0;
  if (version < 1) throw fail("checkout_session_version_conflict");
  return version;
}

async function pay(visit: Visit, form: URLSearchParams): Promise<FastifyReply> {
  const { session, language, room } = visit;
  const optionId = form.get("optionId");
  const isOtherDelivery =
    session.status === "open" && optionId !== null && optionId !== session.cart.delivery?.selectedOptionId;
  if (isOtherDelivery) {
    // Ticked and not yet asked for: the amount that was seen is not that of what is meant.
    await change(visit, room.documents.selectDelivery, { input: { optionId } });
    const token = form.get("token") ?? undefined;
    return show(await readAgain(visit), 409, {
      token,
      notice: messageOf("checkout_amount_changed", language),
    });
  }
  if (session.status === "open" && missingOf(session.cart) === "contact")
    return show(visit, 409, {
      token: form.get("token") ?? undefined,
      contact: "",
      contactFault: messageOf("email_empty", language),
    });
  await submit(visit, form);
  return back(visit);
}

/** The key, and all that was agreed to, are of the form that was shown. */
async function submit(visit: Visit, form: URLSearchParams): Promise<void> {
  const { room, viewer, request } = visit;
  const key = parseIdempotencyKey(form.get("key") ?? "");
  const amountMinor = wholeOf(form, "amountMinor", amountMinorMax);
  if (key === undefined || amountMinor === undefined) throw fail("checkout_session_version_conflict");
  const input = {
    expectedAmount: { amountMinor, currency: form.get("currency") ?? "" },
    paymentToken: form.get("token"),
    expectedVersion: versionOf(form),
  };
  const { sessionId } = viewer;
  const claim = { ownerId: sessionId, key, fingerprint: fingerprintOf({ page: "checkout", input }) };
  await room.services.doOnce(claim, async (transaction) => {
    await room.documents.submit(
      { viewer, requestId: request.id, variables: { sessionId, key, input } },
      transaction,
    );
    await hold(visit, transaction, false);
    return { status: 303, contentType: "text/plain", body: "" };
  });
}

/** Should the payment still succeed, the money goes back. */
async function giveUp(visit: Visit, form: URLSearchParams): Promise<FastifyReply> {
  const { room, viewer, request } = visit;
  const input = { reason: "buyer_gave_up", expectedVersion: versionOf(form) };
  const variables = { sessionId: viewer.sessionId, key: `page-${input.expectedVersion}`, input };
  await inTransaction(room.services.db, async (transaction) => {
    await room.documents.giveUp({ viewer, requestId: request.id, variables }, transaction);
    await hold(visit, transaction, false);
  });
  return back(visit);
}
