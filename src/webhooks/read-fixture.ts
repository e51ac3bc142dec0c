/** What a signature fixture is made of: the endpoint, switched off or not, and the secrets that sign for it now. */
import { type RawBuilder, sql } from "kysely";
import type { Reader } from "#database/transaction.ts";
import type { Keyring } from "#foundation/encryption.ts";
import type { FixtureEndpoint, FixtureParts } from "./signature-fixture.ts";
import { placeOfSecret } from "./signatures.ts";

interface SealedRow {
  readonly id: string;
  readonly version: number;
  /** Base64. */
  readonly sealed: string;
  readonly dataKey: string;
  readonly keyId: string;
}

/** Sealed as they are stored. */
export interface SealedFixture {
  readonly endpoint: FixtureEndpoint;
  readonly secrets: readonly SealedRow[];
}

/** By endpoint; what is deleted or was never there is missing. */
export async function findFixtures(reader: Reader, endpointIds: readonly string[], now: Date): Promise<Map<string, SealedFixture>> {
  const { rows } = await sql<FixtureEndpoint & Pick<SealedFixture, "secrets">>`
    select w.id, w.version, w.merchant_id, m.mode, ${sealedSecrets(now)} as secrets
    from webhook_endpoint w join merchant m on m.id = w.merchant_id
    where w.id = any(${endpointIds}::text[]) and w.status <> 'deleted'`.execute(reader);
  return new Map(rows.map(({ secrets, ...endpoint }) => [endpoint.id, { endpoint, secrets }]));
}

const sealedSecrets = (now: Date): RawBuilder<readonly SealedRow[]> => sql<readonly SealedRow[]>`(
  select coalesce(json_agg(json_build_object('id', s.id, 'version', s.version, 'sealed', encode(s.sealed, 'base64'),
    'dataKey', encode(s.data_key, 'base64'), 'keyId', s.key_id)), '[]')
  from webhook_secret s where s.endpoint_id = w.id and (s.expires_at is null or s.expires_at > ${now}::timestamptz))`;

export function openFixture({ endpoint, secrets }: SealedFixture, keyring: Keyring, now: Date): FixtureParts {
  const opened = secrets.map(({ id, version, sealed, dataKey, keyId }) => {
    const row = { sealed: Buffer.from(sealed, "base64"), dataKey: Buffer.from(dataKey, "base64"), keyId };
    return { version, value: keyring.open(row, placeOfSecret(id)).toString("utf8") };
  });
  return { endpoint, secrets: opened, now };
}
