/** The name and the logo of this product. The logo shows a gate through which a path leads. */
import { html, PreEscapedHtml } from "./html.ts";

export const productName = "Commerce Gateway";

const shapes =
  '<rect width="32" height="32" rx="8" fill="#10332c"/>' +
  '<path d="M8 25V15a8 8 0 0 1 16 0v10" fill="none" stroke="#eef6f3" stroke-width="3.5" stroke-linecap="round"/>' +
  '<path d="M16 25v-9" fill="none" stroke="#f2b84b" stroke-width="3.5" stroke-linecap="round"/>';
const svg = (attributes: string): string => `<svg${attributes} viewBox="0 0 32 32">${shapes}</svg>`;

/** The logo as an image that screen readers skip, because the page shows the product's name beside it. */
export const logo: PreEscapedHtml = new PreEscapedHtml(svg(' class="logo" aria-hidden="true"'));

/**
 * The icon that browsers show in the tab. It is a data URL, which the Content-Security-Policy of all pages
 * allows.
 */
export const faviconUrl = `data:image/svg+xml,${encodeURIComponent(svg(' xmlns="http://www.w3.org/2000/svg"'))}`;

/** The product's logo and name, shown above pages that consist of one form, for example signing in. */
export const logoWithName: PreEscapedHtml = html`<p class="brand-line">
  ${logo}<span>${productName}</span>
</p>`;
