/**
 * Says why a value cannot be an API key or an internal token, so that the caller finds the mistake. Considers
 * only the form of the value, which everybody can check without the service. Reads no database row, and
 * messages never contain a part of the value.
 */

/**
 * A value that a caller sent as a credential and that was refused because of its form or checksum. `kind` is
 * the kind of credential that the route accepts.
 */
export interface MalformedCredentialSecret {
  readonly kind: "cpk" | "cit";
  readonly value: string;
  /**
   * True if only the checksum of the credential is wrong; false if it does not have the form of its kind (API
   * key or internal token).
   */
  readonly hasForm: boolean;
}

const names = { cpk: "API key", cit: "internal token" } as const;

/**
 * The number of characters of an API key or internal token after its prefix `{kind}_{label}`: `_`, the id,
 * `_`, and the secret with its checksum.
 */
const charactersAfterLabel = 1 + 12 + 1 + 49;

const accepted = {
  cpk: "The REST API needs an API key (cpk_…), sent as `Authorization: Bearer` and the key.",
  cit:
    "GraphQL and the reports accept an internal token (cit_…); GraphQL also accepts the token of a buyer " +
    "session (cbs_…).",
} as const;

/**
 * Secrets and ids that callers send by mistake instead of a key or token. Each is recognized by its
 * beginning.
 */
const mistakenValues: readonly {
  readonly form: RegExp;
  readonly kind: "cpk" | "cit";
  readonly text: string;
}[] = [
  { form: /^cit_/, kind: "cpk", text: "Internal tokens (cit_…) work only for /graphql and the reports." },
  { form: /^cbs_/, kind: "cpk", text: "Tokens of buyer sessions (cbs_…) work only for /graphql." },
  {
    form: /^(?:cpk_|eyJ)/,
    kind: "cit",
    text: "API keys (cpk_…) and OAuth access tokens work only for the REST API.",
  },
  {
    form: /^key_/,
    kind: "cpk",
    text: "The value is the id of an API key (key_…). The key itself is shown only when it is created.",
  },
  {
    form: /^whsec_/,
    kind: "cpk",
    text: "The value is the signing secret of a webhook endpoint (whsec_…), which only verifies webhooks.",
  },
];

/** Returns the message of the failure `api_key_invalid` for a credential whose form or checksum is wrong. */
export function describeMalformedCredentialSecret({
  kind,
  value,
  hasForm,
}: MalformedCredentialSecret): string {
  const mistaken = mistakenValues.find((other) => other.kind === kind && other.form.test(value));
  if (mistaken !== undefined) return `${mistaken.text} ${accepted[kind]}`;
  const name = names[kind];
  const known = new RegExp(`^${kind}_[a-z]+`).exec(value)?.[0];
  if (known === undefined)
    return `The value is not an ${name}: an ${name} begins with ${kind}_. ${accepted[kind]}`;
  if (hasForm)
    return (
      `The checksum of the ${name} does not match, so the ${name} was mistyped or cut off. ` +
      `Copy the whole ${name} again.`
    );
  const expected = known.length + charactersAfterLabel;
  const fault =
    value.length === expected
      ? "it must have only letters and digits, in parts that are separated by _"
      : `it has ${value.length} characters instead of ${expected}`;
  return `The ${name} was mistyped or cut off: ${fault}. Copy the whole ${name} again.`;
}
