/** Ways in which a request to an operation can be wrong, one at a time, each with the expected refusal. */
import fc from "fast-check";
import { unknownKey, withOtherSecret, withTypo } from "#test/support/keys.ts";
import type { DocumentOperation } from "./document.ts";
import { type Ground, type Parts, strangeIds } from "./ground.ts";
import { queryBreaks } from "./queries.ts";
import { breaksOf, otherTypes, pointerOf, putAt } from "./values.ts";

export interface Refusal {
  readonly status: number;
  readonly codes: readonly string[];
  /** The field that an entry of `details` must name, if it must name one. */
  readonly field?: string;
}

export interface Draft {
  readonly method: string;
  readonly path: Parts["path"];
  /** The query string as written in the address. */
  readonly query: string;
  readonly authorization: readonly string[];
  readonly idempotency: readonly string[];
  readonly contentType: readonly string[];
  readonly body: Buffer | null;
  readonly harmless: readonly (readonly [string, string])[];
}

type Bent = { readonly about: string; readonly refusal: Refusal | null } & Partial<Draft>;
/** Generates one kind of wrong request from the parts of a valid one. */
export type Bend = (parts: Parts) => fc.Arbitrary<Bent>;

export const jsonOf = (value: unknown): Buffer => Buffer.from(JSON.stringify(value) ?? "null");

const refused = (status: number, code: string | readonly string[], field?: string): Refusal => ({
  status,
  codes: typeof code === "string" ? [code] : code,
  ...(field === undefined ? {} : { field }),
});

/** The wrong requests of an operation, grouped by kind, so that kinds with few forms are tested as often. */
export function bendsOf(ground: Ground, operation: DocumentOperation): Bend[][] {
  const query = queryBreaks(operation).map(
    ({ rule, code, field, write }): Bend =>
      ({ query: sound }) =>
        write(sound).map((written) => ({
          about: `query: ${rule}`,
          refusal: refused(400, code, field),
          query: written,
        })),
  );
  const hasPath = operation.parameters.some((parameter) => parameter.in === "path");
  const fields = operation.body === null ? [] : bodyBends(operation);
  const kinds: Bend[][] = [
    [() => otherMethods(ground, operation)],
    operation.isAnonymous ? [] : [() => wrongCredentials(ground, operation)],
    operation.scope === "none" ? [] : [() => otherScopes(ground, operation)],
    // The token is checked before the query string.
    operation.needsToken ? [] : query,
    operation.needsToken || operation.body !== null ? [] : [() => unexpectedBodies],
    operation.isIdempotent ? [() => wrongKeys] : [],
    operation.isIdempotent ? [() => wrongForms, (parts: Parts): fc.Arbitrary<Bent> => wrongJson(parts)] : [],
    // Faults of fields are so many that they count threefold.
    fields,
    fields,
    fields,
    hasPath ? [(parts): fc.Arbitrary<Bent> => strangePaths(ground, operation, parts)] : [],
  ];
  return kinds.filter((bends) => bends.length > 0);
}

/** Methods of HTTP; CONNECT is missing, because it has no path. */
const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "PURGE", "QUERY"];

function otherMethods({ operations }: Ground, { path }: DocumentOperation): fc.Arbitrary<Bent> {
  const known = new Set(
    operations.filter((operation) => operation.path === path).map(({ method }) => method),
  );
  const refusal = refused(405, "method_not_allowed");
  return fc.constantFrom(...methods.filter((method) => !known.has(method))).map((method) => ({
    about: `method ${method}`,
    refusal,
    method,
    body: null,
    contentType: [],
    idempotency: [],
    authorization: [],
  }));
}

function wrongCredentials({ demo: { keys } }: Ground, { needsToken }: DocumentOperation): fc.Arbitrary<Bent> {
  const jwt = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.x";
  const [malformed, invalid] = [
    "credentials_malformed",
    needsToken ? "oauth_token_invalid" : "api_key_invalid",
  ];
  const ways: readonly (readonly [code: string, ...lines: string[]])[] = [
    ["credentials_missing"],
    [malformed, ""],
    [malformed, "Bearer"],
    [malformed, keys.full],
    [malformed, `Basic ${Buffer.from(keys.full).toString("base64")}`],
    [malformed, `Bearer ${keys.full} x`],
    [malformed, `Bearer "${keys.full}"`],
    [malformed, `Bearer caf\u00e9`],
    [malformed, `Bearer ${keys.full}`, `Bearer ${keys.full}`],
    [invalid, "Bearer x"],
    [invalid, `Bearer ${unknownKey()}`],
    [invalid, `Bearer ${withTypo(keys.full)}`],
    [invalid, `Bearer ${withOtherSecret(keys.full)}`],
    [invalid, `Bearer ${keys.full.toUpperCase()}`],
    [needsToken ? invalid : "api_key_expired", `Bearer ${keys.expired}`],
    [needsToken ? invalid : "api_key_revoked", `Bearer ${keys.revoked}`],
    ["oauth_token_invalid", `Bearer ${jwt}`],
    ...(needsToken ? [["oauth_token_invalid", `Bearer ${keys.full}`] as const] : []),
  ];
  const dpop = fc
    .constantFrom(`DPoP ${jwt}`, `dpop ${keys.full}`, "DPoP x")
    .map((line) => ({ codes: ["oauth_token_invalid", "dpop_proof_missing"], lines: [line] }));
  return fc
    .oneof(
      {
        weight: 5,
        arbitrary: fc.constantFrom(...ways).map(([code, ...lines]) => ({ codes: [code], lines })),
      },
      { weight: 1, arbitrary: dpop },
    )
    .map(({ codes, lines }) => ({
      about: `credentials: ${codes.join(" or ")}`,
      refusal: refused(401, codes),
      authorization: lines,
    }));
}

