/**
 * The payment page of the fake Stripe, which people and browser tests can use: it has buttons to pay, to be
 * declined, and to answer the bank's question, and a link that leads back without a payment.
 */
import { html, type PreEscapedHtml } from "#pages/shared/html.ts";
import type { FakeIntent, FakeSession, FakeStripeState } from "./fake-state.ts";

export interface FakePageRequest {
  readonly method: string;
  /** The path of the request, for example `/c/pay/cs_live_1`. */
  readonly path: string;
  /** The form that a button of the page has sent. */
  readonly form: URLSearchParams;
}

export interface FakePageAnswer {
  readonly status: 200 | 303 | 404;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export const fakePagePath = "/c/pay/";

/** Answers a request of a browser: shows the page, or does what the pressed button says. */
export function answerFakePage(
  state: FakeStripeState,
  { method, path, form }: FakePageRequest,
): FakePageAnswer {
  const session = state.sessions.get(path.slice(fakePagePath.length));
  if (session === undefined) return page(404, html`<h1>There is no such page</h1>`);
  if (session.status === "open" && method === "POST") {
    const url = press(state, session, form.get("button") ?? "");
    return { status: 303, headers: { location: url ?? path }, body: "" };
  }
  return page(200, session.status === "open" ? openPage(state, session) : endedPage(session));
}

/** Returns the URL to which the button leads; undefined if the buyer stays on the page. */
function press(state: FakeStripeState, session: FakeSession, button: string): string | undefined {
  if (button === "confirm" || button === "fail") return state.answerChallenge(session, button === "confirm");
  if (button === "success" || button === "decline" || button === "challenge")
    return state.pay(session, button);
  throw new Error(`The payment page has no button ${button}.`);
}

const buttonOf = (name: string, text: string): PreEscapedHtml =>
  html`<button name="button" value="${name}">${text}</button>`;

function openPage(state: FakeStripeState, session: FakeSession): PreEscapedHtml {
  const intent = state.intents.get(session.payment_intent ?? "");
  const buttons =
    intent?.status === "requires_action"
      ? [buttonOf("confirm", "Confirm at the bank"), buttonOf("fail", "Fail at the bank")]
      : [
          buttonOf("success", "Pay"),
          buttonOf("decline", "Pay with a declined card"),
          buttonOf("challenge", "Pay with a card that asks the bank"),
        ];
  return html`<h1>Pay ${session.amount_total ?? 0} ${session.currency ?? ""}</h1>
    ${errorOf(intent)}
    <form method="post">${buttons}</form>
    <p><a href="${session.cancel_url ?? ""}">Back without paying</a></p>`;
}

const errorOf = (intent: FakeIntent | undefined): PreEscapedHtml | undefined =>
  intent?.last_payment_error == null ? undefined : html`<p role="alert">The card was declined.</p>`;

/** Stripe's page says that it was paid or has expired, and leads nowhere by itself. */
const endedPage = ({ status }: FakeSession): PreEscapedHtml =>
  html`<h1>${status === "complete" ? "This page was paid" : "This page has expired"}</h1>`;

const page = (status: 200 | 404, body: PreEscapedHtml): FakePageAnswer => ({
  status,
  headers: { "content-type": "text/html; charset=utf-8", "cache-control": "no-store" },
  body: `<!doctype html>${
    html`<html lang="en">
      <head>
        <title>Payment page</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <link rel="icon" href="data:," />
      </head>
      <body>
        <main>${body}</main>
      </body>
    </html>`.text
  }`,
});
