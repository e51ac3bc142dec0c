/** Chooses the content encoding of an answer by the request header Accept-Encoding (RFC 9110, section 12.5.3). */

/** The encodings in which the service sends answers, the best one first. */
export const contentEncodings = ["br", "gzip"] as const;
export type ContentEncoding = (typeof contentEncodings)[number];

/**
 * Returns the best encoding that the client accepts; undefined if the answer must be sent without an
 * encoding. An encoding with the quality 0 is not accepted. Other qualities are ignored.
 */
export function chooseContentEncoding(header: string | undefined): ContentEncoding | undefined {
  if (header === undefined) return undefined;
  const accepted = new Map<string, boolean>();
  for (const part of header.toLowerCase().split(",")) {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim());
    accepted.set(name, !parameters.some((parameter) => /^q\s*=\s*0(?:\.0{0,3})?$/.test(parameter)));
  }
  return contentEncodings.find((encoding) => accepted.get(encoding) ?? accepted.get("*") ?? false);
}
