/**
 * The HTML frame of every page, readable on phones and in dark mode. Pages load scripts and style sheets from
 * this service only. Each page's Content-Security-Policy allows only what that page uses.
 */
import { createHash } from "node:crypto";
import type { PageAssets } from "./assets.ts";
import { html, Markup } from "./html.ts";

/**
 * The style sheet that all pages share: colours for light and dark mode, text, forms and buttons. A page may
 * add its own style sheet.
 */
export const baseStyle = `
:root {
  color-scheme: light dark; --ground: #f4f4f6; --sheet: #fff; --ink: #1b1b1f; --soft: #54545e;
  --line: #8c8c98; --mark: #0b57d0; --on-mark: #fff; --fault: #b3261e; --good: #146c2e;
  --warn: #7a4d00; --code: #ececf0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #131316; --sheet: #1e1e23; --ink: #ececf1; --soft: #b9b9c4; --line: #82828f;
    --mark: #a8c7fa; --on-mark: #062e6f; --fault: #ffb4ab; --good: #7ddb8f; --warn: #f2bf6f;
    --code: #2a2a31;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; padding: 1rem; background: var(--ground); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
main {
  max-width: 30rem; margin: 2rem auto; padding: 1.5rem; background: var(--sheet);
  border-radius: 0.75rem;
}
.wide main { max-width: none; margin: 0; padding: 0; background: transparent; border-radius: 0; }
.wide { padding: 0; }
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25; }
h2 { margin: 0 0 0.25rem; font-size: 1rem; }
p { margin: 0 0 1rem; }
.soft { color: var(--soft); }
label, legend { font-weight: 600; }
.field { margin: 0 0 1rem; }
.field input {
  display: block; width: 100%; margin-top: 0.25rem; padding: 0.625rem; font: inherit;
  color: inherit; background: transparent; border: 1px solid var(--line); border-radius: 0.5rem;
}
fieldset { margin: 0 0 1.5rem; padding: 0; border: 0; }
legend { margin: 0 0 0.5rem; padding: 0; }
.scope {
  display: grid; grid-template-columns: auto 1fr; gap: 0 0.75rem; padding: 0.75rem 0;
  border-top: 1px solid var(--line);
}
.scope input { width: 1.25rem; height: 1.25rem; margin: 0.125rem 0 0; accent-color: var(--mark); }
.scope span { grid-column: 2; color: var(--soft); }
button {
  width: 100%; min-height: 2.75rem; margin: 0 0 0.75rem; padding: 0.5rem 1rem; font: inherit;
  font-weight: 600; border: 1px solid var(--mark); border-radius: 0.5rem; background: var(--mark);
  color: var(--on-mark); cursor: pointer;
}
button.second { background: transparent; color: var(--mark); }
button.third {
  border-color: transparent; background: transparent; color: var(--mark); font-weight: 400;
  margin: 0;
}
a { color: var(--mark); }
:focus-visible { outline: 3px solid var(--mark); outline-offset: 2px; }
.faults { margin: 0 0 1.5rem; padding: 0.75rem 1rem; border: 2px solid var(--fault); border-radius: 0.5rem; }
.faults p { margin: 0; }
.faults a { color: var(--fault); }
@media (max-width: 30rem) {
  body:not(.wide) { padding: 0; background: var(--sheet); }
  body:not(.wide) main { margin: 0; padding: 1.25rem; border-radius: 0; }
}
`;

/** The hash of the shared style sheet, as the Content-Security-Policy names it. */
const styleHash = `sha256-${createHash("sha256").update(baseStyle).digest("base64")}`;

export interface HtmlPage {
  readonly title: string;
  readonly body: Markup;
  /** An additional address to which the page's forms may redirect, as a source for the `form-action` policy. */
  readonly leadsTo?: string | undefined;
  /** The language of the page's text (BCP 47); English by default. */
  readonly language?: string;
  /** True if the page uses the whole window; otherwise the page is one narrow column. */
  readonly isWide?: boolean;
  /** The page's own scripts and style sheets. */
  readonly asset?: PageAssets | undefined;
  /**
   * Reloads the page, or opens `url`, after this number of seconds. A page that waits for a result therefore
   * also works without a script.
   */
  readonly refresh?: { readonly seconds: number; readonly url?: string } | undefined;
}

/**
 * The style element. It contains nothing but the style sheet: any other character would change the hash that
 * the Content-Security-Policy allows.
 */
const styleElement = new Markup(`<style>${baseStyle}</style>`);
/** An empty icon, so that browsers do not request /favicon.ico. */
const icon = new Markup(`<link rel="icon" href="data:," />`);

export function renderPage({
  title,
  body,
  language = "en",
  isWide = false,
  asset,
  refresh,
}: HtmlPage): string {
  return `<!doctype html>${
    html`<html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        ${refresh === undefined ? undefined : refreshElement(refresh, asset)}
        <title>${title}</title>
        ${icon}${styleElement}
        ${(asset?.styles ?? []).map((href) => html`<link rel="stylesheet" href="${href}" />`)}
        ${(asset?.scripts ?? []).map((src) => html`<script type="module" src="${src}"></script>`)}
      </head>
      <body class="${isWide ? "wide" : "sheet"}">
        ${isWide ? body : html`<main>${body}</main>`}
      </body>
    </html>`.text
  }`;
}

/**
 * Puts the refresh into `noscript` if the page has a script. The script then decides when to reload, so that
 * the reader is not interrupted.
 */
function refreshElement(refresh: NonNullable<HtmlPage["refresh"]>, asset: PageAssets | undefined): Markup {
  const element = html`<meta http-equiv="refresh" content="${refreshOf(refresh)}" />`;
  return asset === undefined ? element : html`<noscript>${element}</noscript>`;
}

const refreshOf = ({ seconds, url }: NonNullable<HtmlPage["refresh"]>): string =>
  url === undefined ? String(seconds) : `${seconds}; url=${url}`;

/**
 * Returns the page's response headers. `leadsTo` is an origin to which a form may redirect. It must be
 * allowed too, because browsers apply `form-action` also to redirects after a form.
 */
export function pageHeaders({ leadsTo, asset }: Pick<HtmlPage, "leadsTo" | "asset">): Record<string, string> {
  const targets = leadsTo === undefined ? "'self'" : `'self' ${leadsTo}`;
  const policy = [
    "default-src 'none'",
    `style-src '${styleHash}'${asset === undefined ? "" : " 'self'"}`,
    ...(asset === undefined ? [] : ["script-src 'self'", "connect-src 'self'"]),
    `img-src ${asset === undefined ? "" : "'self' "}data:`,
    `form-action ${targets}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  return {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policy.join("; "),
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cache-control": "no-store",
  };
}

/**
 * Returns the scheme of an app's redirect address, for the `form-action` policy. Browsers apply the policy to
 * every later redirect, and the app may redirect to another of its origins, so the origin alone is too
 * strict. A policy also cannot name an origin like http://[::1].
 */
export const redirectFormAction = (redirectUri: string): string | undefined =>
  URL.parse(redirectUri)?.protocol;
