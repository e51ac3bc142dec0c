/** What every sign-in page asks for, and how a page says what is wrong with what was typed. */
import { html, type Markup } from "./html.ts";

export interface SignInFormState {
  /** What was typed, shown again after it was wrong. */
  readonly email: string;
  readonly fault: string | undefined;
}

export function signInFields({ email, fault }: SignInFormState): Markup {
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

/** Read out at once, and first in the order of the keyboard. */
export function signInFaultSummary(fault: string | undefined, fieldId: string): Markup | undefined {
  if (fault === undefined) return undefined;
  return html`<div class="faults" id="faults" role="alert" tabindex="-1" autofocus>
    <h2>There is a problem</h2>
    <p><a href="#${fieldId}">${fault}</a></p>
  </div>`;
}
