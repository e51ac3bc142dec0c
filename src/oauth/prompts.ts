/** When a person is asked: to sign in where nobody is who may, and to consent each time, so that every grant was given by somebody who looked. */
import type { interactionPolicy } from "oidc-provider";
import type { OidcLibrary } from "./library.ts";

export function createPrompts({ interactionPolicy: { Check, Prompt } }: OidcLibrary): interactionPolicy.Prompt[] {
  return [
    new Prompt(
      { name: "login", requestable: true },
      // An account that was disabled is not found any more, whatever its session says.
      new Check("no_account", "sign-in is required", "login_required", ({ oidc }) => oidc.account === undefined),
    ),
    new Prompt(
      { name: "consent", requestable: true },
      new Check("no_consent", "consent is required", "consent_required", ({ oidc }) => oidc.result?.consent?.grantId === undefined),
    ),
  ];
}
