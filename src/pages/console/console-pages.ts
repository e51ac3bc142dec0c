/**
 * The pages of the merchants' console that the server renders: the sign-in page, the empty page into which
 * the console's script renders its content, and the pages for refused and failed requests.
 */
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import type { StaffSession } from "#access/people/staff-sessions.ts";
import { type PageScriptAndStylePaths, getBasePathOfPublicUrl } from "#pages/shared/assets.ts";
import { html, type PreEscapedHtml } from "#pages/shared/html.ts";
import { type HtmlPage, getPageHttpHeaders, renderHtmlPage } from "#pages/shared/page.ts";
import {
  renderSignInFaultSummary,
  renderSignInFields,
  type SignInFormEmailAndError,
} from "#pages/shared/sign-in-fields.ts";
import { toServiceUnavailableIfTemporary } from "#database/database-errors.ts";
import { createFailure, type Failure, getRetryAfterSeconds, toFailure } from "#foundation/failure.ts";
import type { Log } from "#foundation/log.ts";

interface ConsoleSignIn extends SignInFormEmailAndError {
  /** The URL path of the page that opens after signing in. */
  readonly next: string;
  readonly publicUrl: string;
}

export function renderConsoleSignInPage({ next, publicUrl, ...typed }: ConsoleSignIn): HtmlPage {
  return {
    title: typed.fault === undefined ? "Sign in – Console" : "Error: Sign in – Console",
    body: html`<h1>Sign in</h1>
      <p class="soft">The console shows your shop’s apps, what they send and what they are sent.</p>
      ${renderSignInFaultSummary(typed.fault, "email")}
      <form method="post" action="${getBasePathOfPublicUrl(publicUrl)}/console/sign-in" novalidate>
        ${renderSignInFields(typed)}
        <input type="hidden" name="next" value="${next}" />
        <button>Sign in</button>
      </form>`,
  };
}

/**
 * Renders the empty page of the console. The page contains the names of the merchant and of the staff member;
 * the console's script renders everything else and loads the data from GraphQL.
 */
export function renderConsolePage(
  { staff, merchantName }: StaffSession,
  { asset, publicUrl }: { readonly asset: PageScriptAndStylePaths; readonly publicUrl: string },
): HtmlPage {
  return {
    title: `${merchantName} – Console`,
    isWide: true,
    asset,
    body: html`<div
        id="app"
        data-merchant-name="${merchantName}"
        data-staff-name="${staff.name}"
        data-staff-email="${staff.email}"
        data-staff-role="${staff.role}"
        data-base-path="${getBasePathOfPublicUrl(publicUrl)}"
      ></div>
      <noscript><p>The console needs JavaScript, which this browser does not run.</p></noscript>`,
  };
}

export function renderSuspendedShopPage({ staff, merchantName }: StaffSession, publicUrl: string): HtmlPage {
  return renderConsoleMessagePage(
    "Your shop is suspended",
    `${merchantName} is suspended, so its console is closed until it is resumed.`,
    [
      html`<p class="soft">You are signed in as <strong>${staff.email}</strong>.</p>`,
      html`<form method="post" action="${getBasePathOfPublicUrl(publicUrl)}/console/sign-out">
        <button class="second">Sign out</button>
      </form>`,
    ],
  );
}

/** Renders the page that the console returns for a form that was sent from another origin. */
export const renderCrossOriginFormRefusedPage = (publicUrl: string): HtmlPage =>
  renderConsoleMessagePage(
    "This request was not sent from the console",
    "Open the console at this address and try again:",
    [html`<p><a href="${publicUrl}/console">${publicUrl}/console</a></p>`],
  );

/**
 * Renders a page that loads itself again. The first request of a link from another site has no session
 * cookie. The second request comes from this site, so the browser sends the cookie.
 */
export const renderPageThatReloadsWithSessionCookie = (url: string): HtmlPage => ({
  ...renderConsoleMessagePage("Console", "One moment …"),
  refresh: { seconds: 0, url },
});

export function renderConsoleMessagePage(
  title: string,
  message: string,
  more: readonly PreEscapedHtml[] = [],
): HtmlPage {
  return {
    title,
    body: html`<h1>${title}</h1>
      <p>${message}</p>
      ${more}`,
  };
}

export function sendConsolePage(reply: FastifyReply, page: HtmlPage): FastifyReply {
  return reply.headers(getPageHttpHeaders(page)).send(renderHtmlPage(page));
}

/**
 * Creates the error handler of the console's routes, which logs errors of the service and answers with an
 * HTML page.
 */
export function createConsoleErrorHandler(
  log: Log,
): (error: unknown, request: FastifyRequest, reply: FastifyReply) => FastifyReply {
  return (error, request, reply) => {
    const failure = toRefusal(error);
    if (failure.status >= 500)
      log.error(
        { requestId: request.id, code: failure.code, err: failure.cause },
        "The request failed because of an error of the service.",
      );
    request.failureCode = failure.code;
    const retryAfter = getRetryAfterSeconds(failure);
    if (retryAfter !== null) void reply.header("retry-after", String(retryAfter));
    return sendConsolePage(reply.code(failure.status), pageOf(failure.status, retryAfter));
  };
}

/**
 * Errors of Fastify itself, for example for a body that is too large, contain their HTTP status in
 * `statusCode`.
 */
function toRefusal(error: unknown): Failure {
  const status = (error as Partial<FastifyError>).statusCode ?? 500;
  return status < 500
    ? createFailure("malformed_request", { cause: error })
    : toServiceUnavailableIfTemporary(toFailure(error));
}

function pageOf(status: number, retryAfterSeconds: number | null): HtmlPage {
  if (status === 429)
    return renderConsoleMessagePage("Too many requests", `Try again in ${retryAfterSeconds ?? 60} s.`);
  if (status >= 500)
    return renderConsoleMessagePage("The console is not available at the moment", "Try again in a minute.");
  return renderConsoleMessagePage("The request failed", "Go back and try again.");
}
