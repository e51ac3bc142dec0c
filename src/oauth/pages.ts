/**
 * Renders the pages of the authorization server (sign-in, consent and messages), and reads and writes the
 * sign-in data of its sessions.
 */
import type { InteractionResults } from "oidc-provider";
import { grantDays } from "#access/oauth/grants.ts";
import { type PermissionScope, scopeDescriptions, scopeTitles } from "#access/viewer.ts";
import { html, type PreEscapedHtml } from "#pages/shared/html.ts";
import type { HtmlPage } from "#pages/shared/page.ts";
import {
  renderSignInFaultSummary,
  renderSignInFields,
  type SignInFormEmailAndError,
} from "#pages/shared/sign-in-fields.ts";
import { type SignedInStaff } from "#access/people/staff.ts";
import { findActiveStaffAccount } from "#access/people/staff-sign-in.ts";
import type { DatabaseOrTransaction } from "#database/transaction.ts";

export interface RequestingApp {
  readonly name: string;
  readonly publisher: string | null;
}

export interface OauthSignInPageData extends SignInFormEmailAndError {
  readonly app: RequestingApp;
  readonly leadsTo: string | undefined;
}

export function renderOauthSignInPage({ app, leadsTo, email, fault }: OauthSignInPageData): HtmlPage {
  return {
    title: fault === undefined ? "Sign in" : "Error: Sign in",
    leadsTo,
    body: html`<h1>Sign in</h1>
      <p class="soft">${appLabel(app)} asks for access to your shop. Sign in to see what it asks for.</p>
      ${renderSignInFaultSummary(fault, "email")}
      <form method="post" novalidate>
        ${renderSignInFields({ email, fault })}
        <button name="action" value="sign-in">Sign in</button>
        <button name="action" value="deny" class="second">Go back to ${app.name}</button>
      </form>`,
  };
}

export interface OauthConsentPageData {
  readonly app: RequestingApp;
  /** Data that only AI agents have; null for a client that an operator created. */
  readonly agent: { readonly verifiedHost: string | null } | null;
  readonly leadsTo: string | undefined;
  /**
   * The destination of the browser after the staff member's decision, as the page shows it. It is the host of
   * the redirect URI, or the URI's scheme if the scheme belongs to an app.
   */
  readonly destination: string;
  readonly merchantName: string;
  readonly staffEmail: string;
  readonly scopes: readonly PermissionScope[];
  /** The requested scopes that the app's installation with the merchant does not have. */
  readonly scopesBeyond: readonly PermissionScope[];
  readonly fault: string | undefined;
  /** The reason why the staff member cannot grant access; undefined if access can be granted. */
  readonly refusal: string | undefined;
}

export function renderOauthConsentPage(shown: OauthConsentPageData): HtmlPage {
  const { app, leadsTo, merchantName, staffEmail, fault, refusal } = shown;
  const heading = `Allow ${app.name} to access ${merchantName}?`;
  const note = html`<p class="soft">
    You are signed in as <strong>${staffEmail}</strong>, for ${merchantName}.
  </p>`;
  const other = html`<button name="action" value="switch" class="third">Use another account</button>`;
  if (refusal !== undefined)
    return {
      title: `${app.name} can’t get access`,
      leadsTo,
      body: html`<h1>${app.name} can’t get access</h1>
        <p>${refusal}</p>
        ${note}
        <form method="post">
          <button name="action" value="deny">Go back to ${app.name}</button>${other}
        </form>`,
    };
  return {
    title: fault === undefined ? heading : `Error: ${heading}`,
    leadsTo,
    body: html`<h1>${heading}</h1>
      ${renderSignInFaultSummary(fault, shown.scopes[0] === undefined ? "" : scopeElementId(shown.scopes[0]))}
      <p>
        ${appLabel(app)} asks for these permissions for <strong>${merchantName}</strong>. Clear the ones that you do
        not want to give.
      </p>
      ${shown.agent === null ? undefined : agentNote(shown.agent, shown.destination)}
      ${note}
      <form method="post">
        <fieldset${fault === undefined ? undefined : html` aria-describedby="faults"`}>
          <legend>Permissions</legend>
          ${shown.scopes.map((scope) => scopeChoice(scope, fault === undefined))}
        </fieldset>
        ${missingScopesNote(shown.scopesBeyond)}
        <button name="action" value="allow">Allow</button>
        <button name="action" value="deny" class="second">Don’t allow</button>
        ${other}
      </form>
      <p class="soft">
        Afterwards you return to <strong>${shown.destination}</strong>. Access expires after ${grantDays} days. You
        can revoke it before then in the console, on the page of the installation.
      </p>`,
  };
}

