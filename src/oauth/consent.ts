/**
 * The consent page, on which a staff member grants scopes to an app. One transaction creates the installation
 * and the grant, and marks the interaction (sign-in and consent in the browser) as answered. The interaction
 * also stores the id of the grant. If the request is interrupted before the browser is sent back to the app,
 * a repeated request continues with the same grant.
 */
import { setTimeout } from "node:timers/promises";
import type { FastifyReply } from "fastify";
import { revokeOauthGrants } from "#access/credential-changes.ts";
import type { AccessManagementCommandContext } from "#access/keys/manage-keys.ts";
import { findOrStoreOauthAgentClient } from "#access/oauth/agent-clients.ts";
import { createOauthGrant } from "#access/oauth/grants.ts";
import {
  markOauthServerRecordConsumed,
  findOauthServerRecord,
  linkOauthInteractionToGrant,
} from "#access/oauth/oauth-items.ts";
import { isPermissionScope, type PermissionScope } from "#access/viewer.ts";
import type { SignedInStaff } from "#access/people/staff.ts";
import { runInTransaction, type DatabaseOrTransaction, type Transaction } from "#database/transaction.ts";
import { createFailure, Failure, type FailureCode } from "#foundation/failure.ts";
import {
  type OauthInteractionRequest,
  type RequestingOauthClient,
  finishOauthInteraction,
  sendOauthPage,
  signOutStaffAndRestartInteraction,
} from "./interaction-request.ts";
import type { OauthServices } from "./oauth-services.ts";
import { getRedirectHostOrScheme } from "#pages/shared/page.ts";
import { renderOauthConsentPage, findSignedInStaff } from "./pages.ts";

interface ConsentOptions {
  readonly status?: number;
  readonly fault?: string;
  readonly refusal?: string | undefined;
}

/** Sends the consent page. If consent was already given, redirects to the app instead. */
export async function sendOauthConsentPage(
  exchange: OauthInteractionRequest,
  services: OauthServices,
): Promise<FastifyReply> {
  const grantId = await findGrantOfInteraction(exchange, services);
  return grantId === null ? showConsentForm(exchange, services) : continueInteraction(exchange, grantId);
}

async function showConsentForm(
  exchange: OauthInteractionRequest,
  { db }: OauthServices,
  shown: ConsentOptions = {},
): Promise<FastifyReply> {
  const staff = await findStaffOfInteraction(exchange, db);
  if (staff === undefined) return signOutStaffAndRestartInteraction(exchange);
  const { client, leadsTo, reply } = exchange;
  const place = await findInstallationState(db, { merchantId: staff.merchantId, appId: client.appId });
  const requested = requestedScopes(exchange);
  const isAllowed = (scope: PermissionScope): boolean => place.installationScopes?.includes(scope) ?? true;
  const scopes = requested.filter(isAllowed);
  const page = renderOauthConsentPage({
    app: { name: client.appName, publisher: client.publisher },
    agent: client.agent,
    leadsTo,
    destination: getRedirectHostOrScheme(String(exchange.interaction.params["redirect_uri"])),
    merchantName: place.merchantName,
    staffEmail: staff.email,
    scopes,
    scopesBeyond: requested.filter((scope) => !isAllowed(scope)),
    fault: shown.fault,
    refusal:
      shown.refusal ??
      (staff.role === "admin" ? undefined : analystRefusal) ??
      suspensionRefusal(place) ??
      (scopes.length === 0 ? noScopeHeldMessage : undefined),
  });
  return sendOauthPage(reply.code(shown.status ?? 200), page);
}

/**
 * Returns the staff member who signed in for the interaction; undefined if, since the sign-in, the account
 * was disabled or its password or role has changed.
 */
function findStaffOfInteraction(
  { interaction: { session } }: Pick<OauthInteractionRequest, "interaction">,
  reader: DatabaseOrTransaction,
): Promise<SignedInStaff | undefined> {
  return session === undefined ? Promise.resolve(undefined) : findSignedInStaff(reader, session);
}

const requestedScopes = ({ interaction: { params } }: OauthInteractionRequest): PermissionScope[] =>
  String(params["scope"]).split(" ").filter(isPermissionScope);

