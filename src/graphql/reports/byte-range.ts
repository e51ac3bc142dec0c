/** Reads the Range header of a download (RFC 9110 section 14.2). */
import { createFailure } from "#foundation/failure.ts";

/** A part of a file: `size` bytes, beginning with the byte at the offset `start`. */
export interface ByteRange {
  readonly start: number;
  readonly size: number;
}

const singleRange = /^bytes=(?<first>\d{1,15})-(?<last>\d{0,15})$/i;
const suffixRange = /^bytes=-(?<length>\d{1,15})$/i;

/**
 * Returns the part of a file that a Range header requests. Throws `range_not_satisfiable` if the part is
 * outside the file. Returns undefined for a malformed header and for several parts; the caller then sends the
 * whole file, as RFC 9110 allows.
 */
export function parseByteRange(header: string, sizeBytes: number): ByteRange | undefined {
  const range = findRange(header.trim(), sizeBytes);
  if (range === undefined) return undefined;
  if (range.size > 0) return range;
  throw createFailure("range_not_satisfiable", { headers: { "content-range": `bytes */${sizeBytes}` } });
}

function findRange(header: string, sizeBytes: number): ByteRange | undefined {
  const length = suffixRange.exec(header)?.groups?.["length"];
  if (length !== undefined) {
    const size = Math.min(Number(length), sizeBytes);
    return { start: sizeBytes - size, size };
  }
  const { first, last = "" } = singleRange.exec(header)?.groups ?? {};
  if (first === undefined) return undefined;
  const start = Number(first);
  const end = last === "" ? sizeBytes : Number(last) + 1;
  // A byte range is malformed if its last byte is before its first byte, for example `bytes=9-5`.
  if (end <= start && last !== "") return undefined;
  return { start, size: Math.max(0, Math.min(end, sizeBytes) - start) };
}
