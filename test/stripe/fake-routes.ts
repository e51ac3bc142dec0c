/** The routes of the fake Stripe, with the rules that Stripe has for each request. */
import type Stripe from "stripe";
import type { FakeAccount, FakeIntent, FakeSession, FakeStripeState } from "./fake-state.ts";
import { type FormObject, objectAt, textAt } from "./form-body.ts";

export interface FakeStripeRequest {
  readonly method: string;
  /** The header `Stripe-Version`: the version of the API whose rules apply to the request. */
  readonly version: string;
  /** The parts of the path after `/v1`, for example `["refunds", "re_1"]`. */
  readonly parts: readonly string[];
  readonly params: FormObject;
}

type ErrorDetails = Pick<Stripe.StripeRawError, "code" | "message">;

/** An error answer of Stripe's API. */
export class FakeStripeError extends Error {
  readonly status: number;
  readonly type: string;
  readonly code: string | undefined;
  constructor(status: number, type: string, { code, message }: ErrorDetails) {
    super(message);
    this.status = status;
    this.type = type;
    this.code = code;
  }
  toBody(): object {
    return { type: this.type, code: this.code, message: this.message };
  }
}

const refuse = (code: string, message: string): never => {
  throw new FakeStripeError(400, "invalid_request_error", { code, message });
};

function found<Value>(value: Value | undefined, id: string | undefined): Value {
  if (value === undefined)
    throw new FakeStripeError(404, "invalid_request_error", {
      code: "resource_missing",
      message: `There is no object ${id}.`,
    });
  return value;
}

type Route = (context: {
  readonly state: FakeStripeState;
  readonly account: FakeAccount;
  readonly id: string | undefined;
  readonly params: FormObject;
}) => object;

const routes: Readonly<Record<string, Route>> = {
  "GET account": ({ account }) => accountOf(account),
  "POST checkout/sessions": ({ state, params }) => openSession(state, params),
  "GET checkout/sessions/:id": ({ state, id, params }) => readSession(state, id, params),
  "POST checkout/sessions/:id/expire": ({ state, id }) => expireSession(state, id),
  "GET payment_intents/:id": ({ state, id }) => intentWithId(state, id),
  "POST payment_intents/:id/capture": ({ state, id, params }) => captureIntent(state, id, params),
  "POST payment_intents/:id/cancel": ({ state, id }) => cancelIntent(state, id),
  "POST refunds": ({ state, params }) => createRefund(state, params),
  "GET refunds": ({ state, params }) => listRefunds(state, params),
  "GET refunds/:id": ({ state, id }) => found(state.refunds.get(id ?? ""), id),
  "GET disputes/:id": ({ state, id }) => found(state.disputes.get(id ?? ""), id),
  "GET events": ({ state, params }) => listEvents(state, params),
};

/**
 * The fake has the rules of this version and later ones: a partial capture and a cancellation make no refund
 * and leave `amount_refunded` as it is (https://docs.stripe.com/changelog/basil).
 */
const oldestVersion = "2025-03-31";

const idPattern = /^(?:cs_(?:live|test)|[a-z]{2})_[0-9a-f]{24}$/;

export function answerFakeStripe(
  state: FakeStripeState,
  account: FakeAccount,
  { method, version, parts, params }: FakeStripeRequest,
): object {
  if (!(version >= oldestVersion))
    throw new FakeStripeError(400, "invalid_request_error", {
      message: `The version ${version} of the API has other rules than the fake.`,
    });
  const name = `${method} ${parts.map((part) => (idPattern.test(part) ? ":id" : part)).join("/")}`;
  const id = parts.find((part) => idPattern.test(part));
  const route = routes[name];
  if (route === undefined)
    throw new FakeStripeError(404, "invalid_request_error", { message: `There is no route ${name}.` });
  return route({ state, account, id, params });
}

const accountOf = ({ id, name }: FakeAccount): object =>
  ({
    id,
    object: "account",
    business_profile: { name } as Stripe.Account.BusinessProfile,
    email: null,
  }) satisfies Partial<Stripe.Account>;

/** Returns a page of a list, newest objects first: at most `limit` objects after `starting_after`. */
function listOf(all: readonly { readonly id: string }[], params: FormObject, url: string): object {
  const newestFirst = all.toReversed();
  const start = newestFirst.findIndex(({ id }) => id === textAt(params, "starting_after")) + 1;
  const end = start + Number(textAt(params, "limit") || "10");
  return {
    object: "list",
    data: newestFirst.slice(start, end),
    has_more: end < newestFirst.length,
    url,
  } satisfies Stripe.ApiList<object>;
}

const textsOf = (form: FormObject): Record<string, string> =>
  Object.fromEntries(Object.keys(form).map((name) => [name, textAt(form, name)]));