interface InstallationState {
  readonly merchantName: string;
  readonly merchantStatus: string;
  /** Status of the app's installation with the merchant; null if the app is not installed. */
  readonly installationStatus: string | null;
  readonly installationScopes: readonly string[] | null;
}

function findInstallationState(
  reader: DatabaseOrTransaction,
  { merchantId, appId }: { readonly merchantId: string; readonly appId: string | null },
): Promise<InstallationState> {
  return reader
    .selectFrom("merchant")
    .leftJoin("installation", (join) =>
      join
        .onRef("installation.merchantId", "=", "merchant.id")
        .on("installation.appId", "=", appId)
        .on("installation.status", "<>", "uninstalled"),
    )
    .select(["merchant.name as merchantName", "merchant.status as merchantStatus"])
    .select(["installation.status as installationStatus", "installation.scopes as installationScopes"])
    .where("merchant.id", "=", merchantId)
    .executeTakeFirstOrThrow();
}

const refusalTexts: Partial<Record<FailureCode, string>> = {
  merchant_suspended: "Your shop is suspended: you cannot grant access to apps until it is resumed.",
  installation_suspended:
    "This app is suspended for your shop: you can grant access again when the installation is resumed.",
};

const analystRefusal =
  "Your account has the role Analyst, which cannot allow apps. Ask a colleague with the role Admin, or use " +
  "another account.";
const noScopeHeldMessage =
  "The app is installed in your shop, but has none of the permissions that it asks for. Ask the person " +
  "who manages your shop’s apps to allow more, then start again from the app.";
const scopesChangedMessage =
  "The app’s permissions in your shop have changed meanwhile. Check again what you allow.";

function suspensionRefusal({ merchantStatus, installationStatus }: InstallationState): string | undefined {
  if (merchantStatus === "suspended") return refusalTexts.merchant_suspended;
  return installationStatus === "suspended" ? refusalTexts.installation_suspended : undefined;
}

export async function acceptOauthConsent(
  exchange: OauthInteractionRequest,
  services: OauthServices,
  ticked: readonly string[],
): Promise<FastifyReply> {
  const scopes = requestedScopes(exchange).filter((scope) => ticked.includes(scope));
  if (scopes.length === 0)
    return showConsentForm(exchange, services, {
      status: 400,
      fault: "Choose at least one permission, or “Don’t allow”.",
    });
  const staff = await findStaffOfInteraction(exchange, services.db);
  if (staff === undefined) return signOutStaffAndRestartInteraction(exchange);
  if (staff.role !== "admin") return showConsentForm(exchange, services, { status: 403 });
  try {
    const { isNew, grantId } = await createGrantOnce(exchange, services, { staff, scopes });
    if (isNew) return await finishOauthInteraction(exchange, { consent: { grantId } });
    // The browser sent the consent form twice, so the grant that the first form has created is used.
    return await continueInteraction(exchange, grantId);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // The code `role_not_allowed` means that the staff account was disabled or changed while the consent page
    // was open.
    if (error.code === "role_not_allowed") return signOutStaffAndRestartInteraction(exchange);
    if (error.parts.conflict?.reason === "scope_not_held")
      return showConsentForm(exchange, services, { status: 409, fault: scopesChangedMessage });
    const refusal = refusalTexts[error.code];
    if (refusal === undefined) throw error;
    return showConsentForm(exchange, services, { status: 409, refusal });
  }
}

/**
 * Refuses the app's request: ends the interaction with the error `access_denied`, which is sent to the app.
 * If an interrupted consent has already created a grant, this grant is revoked.
 */
export async function denyOauthConsent(
  exchange: OauthInteractionRequest,
  services: OauthServices,
): Promise<FastifyReply> {
  const grantId = await findGrantOfInteraction(exchange, services);
  if (grantId !== null) await revokeDeniedGrant(exchange, services, grantId);
  return finishOauthInteraction(exchange, {
    error: "access_denied",
    error_description: "access was not granted",
  });
}