/**
 * Warns that the name of an agent is unverified, because the agent chose it itself. The staff member can
 * recognize who receives the access only by the place to which the browser returns.
 */
function agentNote(
  { verifiedHost }: { readonly verifiedHost: string | null },
  destination: string,
): PreEscapedHtml {
  const origin =
    verifiedHost === null
      ? html`This AI agent registered itself.`
      : html`This AI agent is described by <strong>${verifiedHost}</strong>.`;
  return html`<p>
    ${origin} Nobody has verified its name. Allow access only if you have just started this agent, and if
    <strong>${destination}</strong> belongs to it.
  </p>`;
}

const scopeElementId = (scope: PermissionScope): string => `scope-${scope.replace(":", "-")}`;

/**
 * Renders a note with the requested scopes that the staff member cannot grant. Consent does not extend the
 * scopes of the app's installation.
 */
function missingScopesNote(scopes: readonly PermissionScope[]): PreEscapedHtml | undefined {
  if (scopes.length === 0) return undefined;
  return html`<p class="soft">
    The app also asks for
    ${scopes.map((scope, index) => html`${index === 0 ? undefined : html`, `}<code>${scope}</code>`)}, which
    your shop does not allow. The person who manages your shop’s apps can allow them.
  </p>`;
}

/** Renders a checkbox for one scope. After an error no box is checked, so that the staff member chooses again. */
const scopeChoice = (scope: PermissionScope, isTicked: boolean): PreEscapedHtml =>
  html`<div class="scope">
    <input
      type="checkbox"
      id="${scopeElementId(scope)}"
      name="scope"
      value="${scope}"
      ${isTicked ? html` checked` : undefined}
      aria-describedby="${scopeElementId(scope)}-text"
    />
    <label for="${scopeElementId(scope)}">${scopeTitles[scope]}</label>
    <span id="${scopeElementId(scope)}-text">${scopeDescriptions[scope]} <code>${scope}</code></span>
  </div>`;

export function renderOauthMessagePage(title: string, message: string): HtmlPage {
  return {
    title,
    body: html`<h1>${title}</h1>
      <p>${message}</p>`,
  };
}

function appLabel({ name, publisher }: RequestingApp): PreEscapedHtml {
  return publisher === null ? html`<strong>${name}</strong>` : html`<strong>${name}</strong> by ${publisher}`;
}

/** The staff account that is signed in to a browser session of the authorization server. */
interface SignedInSession {
  readonly accountId: string;
  /**
   * The version of the staff account at sign-in. OpenID Connect defines `acr` for the kind of authentication;
   * this service stores the version in it.
   */
  readonly acr?: string | undefined;
}

/** Returns the result of a sign-in in the form that oidc-provider stores in its session. */
export const toOidcLoginResult = ({
  staffId,
  version,
}: SignedInStaff): NonNullable<InteractionResults["login"]> => ({
  accountId: staffId,
  acr: String(version),
  remember: false,
  amr: ["pwd"],
});

/**
 * Returns the staff member of a session; undefined if the account was disabled or has got a new password
 * since the sign-in.
 */
export async function findSignedInStaff(
  reader: DatabaseOrTransaction,
  { accountId, acr }: SignedInSession,
): Promise<SignedInStaff | undefined> {
  const staff = await findActiveStaffAccount(reader, accountId);
  return staff !== undefined && String(staff.version) === acr ? staff : undefined;
}
