/**
 * Rotates refresh tokens: every use of a refresh token replaces it by a new one, its successor. The id of the
 * successor is computed from the used token with a key of the service. Requests that send the same token at
 * about the same time therefore all get the same successor, and only one chain of tokens exists. A client
 * that did not receive the answer may repeat its request for a short time. After this time, or once the
 * successor was used, another use of the old token revokes the grant (RFC 9700 section 4.14).
 */
import { createHmac } from "node:crypto";
import type { Provider } from "oidc-provider";
import { isAnyOauthServerRecordConsumed, type OauthServerRecord } from "#access/oauth/oauth-items.ts";
import type { OidcProviderModule } from "./interaction-request.ts";
import type { OauthServices } from "./oauth-services.ts";

type RotationServices = Pick<OauthServices, "db" | "clock" | "keyring">;

/** Milliseconds from the first use of a refresh token until the same token may no longer be sent again. */
export const refreshRetryMs = 60_000;

export const refreshTokenKind = "RefreshToken";

/**
 * Returns the possible ids of the refresh token that replaces the given one. There is one id for each key of
 * the keyring, the id of the current key first.
 */
const computeSuccessorIds = ({ keyring }: Pick<RotationServices, "keyring">, tokenId: string): string[] =>
  keyring
    .derive("oauth refresh token successor")
    .map((key) => createHmac("sha256", key).update(tokenId).digest("base64url"));

/**
 * The model of refresh tokens with its function `generateTokenId`, which the type declarations of
 * oidc-provider lack.
 */
type RefreshTokenModel = Provider["RefreshToken"]["prototype"] & { generateTokenId?: () => string };

/** Makes oidc-provider use the computed id for a refresh token that replaces another one. */
export function overrideRefreshTokenIdGeneration(
  provider: Provider,
  { Provider: library }: OidcProviderModule,
  services: Pick<RotationServices, "keyring">,
): void {
  const model: RefreshTokenModel = provider.RefreshToken.prototype;
  const { generateTokenId } = model;
  if (generateTokenId === undefined) throw new Error("This oidc-provider has no generateTokenId.");
  Object.defineProperty(model, "generateTokenId", {
    value(this: RefreshTokenModel): string {
      const replaced = library.ctx?.oidc.entities.RotatedRefreshToken;
      const [successorId] = replaced === undefined ? [] : computeSuccessorIds(services, replaced.jti);
      return successorId ?? generateTokenId.call(this);
    },
  });
}

/**
 * Returns whether a used refresh token may be sent once more: only shortly after its first use, and only
 * while its successor has not been used. This function does not check that the request has the token's client
 * and DPoP key; the authorization server does.
 */
export async function isRefreshTokenRetryAllowed(
  services: RotationServices,
  tokenId: string,
  consumedAt: OauthServerRecord["consumedAt"],
): Promise<boolean> {
  if (consumedAt === null) return false;
  if (services.clock.now().getTime() - consumedAt.getTime() >= refreshRetryMs) return false;
  const ids = computeSuccessorIds(services, tokenId);
  return !(await isAnyOauthServerRecordConsumed(services.db, { kind: refreshTokenKind, ids }));
}