function revokeDeniedGrant(
  { interaction, request }: OauthInteractionRequest,
  { db, clock, onRevoked }: OauthServices,
  grantId: string,
): Promise<void> {
  const now = clock.now();
  return runInTransaction(db, async (transaction) => {
    // Revoking the grant deletes all its records. The interaction is still needed for the answer to the app,
    // so it is detached from the grant first.
    await linkOauthInteractionToGrant(transaction, {
      kind: "Interaction",
      id: interaction.uid,
      grantId: null,
    });
    const revoked = await revokeOauthGrants(transaction, { now }, { column: "id", value: grantId });
    for (const ended of revoked)
      await onRevoked(transaction, { ...ended, reason: "denied", now, requestId: request.id });
  });
}

/** Returns the id of the OAuth grant that was created in this interaction; null if none was created. */
async function findGrantOfInteraction(
  { interaction }: OauthInteractionRequest,
  { db, keyring, clock }: OauthServices,
): Promise<string | null> {
  const item = await findOauthServerRecord(
    { db, keyring },
    { kind: "Interaction", by: "id", value: interaction.uid, now: clock.now() },
  );
  return item === undefined || item.consumedAt === null ? null : item.grantId;
}

/**
 * Continues an interaction whose consent was already answered. `grantId` is null if the grant has been
 * revoked; the interaction then ends too.
 */
async function continueInteraction(
  exchange: OauthInteractionRequest,
  grantId: string | null,
): Promise<FastifyReply> {
  const isCutShort = grantId !== null && !(await isAnswered(exchange));
  return isCutShort
    ? finishOauthInteraction(exchange, { consent: { grantId } })
    : exchange.reply.redirect(exchange.interaction.returnTo, 303);
}

const checksMax = 40;
const betweenChecksMs = 50;

/**
 * Waits up to two seconds for the concurrent request that created the grant to store the interaction's
 * result. Returns false if that request was interrupted.
 */
async function isAnswered({ provider, interaction: { uid } }: OauthInteractionRequest): Promise<boolean> {
  for (let look = 0; look < checksMax; look += 1) {
    const interaction = await provider.Interaction.find(uid);
    if (interaction === undefined || interaction.result !== undefined) return true;
    await setTimeout(betweenChecksMs);
  }
  return false;
}

interface ConsentDecision {
  readonly staff: SignedInStaff;
  readonly scopes: readonly PermissionScope[];
}

type ConsentResult =
  | { readonly isNew: true; readonly grantId: string }
  | { readonly isNew: false; readonly grantId: string | null };

function createGrantOnce(
  { interaction, client, request }: OauthInteractionRequest,
  services: OauthServices,
  { staff, scopes }: ConsentDecision,
): Promise<ConsentResult> {
  const now = services.clock.now();
  const answered = { kind: "Interaction", id: interaction.uid };
  return runInTransaction(services.db, async (transaction) => {
    const { isFirstUse, grantId } = await markOauthServerRecordConsumed(
      { db: transaction, keyring: services.keyring },
      { ...answered, now },
    );
    if (!isFirstUse) return { isNew: false, grantId };
    const access = { merchantId: staff.merchantId, now };
    const clientId = await getStoredClientId(transaction, access, client);
    const made = await createOauthGrant(transaction, access, {
      clientId,
      staffId: staff.staffId,
      scopes,
    });
    // `createOauthGrant` has locked the row of the staff account, so the result of this check cannot change before
    // the commit.
    if ((await findStaffOfInteraction({ interaction }, transaction)) === undefined)
      throw createFailure("role_not_allowed");
    await services.onGranted(transaction, {
      ...made,
      staff,
      clientId,
      scopes,
      now,
      requestId: request.id,
    });
    await linkOauthInteractionToGrant(transaction, { ...answered, grantId: made.grantId });
    return { isNew: true, grantId: made.grantId };
  });
}

/**
 * Returns the id of the client's database row. Stores the client and its app if the client is an AI agent to
 * which no merchant has granted access yet.
 */
function getStoredClientId(
  transaction: Transaction,
  access: AccessManagementCommandContext,
  { id, appName, agent }: RequestingOauthClient,
): Promise<string> | string {
  if (agent === null) return id;
  // Apps belong to no merchant.
  const ofPlatform = { ...access, merchantId: null };
  return findOrStoreOauthAgentClient(transaction, ofPlatform, {
    id,
    name: appName,
    redirectUris: agent.redirectUris,
  });
}
