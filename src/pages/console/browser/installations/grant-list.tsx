/**
 * The table of OAuth grants (the access that staff members have allowed to apps), with a dialog that revokes
 * a grant.
 */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import {
  getGraphqlConnectionNodesNewestFirst,
  getOlderPageCursor,
  listPageSize,
} from "#pages/console/browser/graph/documents.ts";
import {
  useGraphqlMutation,
  useCursorListPaging,
  useGraphqlQuery,
} from "#pages/console/browser/graph/hooks.ts";
import {
  isUsableCredentialState,
  PermissionList,
  getCredentialState,
} from "#pages/console/browser/parts/credentials.tsx";
import { StatusBadge, FormattedTime } from "#pages/console/browser/parts/formats.tsx";
import { basePath } from "#pages/console/browser/graph/client.ts";
import { ConsoleLink } from "#pages/console/browser/navigation.tsx";
import { ConfirmDialog } from "#pages/console/browser/parts/dialogs.tsx";
import {
  type DataTableColumn,
  EmptyListNote,
  QueryResultOrLoadingNote,
  PaginationButtons,
  DataTable,
} from "#pages/console/browser/parts/tables.tsx";
import { type ConsoleOauthGrant, grantsDocument, revokeGrantDocument } from "./installation-documents.ts";

export function OauthGrantList({ installationId }: { readonly installationId: string }): JSX.Element {
  const pages = useCursorListPaging();
  const query = useGraphqlQuery(grantsDocument, { installationId, last: listPageSize, before: pages.cursor });
  const [revoking, setRevoking] = useState<ConsoleOauthGrant>();
  return (
    <>
      <QueryResultOrLoadingNote query={query} what="grants">
        {({ oauthGrants }) => (
          <>
            {oauthGrants.edges.length === 0 ? (
              <EmptyListNote>
                No staff member has allowed this app to access the shop with OAuth. A grant appears here after
                someone allows the app on the consent page that the app opens.{" "}
                <a href={`${basePath}/docs/guides/oauth`}>How OAuth works</a>
              </EmptyListNote>
            ) : (
              <DataTable
                caption="OAuth grants, the newest first"
                columns={columnsWith(setRevoking)}
                rows={getGraphqlConnectionNodesNewestFirst(oauthGrants)}
                keyOf={({ id }) => id}
              />
            )}
            <PaginationButtons pages={pages} what="grants" older={getOlderPageCursor(oauthGrants)} />
          </>
        )}
      </QueryResultOrLoadingNote>
      {revoking === undefined ? null : (
        <RevokeGrant grant={revoking} onRevoked={query.reload} onClose={() => setRevoking(undefined)} />
      )}
    </>
  );
}

function columnsWith(revoke: (grant: ConsoleOauthGrant) => void): DataTableColumn<ConsoleOauthGrant>[] {
  return [
    {
      title: "App",
      cell: ({ clientId, installation }) => (
        <>
          <strong>{installation.app.name}</strong>
          <br />
          <code>{clientId}</code>
        </>
      ),
    },
    { title: "State", cell: (grant) => <StatusBadge value={getCredentialState(grant, Date.now())} /> },
    {
      title: "Allowed by",
      cell: ({ staff, issuedAt }) => (
        <>
          {staff === null ? null : (
            <>
              <ConsoleLink to={`/audit?by=${staff.id}`}>{staff.name}</ConsoleLink>
              <br />
            </>
          )}
          <FormattedTime at={issuedAt} isDay />
        </>
      ),
    },
    { title: "Permissions", cell: ({ scopes }) => <PermissionList scopes={scopes} isShort /> },
    {
      title: "Expires",
      cell: ({ revokedAt, expiresAt }) =>
        revokedAt === null ? (
          <FormattedTime at={expiresAt} isDay />
        ) : (
          <>
            Revoked <FormattedTime at={revokedAt} isDay />
          </>
        ),
    },
    {
      title: "Last used",
      cell: ({ lastUsedAt }) => <FormattedTime at={lastUsedAt} otherwise="never" isMinute />,
    },
    {
      title: "Actions",
      cell: (grant) =>
        isUsableCredentialState(getCredentialState(grant, Date.now())) ? (
          <button
            type="button"
            class="plain danger"
            aria-label={`Revoke the grant of ${grantName(grant)}`}
            onClick={() => revoke(grant)}
          >
            Revoke
          </button>
        ) : (
          <span class="soft">–</span>
        ),
    },
  ];
}

/**
 * Returns the name of a grant: the app, and the staff member who allowed the access, for example “Shop
 * search, allowed by Ada Berg”.
 */
const grantName = ({ installation, staff }: ConsoleOauthGrant): string =>
  staff === null ? installation.app.name : `${installation.app.name}, allowed by ${staff.name}`;

interface RevokeGrantProps {
  readonly grant: ConsoleOauthGrant;
  readonly onRevoked: () => void;
  readonly onClose: () => void;
}

function RevokeGrant({ grant, onRevoked, onClose }: RevokeGrantProps): JSX.Element {
  const { isBusy, failure, run } = useGraphqlMutation(revokeGrantDocument);
  const revoke = async (): Promise<void> => {
    if ((await run({ input: { grantId: grant.id } })) === undefined) return;
    onRevoked();
    onClose();
  };
  return (
    <ConfirmDialog
      title={`Revoke the grant of ${grant.installation.app.name}?`}
      action="Revoke the grant"
      isBusy={isBusy}
      failure={failure}
      onConfirm={() => void revoke()}
      onClose={onClose}
    >
      <p>
        The access that {grant.staff?.name ?? "a staff member"} gave to {grant.installation.app.name} ends:
        its tokens are refused at once. Grants of other staff members and API keys keep working. The app can
        ask for access again.
      </p>
    </ConfirmDialog>
  );
}
