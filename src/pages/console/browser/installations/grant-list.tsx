/** The table of OAuth grants, with a dialog that revokes a grant. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { nodesNewestFirst, olderPageCursor, listPageSize } from "#pages/console/browser/graph/documents.ts";
import { useMutation, useListPaging, useQuery } from "#pages/console/browser/graph/hooks.ts";
import { isUsableCredential, ScopeList, credentialState } from "#pages/console/browser/parts/credentials.tsx";
import { StatusBadge, TimeText } from "#pages/console/browser/parts/formats.tsx";
import { ConfirmDialog } from "#pages/console/browser/parts/dialogs.tsx";
import {
  type TableColumn,
  EmptyNote,
  QueryResultView,
  PageButtons,
  DataTable,
} from "#pages/console/browser/parts/tables.tsx";
import { type Grant, grantsDocument, revokeGrantDocument } from "./installation-documents.ts";

export function GrantList({ installationId }: { readonly installationId: string }): JSX.Element {
  const pages = useListPaging();
  const query = useQuery(grantsDocument, { installationId, last: listPageSize, before: pages.cursor });
  const [revoking, setRevoking] = useState<Grant>();
  return (
    <>
      <QueryResultView query={query} what="grants">
        {({ oauthGrants }) => (
          <>
            {oauthGrants.edges.length === 0 ? (
              <EmptyNote>
                There are no OAuth grants. A grant appears here when a staff member allows an app on the
                consent page.
              </EmptyNote>
            ) : (
              <DataTable
                caption="OAuth grants, the newest first"
                columns={columnsWith(setRevoking)}
                rows={nodesNewestFirst(oauthGrants)}
                keyOf={({ id }) => id}
              />
            )}
            <PageButtons pages={pages} what="grants" older={olderPageCursor(oauthGrants)} />
          </>
        )}
      </QueryResultView>
      {revoking === undefined ? null : (
        <RevokeGrant grant={revoking} onRevoked={query.reload} onClose={() => setRevoking(undefined)} />
      )}
    </>
  );
}

function columnsWith(revoke: (grant: Grant) => void): TableColumn<Grant>[] {
  return [
    { title: "Client", cell: ({ clientId }) => <code>{clientId}</code> },
    { title: "State", cell: (grant) => <StatusBadge value={credentialState(grant, Date.now())} /> },
    { title: "Scopes", cell: ({ scopes }) => <ScopeList scopes={scopes} /> },
    { title: "Granted", cell: ({ issuedAt }) => <TimeText at={issuedAt} isDay /> },
    { title: "Ends", cell: ({ revokedAt, expiresAt }) => <TimeText at={revokedAt ?? expiresAt} isDay /> },
    { title: "Last used", cell: ({ lastUsedAt }) => <TimeText at={lastUsedAt} otherwise="never" /> },
    {
      title: "Actions",
      cell: (grant) =>
        isUsableCredential(credentialState(grant, Date.now())) ? (
          <button
            type="button"
            class="plain danger"
            aria-label={`Revoke the grant of ${grant.clientId}`}
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

interface RevokeGrantProps {
  readonly grant: Grant;
  readonly onRevoked: () => void;
  readonly onClose: () => void;
}

function RevokeGrant({ grant, onRevoked, onClose }: RevokeGrantProps): JSX.Element {
  const { isBusy, failure, run } = useMutation(revokeGrantDocument);
  const revoke = async (): Promise<void> => {
    if ((await run({ input: { grantId: grant.id } })) === undefined) return;
    onRevoked();
    onClose();
  };
  return (
    <ConfirmDialog
      title="Revoke this grant?"
      action="Revoke the grant"
      isBusy={isBusy}
      failure={failure}
      onConfirm={() => void revoke()}
      onClose={onClose}
    >
      <p>
        The tokens of <code>{grant.clientId}</code> are refused from now on. The app can request access again.
      </p>
    </ConfirmDialog>
  );
}
