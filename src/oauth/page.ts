/** The frame of every page: plain HTML that needs no script and no other address, readable on a phone and in the dark. What is put in is escaped here. */
import { createHash } from "node:crypto";

/** Text that is HTML already. */
export class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | number | Markup | undefined | readonly Markup[];

/** A template of HTML: what stands in it is HTML, what is put in is text. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Markup {
  return new Markup(strings.map((text, index) => text + (index < parts.length ? toText(parts[index]) : "")).join(""));
}

function toText(part: Part): string {
  if (part === undefined) return "";
  if (part instanceof Markup) return part.text;
  return typeof part === "object" ? part.map(({ text }) => text).join("") : escape(String(part));
}

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => escapes[character] ?? character);
}

const style = `
:root { color-scheme: light dark; --ground: #f4f4f6; --sheet: #fff; --ink: #1b1b1f; --soft: #54545e; --line: #8c8c98; --mark: #0b57d0; --on-mark: #fff; --fault: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ground: #131316; --sheet: #1e1e23; --ink: #ececf1; --soft: #b9b9c4; --line: #82828f; --mark: #a8c7fa; --on-mark: #062e6f; --fault: #ffb4ab; } }
* { box-sizing: border-box; }
body { margin: 0; padding: 1rem; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
main { max-width: 30rem; margin: 2rem auto; padding: 1.5rem; background: var(--sheet); border-radius: 0.75rem; }
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25; }
h2 { margin: 0 0 0.25rem; font-size: 1rem; }
p { margin: 0 0 1rem; }
.soft { color: var(--soft); }
label, legend { font-weight: 600; }
.field { margin: 0 0 1rem; }
.field input { display: block; width: 100%; margin-top: 0.25rem; padding: 0.625rem; font: inherit; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: 0.5rem; }
fieldset { margin: 0 0 1.5rem; padding: 0; border: 0; }
legend { margin: 0 0 0.5rem; padding: 0; }
.scope { display: grid; grid-template-columns: auto 1fr; gap: 0 0.75rem; padding: 0.75rem 0; border-top: 1px solid var(--line); }
.scope input { width: 1.25rem; height: 1.25rem; margin: 0.125rem 0 0; accent-color: var(--mark); }
.scope span { grid-column: 2; color: var(--soft); }
button { width: 100%; min-height: 2.75rem; margin: 0 0 0.75rem; padding: 0.5rem 1rem; font: inherit; font-weight: 600; border: 1px solid var(--mark); border-radius: 0.5rem; background: var(--mark); color: var(--on-mark); cursor: pointer; }
button.second { background: transparent; color: var(--mark); }
button.third { border-color: transparent; background: transparent; color: var(--mark); font-weight: 400; margin: 0; }
:focus-visible { outline: 3px solid var(--mark); outline-offset: 2px; }
.faults { margin: 0 0 1.5rem; padding: 0.75rem 1rem; border: 2px solid var(--fault); border-radius: 0.5rem; }
.faults p { margin: 0; }
.faults a { color: var(--fault); }
@media (max-width: 30rem) { body { padding: 0; background: var(--sheet); } main { margin: 0; padding: 1.25rem; border-radius: 0; } }
`;

/** Whole: a blank more, and it is not what the policy allows. */
const styleElement = new Markup(`<style>${style}</style>`);
const styleHash = createHash("sha256").update(style).digest("base64");

export interface Page {
  readonly title: string;
  readonly body: Markup;
  /** Where its forms may lead in the end, beside here. */
  readonly leadsTo?: string | undefined;
}

export function renderPage({ title, body }: Page): string {
  return `<!doctype html>${
    html`<html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        ${styleElement}
      </head>
      <body>
        <main>${body}</main>
      </body>
    </html>`.text
  }`;
}

/** A form's answer is a redirect to the app, which counts as the form's own target. */
export function pageHeaders({ leadsTo }: Pick<Page, "leadsTo">): Record<string, string> {
  const targets = leadsTo === undefined ? "'self'" : `'self' ${leadsTo}`;
  return {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": `default-src 'none'; style-src 'sha256-${styleHash}'; form-action ${targets}; frame-ancestors 'none'; base-uri 'none'`,
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
  };
}

/**
 * What a policy calls the places behind an app's address: their scheme. Browsers hold a form to its policy through every redirect that follows, so that
 * the app's origin alone would strand whom the app sends on to another of its own; and no policy can name an origin like http://[::1].
 */
export const placeBehind = (redirectUri: string): string | undefined => URL.parse(redirectUri)?.protocol;
