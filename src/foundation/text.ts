/** What text may enter: no NUL, no control characters but tab and line breaks, no lone surrogates. */

// eslint-disable-next-line no-control-regex -- Finding control characters is its purpose.
const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

export function isCleanText(text: string): boolean {
  return !forbidden.test(text) && text.isWellFormed();
}

export const slugPattern = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
export const slugLengthMax = 96;

export function isSlug(text: string): boolean {
  return text.length <= slugLengthMax && slugPattern.test(text);
}

export function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;").replaceAll("'", "&#39;");
}

const referencePattern = /^[\x21-\x3f\x41-\x7e]{1,128}$/;

/** A frontend's own stable name for a buyer: 1 to 128 printable ASCII characters without space and @, so that an e-mail is none. */
export function isBuyerReference(text: string): boolean {
  return referencePattern.test(text);
}