function otherScopes({ demo: { keys } }: Ground, { scope }: DocumentOperation): fc.Arbitrary<Bent> {
  const others = {
    "catalog:read": keys.catalogRead,
    "checkout:quote": keys.checkoutQuote,
    "webhooks:read": keys.webhooksRead,
    "webhooks:write": keys.webhooksWrite,
  };
  const without = Object.entries({ ...others, none: keys.noScope }).filter(([name]) => name !== scope);
  return fc.constantFrom(...without).map(([name, key]) => ({
    about: `the scope ${name}`,
    refusal: refused(403, "scope_missing", "Authorization"),
    authorization: [`Bearer ${key}`],
  }));
}

const wrongKeys: fc.Arbitrary<Bent> = fc
  .constantFrom<readonly string[]>(
    [],
    [],
    [],
    [""],
    ['""'],
    ['"'],
    ["a b"],
    ['"a'],
    ['a"'],
    ["a,b"],
    ["a;b"],
    ['"a";p=1'],
    ["a\\b"],
    ["caf\u00e9"],
    ["x".repeat(256)],
    [`"${"x".repeat(256)}"`],
    ["a", "b"],
    ["a", "a"],
  )
  .map((idempotency) => {
    const code = idempotency.length === 0 ? "idempotency_key_required" : "idempotency_key_invalid";
    return {
      about: `idempotency key ${idempotency.join(" and ").slice(0, 20)}`,
      refusal: refused(400, code, "Idempotency-Key"),
      idempotency,
    };
  });

const unexpectedBodies: fc.Arbitrary<Bent> = fc
  .tuple(
    fc.constantFrom("{}", "null", "x", "\u0000", "[".repeat(100)),
    fc.constantFrom<readonly string[]>([], ["application/json"], ["text/plain"]),
  )
  .map(([body, contentType]) => ({
    about: "a body",
    refusal: refused(400, "unexpected_body", ""),
    body: Buffer.from(body),
    contentType,
  }));

const mediaTypes = [
  "text/plain",
  "application/xml",
  "application/jsonp",
  "application/merge-patch+json",
  "multipart/form-data; boundary=x",
  "application/x-www-form-urlencoded",
  "*/*",
  "json",
  "",
];

const wrongForms: fc.Arbitrary<Bent> = fc.oneof(
  fc.constantFrom(...mediaTypes).map((type) => ({
    about: `content type ${type}`,
    refusal: refused(400, "unsupported_media_type"),
    contentType: [type],
  })),
  fc.constant({ about: "no content type", refusal: refused(400, "unsupported_media_type"), contentType: [] }),
  fc
    .constantFrom(null, Buffer.alloc(0))
    .map((body) => ({ about: "no body", refusal: refused(400, "missing_body"), body })),
);

function wrongJson({ body }: Parts): fc.Arbitrary<Bent> {
  const written = JSON.stringify(body);
  const deep = (levels: number): string => `{"note":${"[".repeat(levels)}${"]".repeat(levels)}}`;
  const broken = [
    "{",
    "nul",
    "NaN",
    "{'reason':'test'}",
    `${written}}`,
    `${written},`,
    written.slice(0, -1),
    `${written.slice(0, -1)},}`,
    '{"note":"\u0000"}',
    "// x\n{}",
    deep(17),
    deep(1000),
    deep(20_000),
  ];
  const bytes = [
    Buffer.from([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]),
    Buffer.from([0x22, 0xc0, 0x80, 0x22]),
    Buffer.from('{"note":"\u00e9"}', "latin1"),
  ];
  const large = [
    Buffer.from(`{"note":"${"x".repeat(64 * 1024)}"}`),
    Buffer.concat([Buffer.from(written), Buffer.alloc(100 * 1024, " ")]),
  ];
  return fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .constantFrom(...broken.map((one) => Buffer.from(one)), ...bytes)
        .map((one) => ({ about: "no JSON", refusal: refused(400, "invalid_json"), body: one })),
    },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom(...large)
        .map((one) => ({ about: "a large body", refusal: refused(400, "request_too_large"), body: one })),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom("__proto__", "constructor").map((key) => ({
        about: `a body with ${key}`,
        refusal: refused(400, "unknown_field", `/${key}`),
        body: Buffer.from(`{"${key}":{},${written.slice(1)}`),
      })),
    },
  );
}

/** If the whole body is no object, the fault is at the root. */
function bodyBends({ body: schema }: DocumentOperation): Bend[] {
  const whole: Bend = () =>
    otherTypes({ type: "object" }).map((body) => ({
      about: "a body that is no object",
      refusal: refused(400, "invalid_field", ""),
      body: jsonOf(body),
    }));
  const breaks = breaksOf(schema ?? {}).map(
    ({ rule, at, value, failure, place }): Bend =>
      ({ body }) =>
        value.map((one) => ({
          about: `${pointerOf(at)}: ${rule}`,
          refusal: refused(400, failure, pointerOf(place)),
          body: jsonOf(putAt(body, at, one)),
        })),
  );
  return [whole, ...breaks];
}

function strangePaths(ground: Ground, operation: DocumentOperation, { path }: Parts): fc.Arbitrary<Bent> {
  const notFound = [...operation.errorCodes].filter((code) => code.endsWith("_not_found"));
  return fc.tuple(fc.constantFrom(...Object.keys(path)), strangeIds(ground)).map(([name, id]) => ({
    about: `${name} ${id.slice(0, 30)}`,
    refusal: refused(404, [...notFound, "route_not_found"]),
    path: { ...path, [name]: id },
  }));
}
