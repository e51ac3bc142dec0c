/** Renders the e-mail and password fields of every sign-in page, and the list of errors above the form. */
import { html, type PreEscapedHtml } from "./html.ts";

export interface SignInFormEmailAndError {
  /** The e-mail address that was typed into the form. The form shows it again after an error. */
  readonly email: string;
  readonly fault: string | undefined;
}

export function renderSignInFields({ email, fault }: SignInFormEmailAndError): PreEscapedHtml {
  const wrong = fault === undefined ? undefined : html` aria-invalid="true" aria-describedby="faults"`;
  return html`<div class="field">
      <label for="email">E-mail address</label>
      <input
        id="email"
        name="email"
        type="email"
        autocomplete="username"
        autocapitalize="none"
        spellcheck="false"
        required
        value="${email}"
        ${wrong}${fault === undefined ? html` autofocus` : undefined}
      />
    </div>
    <div class="field">
      <label for="password">Password</label>
      <input id="password" name="password" type="password" autocomplete="current-password" required${wrong} />
    </div>`;
}

/**
 * Renders the list of errors above the sign-in form. Screen readers read the list immediately, and the list
 * is the first element in the keyboard order.
 */
export function renderSignInFaultSummary(
  fault: string | undefined,
  fieldId: string,
): PreEscapedHtml | undefined {
  if (fault === undefined) return undefined;
  return html`<div class="faults" id="faults" role="alert" tabindex="-1" autofocus>
    <h2>There is a problem</h2>
    <p><a href="#${fieldId}">${fault}</a></p>
  </div>`;
}
