/** One entry of the audit log: a sentence that says who did what, with links, and the recorded details. */
import type { ComponentChildren, JSX } from "preact";
import { ConsoleLink } from "#pages/console/browser/navigation.tsx";
import { formatEnumValue, FormattedTime } from "#pages/console/browser/parts/formats.tsx";
import { formatAuditAction } from "./action-words.ts";
import type { AuditLogEntry } from "./audit-documents.ts";

/** The words for actors that have no name in the audit log, for example buyers. */
const unnamedActors: Readonly<Record<AuditLogEntry["actor"], string>> = {
  API_KEY: "An app with an API key",
  OAUTH_CLIENT: "An app with an OAuth grant",
  BUYER: "A buyer",
  STAFF: "A program of the shop",
  OPERATOR: "The platform",
  COMMAND: "The platform’s operator, at the command line,",
  SYSTEM: "The service",
};

export function AuditEntryActorName({ entry }: { readonly entry: AuditLogEntry }): JSX.Element {
  const { apiKey, oauthGrant, staff, internalToken, actor, actorId } = entry;
  const toOthers = actorId === null ? undefined : `/audit?by=${actorId}`;
  const linked = (name: ComponentChildren): JSX.Element =>
    toOthers === undefined ? <>{name}</> : <ConsoleLink to={toOthers}>{name}</ConsoleLink>;
  if (staff !== null) return <strong>{linked(staff.name)}</strong>;
  if (apiKey !== null)
    return (
      <>
        <strong>{apiKey.installation.app.name}</strong>, with the key {linked(`“${apiKey.name}”`)} (…
        {apiKey.lastFour}),
      </>
    );
  if (oauthGrant !== null)
    return (
      <>
        <strong>{linked(oauthGrant.installation.app.name)}</strong>
        {oauthGrant.staff === null ? " " : `, with the grant of ${oauthGrant.staff.name},`}
      </>
    );
  if (internalToken !== null)
    return <>A program with the internal token {linked(`“${internalToken.name}”`)}</>;
  return <>{linked(unnamedActors[actor])}</>;
}

/**
 * Returns the path of the console page for an object of the given type; undefined if the console has no page
 * for this type.
 */
function pageOfTarget(targetType: string | null, targetId: string): string | undefined {
  const pages: Readonly<Record<string, string>> = {
    cart: `/carts/${targetId}`,
    order: `/orders/${targetId}`,
    installation: `/installations/${targetId}`,
    webhook_endpoint: `/endpoints/${targetId}`,
    webhook_delivery: `/deliveries/${targetId}`,
  };
  return targetType === null ? undefined : pages[targetType];
}

/**
 * Names of staff members and API keys by their id. The sentences of the audit log contain these names instead
 * of the ids, because staff do not know the ids.
 */
export type StaffAndApiKeyNamesById = ReadonlyMap<string, string>;

function TargetText({
  entry,
  names,
}: {
  readonly entry: AuditLogEntry;
  readonly names: StaffAndApiKeyNamesById;
}) {
  const { action, targetType, targetId, staff } = entry;
  if (targetId === null) return null;
  // Names the actor's own account as “their own” instead of by its name. For a sign-in, the sentence names no
  // account at all.
  if (targetId === staff?.id) return action.startsWith("console") ? null : <> (their own)</>;
  const page = pageOfTarget(targetType, targetId);
  const name = names.get(targetId);
  const text = name === undefined ? <code>{targetId}</code> : <>“{name}”</>;
  return <> {page === undefined ? text : <ConsoleLink to={page}>{text}</ConsoleLink>}</>;
}

/**
 * Returns the details of an audit entry in words, for example “Fields: address, validation. Reason:
 * duplicate.”
 */
function detailWords({ fields, reason, note }: AuditLogEntry["details"]): string {
  return [
    ...(Array.isArray(fields) ? [`Fields: ${fields.join(", ")}.`] : []),
    ...(typeof reason === "string" ? [`Reason: ${formatEnumValue(reason).toLowerCase()}.`] : []),
    ...(typeof note === "string" ? [`Note: “${note}”`] : []),
  ].join(" ");
}

interface EntryProps {
  readonly entry: AuditLogEntry;
  /**
   * True if the page shows the changes of a single object. The sentences of its audit entries then leave the
   * object out.
   */
  readonly isOfTarget: boolean;
  readonly names: StaffAndApiKeyNamesById;
}

export function AuditEntryItem({ entry, isOfTarget, names }: EntryProps): JSX.Element {
  const { id, at, action, targetId, requestId, details } = entry;
  const words = detailWords(details);
  return (
    <li>
      <p class="when soft">
        <FormattedTime at={at} />
      </p>
      <div>
        <p>
          <AuditEntryActorName entry={entry} />{" "}
          {formatAuditAction(action) ?? (
            <>
              made the change <code>{action}</code>
            </>
          )}
          {isOfTarget ? null : <TargetText entry={entry} names={names} />}.
        </p>
        {words === "" ? null : <p class="soft small">{words}</p>}
        <details>
          <summary>Details</summary>
          <dl class="pairs">
            <dt>Action</dt>
            <dd>
              <code>{action}</code>
            </dd>
            {targetId === null ? null : (
              <>
                <dt>Changed object</dt>
                <dd>
                  <code>{targetId}</code>{" "}
                  {isOfTarget ? null : (
                    <ConsoleLink to={`/audit?target=${targetId}`}>All its changes</ConsoleLink>
                  )}
                </dd>
              </>
            )}
            {requestId === null ? null : (
              <>
                <dt>Request</dt>
                <dd>
                  <code>{requestId}</code>
                </dd>
              </>
            )}
            <dt>Entry</dt>
            <dd>
              <code>{id}</code>
            </dd>
          </dl>
          {Object.keys(details).length === 0 ? null : (
            <pre tabIndex={0} aria-label="Recorded details">
              {JSON.stringify(details, null, 2)}
            </pre>
          )}
        </details>
      </div>
    </li>
  );
}
