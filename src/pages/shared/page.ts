/**
 * Renders the HTML document around the content of every page. Pages are readable on phones and in dark mode,
 * and load scripts and style sheets from this service only. The Content-Security-Policy of each page allows
 * only what this page uses.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { PageScriptAndStylePaths } from "./assets.ts";
import { logoWithName, faviconUrl } from "./brand.ts";
import { html, PreEscapedHtml } from "./html.ts";

const readSheet = (name: string): string => readFileSync(join(import.meta.dirname, name), "utf8");

/** The style sheet that all pages share. A page may add its own style sheet. */
const baseStyle = readSheet("tokens.css") + readSheet("base.css");

/** The hash of the shared style sheet. The Content-Security-Policy contains it to allow this style sheet. */
const styleHash = `sha256-${createHash("sha256").update(baseStyle).digest("base64")}`;

export interface HtmlPage {
  readonly title: string;
  readonly body: PreEscapedHtml;
  /**
   * The additional source, for example the scheme of a URL, to which the page's forms may redirect. The
   * directive `form-action` of the Content-Security-Policy contains it. Left out if forms redirect only to
   * this service.
   */
  readonly leadsTo?: string | undefined;
  /** The language of the page's text (BCP 47); English by default. */
  readonly language?: string;
  /** True if the page uses the whole window; otherwise the page is one narrow column. */
  readonly isWide?: boolean;
  /** The scripts and style sheets of the page itself, in addition to the shared style sheet. */
  readonly asset?: PageScriptAndStylePaths | undefined;
  /**
   * The automatic reload after a number of seconds, so that a page that waits for a result works without a
   * script. With `url`, the browser opens that URL instead of the page itself.
   */
  readonly refresh?: { readonly seconds: number; readonly url?: string } | undefined;
}

/**
 * The HTML `style` element with exactly the style sheet. Any other character would change the hash that the
 * Content-Security-Policy allows.
 */
const styleElement = new PreEscapedHtml(`<style>${baseStyle}</style>`);
const icon = html`<link rel="icon" href="${faviconUrl}" />`;

export function renderHtmlPage({
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
        ${
          isWide
            ? body
            : html`${logoWithName}
                <main>${body}</main>`
        }
      </body>
    </html>`.text
  }`;
}

/**
 * Renders the element that reloads the page or opens another page after some seconds. On a page with a
 * script, the element is inside `noscript`, because the script decides when to reload without interrupting
 * the reader.
 */
function refreshElement(
  refresh: NonNullable<HtmlPage["refresh"]>,
  asset: PageScriptAndStylePaths | undefined,
): PreEscapedHtml {
  const element = html`<meta http-equiv="refresh" content="${refreshOf(refresh)}" />`;
  return asset === undefined ? element : html`<noscript>${element}</noscript>`;
}

const refreshOf = ({ seconds, url }: NonNullable<HtmlPage["refresh"]>): string =>
  url === undefined ? String(seconds) : `${seconds}; url=${url}`;

/**
 * Returns the HTTP headers of a page. The directive `form-action` of the Content-Security-Policy also allows
 * `leadsTo`, because browsers apply the directive to the redirects after a form too.
 */
export function getPageHttpHeaders({
  leadsTo,
  asset,
}: Pick<HtmlPage, "leadsTo" | "asset">): Record<string, string> {
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
 * Returns the host of the URL to which an app is redirected. Returns the scheme for the URL of a native app
 * without a host.
 */
export function getRedirectHostOrScheme(redirectUri: string): string {
  const url = URL.parse(redirectUri);
  return url === null || url.host === "" ? (url?.protocol ?? redirectUri) : url.host;
}

/**
 * Returns the scheme of the URL to which an app is redirected, which the Content-Security-Policy allows in
 * `form-action`. The origin alone would be too strict, because browsers also check later redirects to other
 * origins of the app. In addition, a policy cannot name an origin such as http://[::1].
 */
export const getUrlSchemeOfRedirectUri = (redirectUri: string): string | undefined =>
  URL.parse(redirectUri)?.protocol;
