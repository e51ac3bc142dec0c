/** Compares the entity tag (ETag) of an answer with the request header If-None-Match (RFC 9110). */

/** Returns the entity tags that an If-None-Match header lists, without the prefix `W/` of weak tags. */
export const parseEntityTags = (header: string | undefined): readonly string[] =>
  header === undefined ? [] : header.split(",").map(toOpaqueTag);

/**
 * Returns whether the client already has the content with this entity tag. The comparison is weak: a
 * compressed and an uncompressed answer have the same content.
 */
export const isEntityTagKnownToClient = (header: string | undefined, etag: string): boolean =>
  parseEntityTags(header).some((tag) => tag === "*" || tag === toOpaqueTag(etag));

const toOpaqueTag = (tag: string): string => tag.trim().replace(/^W\//, "");
