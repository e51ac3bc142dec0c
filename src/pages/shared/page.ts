/**
 * The frame of every page: HTML that needs no other address, readable on a phone and in the dark. Scripts and sheets come from this service alone,
 * named by their hash (assets.ts); the policy of each page allows what it has and nothing else.
 */
import type { Asset } from "./assets.ts";
import { html, Markup } from "./html.ts";
import { style, styleHash } from "./style.ts";

export interface Page {
  readonly title: string;
  readonly body: Markup;
  /** Where its forms may lead in the end, beside here. */
  readonly leadsTo?: string | undefined;
  /** The language of its text, BCP 47; English unless told. */
  readonly language?: string;
  /** One sheet in the middle, unless the page wants the whole window. */
  readonly isWide?: boolean;
  /** What runs in it and how it looks beside what all have. */
  readonly asset?: Asset | undefined;
  /** What is looked up again after so many seconds, and where; a page that waits for something works without a script so. */
  readonly refresh?: { readonly seconds: number; readonly url?: string } | undefined;
}

/** Whole: a blank more, and it is not what the policy allows. */
const styleElement = new Markup(`<style>${style}</style>`);
/** Else browsers ask for /favicon.ico. */
const icon = new Markup(`<link rel="icon" href="data:," />`);

export function renderPage({ title, body, language = "en", isWide = false, asset, refresh }: Page): string {
  return `<!doctype html>${
    html`<html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        ${refresh === undefined ? undefined : refreshElement(refresh, asset)}
        <title>${title}</title>
        ${icon}${styleElement} ${(asset?.styles ?? []).map((href) => html`<link rel="stylesheet" href="${href}" />`)}
        ${(asset?.scripts ?? []).map((src) => html`<script type="module" src="${src}"></script>`)}
      </head>
      <body class="${isWide ? "wide" : "sheet"}">
        ${isWide ? body : html`<main>${body}</main>`}
      </body>
    </html>`.text
  }`;
}

/** A page with a script looks by that: what is being read is not taken away. */
function refreshElement(refresh: NonNullable<Page["refresh"]>, asset: Asset | undefined): Markup {
  const element = html`<meta http-equiv="refresh" content="${refreshOf(refresh)}" />`;
  return asset === undefined ? element : html`<noscript>${element}</noscript>`;
}

const refreshOf = ({ seconds, url }: NonNullable<Page["refresh"]>): string => (url === undefined ? String(seconds) : `${seconds}; url=${url}`);

/** A form's answer is a redirect to the app, which counts as the form's own target. */
export function pageHeaders({ leadsTo, asset }: Pick<Page, "leadsTo" | "asset">): Record<string, string> {
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
 * What a policy calls the places behind an app's address: their scheme. Browsers hold a form to its policy through every redirect that follows, so that
 * the app's origin alone would strand whom the app sends on to another of its own; and no policy can name an origin like http://[::1].
 */
export const placeBehind = (redirectUri: string): string | undefined => URL.parse(redirectUri)?.protocol;