const shortestPageSeconds = 30 * 60;

function openSession(state: FakeStripeState, params: FormObject): FakeSession {
  const expiresAt = Number(textAt(params, "expires_at"));
  if (expiresAt < state.now().getTime() / 1000 + shortestPageSeconds)
    refuse("parameter_invalid_integer", "expires_at must be at least 30 minutes in the future.");
  if (textAt(params, "payment_intent_data", "capture_method") !== "manual")
    refuse("parameter_invalid", "The service must capture payments later.");
  const lines = Object.values(objectAt(params, "line_items")).filter((line) => typeof line === "object");
  if (lines.length === 0) refuse("parameter_missing", "line_items must not be empty.");
  const amount = lines.reduce(
    (sum, line) => sum + Number(textAt(line, "price_data", "unit_amount")) * Number(textAt(line, "quantity")),
    0,
  );
  return state.openSession(
    {
      amount_total: amount,
      currency: textAt(lines[0] ?? {}, "price_data", "currency"),
      client_reference_id: textAt(params, "client_reference_id"),
      metadata: textsOf(objectAt(params, "metadata")),
      success_url: textAt(params, "success_url"),
      cancel_url: textAt(params, "cancel_url"),
      expires_at: expiresAt,
    },
    textsOf(objectAt(objectAt(params, "payment_intent_data"), "metadata")),
  );
}

function sessionWithId(state: FakeStripeState, id: string | undefined): FakeSession {
  const session = found(state.sessions.get(id ?? ""), id);
  if (session.status === "open" && session.expires_at <= state.now().getTime() / 1000)
    state.expireSession(session);
  return session;
}

/** Returns a page, with its PaymentIntent and charge if the request expands them. */
function readSession(state: FakeStripeState, id: string | undefined, params: FormObject): object {
  const session = sessionWithId(state, id);
  const intent = session.payment_intent === null ? undefined : state.intents.get(session.payment_intent);
  const isExpanded = Object.values(objectAt(params, "expand")).includes("payment_intent.latest_charge");
  if (intent === undefined || !isExpanded) return session;
  const charge = state.charges.get(intent.latest_charge ?? "") ?? null;
  return { ...session, payment_intent: { ...intent, latest_charge: charge } };
}

function expireSession(state: FakeStripeState, id: string | undefined): object {
  const session = sessionWithId(state, id);
  if (session.status !== "open") refuse("resource_not_open", `The session is ${session.status}.`);
  state.expireSession(session);
  return session;
}

const intentWithId = (state: FakeStripeState, id: string | undefined): FakeIntent =>
  found(state.intents.get(id ?? ""), id);

function captureIntent(state: FakeStripeState, id: string | undefined, params: FormObject): object {
  const intent = intentWithId(state, id);
  const amount = Number(textAt(params, "amount_to_capture"));
  if (intent.status !== "requires_capture")
    refuse("payment_intent_unexpected_state", `The PaymentIntent is ${intent.status}.`);
  if (amount > intent.amount_capturable) refuse("amount_too_large", "The amount is too large.");
  state.capture(intent, amount, textsOf(objectAt(params, "metadata")));
  return intent;
}

function cancelIntent(state: FakeStripeState, id: string | undefined): object {
  const intent = intentWithId(state, id);
  if (intent.status === "succeeded" || intent.status === "canceled")
    refuse("payment_intent_unexpected_state", `The PaymentIntent is ${intent.status}.`);
  state.cancel(intent);
  return intent;
}

function listRefunds(state: FakeStripeState, params: FormObject): object {
  const intentId = textAt(params, "payment_intent");
  const refunds = [...state.refunds.values()].filter((refund) => refund.payment_intent === intentId);
  return listOf(refunds, params, "/v1/refunds");
}

function createRefund(state: FakeStripeState, params: FormObject): object {
  const id = textAt(params, "payment_intent");
  const intent = found(state.intents.get(id), id);
  const amount = Number(textAt(params, "amount"));
  const isDisputed = [...state.disputes.values()].some(
    (one) => one.payment_intent === id && one.status !== "won",
  );
  if (isDisputed) refuse("charge_disputed", "The charge is disputed.");
  if (intent.status !== "succeeded" || amount > state.refundableOf(intent))
    refuse("charge_already_refunded", "The amount is larger than the amount that is left.");
  return state.refund(intent, amount, textsOf(objectAt(params, "metadata")));
}

function listEvents(state: FakeStripeState, params: FormObject): object {
  const since = Number(textAt(params, "created", "gte"));
  const types = new Set(Object.values(objectAt(params, "types")));
  const listed = state.events.filter(({ created, type }) => created >= since && types.has(type));
  return listOf(listed, params, "/v1/events");
}
