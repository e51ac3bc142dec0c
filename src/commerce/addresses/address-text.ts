/** The text of an address: tidied, and refused where it is no text of an address. Every pattern runs in linear time. */

/** NFC, one space between words, none around. What is empty then was not given. */
export function tidy(text: string): string {
  return text.normalize("NFC").replaceAll(/\s+/gu, " ").trim();
}

// Also separators of lines, and characters that are not seen but turn the direction of what follows: what is printed must be what was read.
const control = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069\uFEFF\uFFF9-\uFFFB]/u;
const html = /<[/!?]?\p{L}|<!|&(?:#\d{1,7}|#[xX][\dA-Fa-f]{1,6}|[A-Za-z][A-Za-z\d]{1,31});/u;
const scheme = /[A-Za-z][A-Za-z\d+.-]{0,20}:\/\/|\b(?:https?|javascript|mailto):/iu;
const web = /(?<![\p{L}\p{N}])www\./iu;
// Unicode counts ©, ™ and some arrows and signs as pictures; they are text here.
const emoji = /[\p{Extended_Pictographic}--[\u{A9}-\u{22FF}\u{24C2}\u{3000}-\u{33FF}]]|[\u{20E3}\u{FE0F}]|\p{Regional_Indicator}/v;

export type ForbiddenContent = "control_character" | "html" | "url" | "emoji";

export const forbiddenMessages: Readonly<Record<ForbiddenContent, string>> = {
  control_character: "It has control characters or broken Unicode.",
  html: "It must not have HTML.",
  url: "It must not have a URL.",
  emoji: "It must not have emoji.",
};

/** Of the text as it was given: tidying hides line breaks. The domain of an e-mail may begin with `www.`, so it is allowed there. */
export function forbiddenContent(text: string, { isWebAllowed }: { readonly isWebAllowed: boolean }): ForbiddenContent[] {
  const found: ForbiddenContent[] = [];
  if (control.test(text)) found.push("control_character");
  if (html.test(text)) found.push("html");
  if (scheme.test(text) || (!isWebAllowed && web.test(text))) found.push("url");
  if (emoji.test(text)) found.push("emoji");
  return found;
}

const e164 = /^\+[1-9]\d{6,14}$/;

export function isPhone(text: string): boolean {
  return e164.test(text);
}

/** `+49 (30) 123-456` → `+4930123456`; what is no phone number even so stays as it is. */
export function toPhone(text: string): string {
  const compact = text.normalize("NFKC").replaceAll(/[\s()./\p{Pd}]/gu, "");
  return isPhone(compact) ? compact : text;
}

const mailbox = /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const domainLabel = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?$/u;
const mailboxLengthMax = 64;

/** A dotted mailbox at a domain of two labels or more: no quotes, comments or address literals, which no shop's buyer has. */
export function isEmail(text: string): boolean {
  const at = text.lastIndexOf("@");
  const local = text.slice(0, at);
  const labels = text.slice(at + 1).split(".");
  return (
    at > 0 &&
    Buffer.byteLength(local) <= mailboxLengthMax &&
    mailbox.test(local) &&
    labels.length >= 2 &&
    labels.every((label) => domainLabel.test(label)) &&
    !/^\d+$/.test(labels.at(-1) ?? "")
  );
}

/** Domains have no case. */
export function toEmail(text: string): string {
  if (!isEmail(text)) return text;
  const at = text.lastIndexOf("@");
  return `${text.slice(0, at)}${text.slice(at).toLowerCase().normalize("NFC")}`;
}
