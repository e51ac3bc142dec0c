/**
 * Requests generated from the document: valid ones, and ones that violate exactly one rule, each with the
 * expected answer. All other parts vary from request to request.
 */
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { type Bend, bendsOf, type Draft, jsonOf, type Refusal } from "./bends.ts";
import type { DocumentOperation } from "./document.ts";
import { type Ground, type Parts, soundParts } from "./ground.ts";
import { queryOf } from "./queries.ts";
import { validOf } from "./values.ts";
import type { Sent } from "./wire.ts";

export interface Generated {
  readonly operation: DocumentOperation;
  /** A description of what is unusual about the request. */
  readonly about: string;
  readonly sent: Sent;
  /** The expected refusal; null if any documented answer is allowed. */
  readonly refusal: Refusal | null;
}

/** Generates valid requests about the demo's objects, or about those in `about`. */
export function soundRequest(
  ground: Ground,
  operation: DocumentOperation,
  subject: Partial<Parts> = {},
): fc.Arbitrary<Generated> {
  return bent(ground, operation, () => fc.constant({ about: "sound", refusal: null }), subject);
}

/** Generates any request that the schemas allow, meaningful or not. */
export function allowedRequest(ground: Ground, operation: DocumentOperation): fc.Arbitrary<Generated> {
  return bent(ground, operation, () =>
    validOf(operation.body ?? { type: "object", properties: {} }).map((body) => {
      const about = "allowed by its schema";
      return operation.body === null
        ? { about, refusal: null }
        : { about, refusal: null, body: jsonOf(body) };
    }),
  );
}

export function brokenRequest(ground: Ground, operation: DocumentOperation): fc.Arbitrary<Generated> {
  const kinds = bendsOf(ground, operation);
  return fc
    .constantFrom(...kinds)
    .chain((bends) => fc.constantFrom(...bends).chain((bend) => bent(ground, operation, bend)));
}

/** Generates one request for each way in which a request can be wrong. */
export function brokenRequests(ground: Ground, operation: DocumentOperation): fc.Arbitrary<Generated>[] {
  const bends = new Set(bendsOf(ground, operation).flat());
  return [...bends].map((bend) => bent(ground, operation, bend));
}

function bent(
  ground: Ground,
  operation: DocumentOperation,
  bend: Bend,
  subject: Partial<Parts> = {},
): fc.Arbitrary<Generated> {
  return fc
    .tuple(
      soundParts(ground, operation),
      idempotencyKeys,
      fc.subarray(harmlessHeaders, { maxLength: 3 }),
      bearer,
    )
    .chain(([sound, key, harmless, scheme]) => {
      const parts = { ...sound, ...subject, body: merged(sound.body, subject.body) };
      const draft: Draft = {
        method: operation.method,
        path: parts.path,
        query: queryOf(parts.query),
        authorization: operation.isAnonymous ? [] : [`${scheme} ${ground.demo.keys.full}`],
        idempotency: operation.isIdempotent ? [key] : [],
        contentType: operation.body === null ? [] : ["application/json"],
        body: operation.body === null ? null : jsonOf(parts.body),
        harmless,
      };
      return bend(parts).map(({ about, refusal, ...more }) => ({
        operation,
        about,
        refusal,
        sent: toSent(operation, { ...draft, ...more }),
      }));
    });
}

const merged = (body: unknown, more: unknown): unknown =>
  more === undefined ? body : { ...(body as object), ...(more as object) };

function toSent({ path: template }: DocumentOperation, draft: Draft): Sent {
  const { method, path, query, authorization, idempotency, contentType, body, harmless } = draft;
  return {
    method,
    url: template.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => path[name] ?? "") + query,
    headers: [
      ...authorization.map((value) => ["Authorization", value] as const),
      ...idempotency.map((value) => ["Idempotency-Key", value] as const),
      ...contentType.map((value) => ["Content-Type", value] as const),
      ...harmless,
    ],
    body,
  };
}

const bearer = fc.constantFrom("Bearer", "bearer", "BEARER", "Bearer ");
/** Generates distinct keys. */
const idempotencyKeys = fc
  .constantFrom<(key: string) => string>(
    (key) => key,
    (key) => `"${key}"`,
    (key) => `${key}!#$%&'()*+-./:<=>?@[]^_\`{|}~`,
    (key) => key.padEnd(255, "x"),
  )
  .map((shape) => shape(randomUUID()));

/** Headers that must have no effect. */
const harmlessHeaders: (readonly [string, string])[] = [
  ["Accept", "text/html"],
  ["Accept", "application/xml;q=1, */*;q=0"],
  ["Accept", ";;;"],
  ["Accept-Language", "de-CH, *;q=0.5, x-;q=nine"],
  ["Accept-Encoding", "br;q=0, gzip;q=0, *;q=0"],
  ["If-None-Match", '"v1", W/"v2", *'],
  ["If-Match", '"v999"'],
  ["If-Modified-Since", "yesterday"],
  ["Range", "bytes=0-0"],
  ["X-HTTP-Method-Override", "DELETE"],
  ["X-Request-Id", "req_mine"],
  ["X-Forwarded-For", "203.0.113.7, ::1"],
  ["Forwarded", "for=_hidden;proto=ftp"],
  ["Cookie", "session=x; __Host-y=%00"],
  ["Origin", "null"],
  ["Prefer", "return=minimal"],
  ["User-Agent", "caf\u00e9"],
  ["Traceparent", "00-zz-zz-zz"],
];
