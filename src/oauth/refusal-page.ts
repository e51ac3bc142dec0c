/** A refusal that can't be sent back to the app: a page for whoever looks at it, or, where a program asked, RFC 6749's JSON. */
import type { ErrorOut, KoaContextWithOIDC } from "oidc-provider";
import { pageHeaders, renderPage } from "#pages/shared/page.ts";
import { messagePage } from "./pages.ts";

const pages = new Set(["authorization", "resume"]);

export function showRefusal(context: KoaContextWithOIDC, out: ErrorOut): void {
  if (!pages.has(context.oidc.route)) {
    context.type = "application/json";
    context.body = JSON.stringify(out);
    return;
  }
  context.set(pageHeaders({}));
  context.body = renderPage(messagePage("This did not work", sentenceOf(context, out)));
}

function sentenceOf({ oidc, status }: KoaContextWithOIDC, { error, error_description: description }: ErrorOut): string {
  if (status >= 500) return "Something went wrong on our side. Go back to the app and try again.";
  if (oidc.route === "resume") return "This sign-in has ended. Go back to the app and start again.";
  return `The app sent a request that can’t be answered (${error}${description === undefined ? "" : `: ${description}`}). Tell whoever makes the app.`;
}
