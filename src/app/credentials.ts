/** Creates the signing keys of access tokens and the verifier of all kinds of credentials of one process. */
import { type ClosableCredentialVerifier, createCredentialVerifier } from "#access/credentials.ts";
import { createAccessTokenVerifier } from "#access/oauth/access-tokens.ts";
import { createOauthSigningKeyProvider, type OauthSigningKeyProvider } from "#access/oauth/signing-keys.ts";
import type { Log } from "#foundation/log.ts";
import type { GraphqlServices } from "#graph/context.ts";

type CredentialServices = Pick<GraphqlServices, "db" | "clock" | "publicUrl" | "keyring" | "events">;
interface CredentialOptions extends CredentialServices {
  readonly log: Log;
  /**
   * Returns whether this process receives all notices (NOTIFY) about changed credentials. If not, its cache
   * of credentials may be outdated.
   */
  readonly isCurrent: () => boolean;
}

/**
 * Creates the service that manages the signing keys of access tokens, and the verifier of all kinds of
 * credentials.
 */
export function createSigningKeysAndCredentialVerifier({
  log,
  isCurrent,
  events,
  ...services
}: CredentialOptions): {
  readonly signingKeys: OauthSigningKeyProvider;
  readonly credentials: ClosableCredentialVerifier;
} {
  const { db, clock, publicUrl, keyring } = services;
  const signingKeys = createOauthSigningKeyProvider({ db, keyring, clock, log });
  const credentials = createCredentialVerifier({
    db,
    clock,
    keyring,
    events,
    isCurrent,
    createVerifier: (findGrant) =>
      createAccessTokenVerifier({ db, clock, publicUrl, signingKeys, findGrant }),
  });
  return { signingKeys, credentials };
}
