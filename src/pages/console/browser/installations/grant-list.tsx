/** What OAuth clients were let do, and the end of it. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { newestFirst, olderBefore, pageSize } from "#pages/console/browser/graph/documents.ts";
import { useChange, usePages, useQuery } from "#pages/console/browser/graph/hooks.ts";
import { isInForce, ScopeList, stateOf } from "#pages/console/browser/parts/credentials.tsx";
import { Badge, Time } from "#pages/console/browser/parts/formats.tsx";
import { Confirm } from "#pages/console/browser/parts/dialogs.tsx";
import { type Column, Empty, Loaded, Pager, Table } from "#pages/console/browser/parts/tables.tsx";
import { type Grant, grantsDocument, revokeGrantDocument } from "./installation-documents.ts";

export function GrantList({ installationId }: { readonly installationId: string }): JSX.Element {
  const pages = usePages();
  const asked = useQuery(grantsDocument, { installationId, last: pageSize, before: pages.cursor });
  const [revoking, setRevoking] = useState<Grant>();
  return (
    <>
      <Loaded asked={asked} what="grants">
        {({ oauthGrants }) => (
          <>
            {oauthGrants.edges.length === 0 ? (
              <Empty>
                No OAuth client was let in. When somebody allows an app on its consent page, it stands here.
              </Empty>
            ) : (
              <Table
                caption="OAuth grants, the newest first"
                columns={columnsWith(setRevoking)}
                rows={newestFirst(oauthGrants)}
                keyOf={({ id }) => id}
              />
            )}
            <Pager pages={pages} what="grants" older={olderBefore(oauthGrants)} />
          </>
        )}
      </Loaded>
      {revoking === undefined ? null : (
        <RevokeGrant grant={revoking} onRevoked={asked.reload} onClose={() => setRevoking(undefined)} />
      )}
    </>
  );
}

function columnsWith(revoke: (grant: Grant) => void): Column<Grant>[] {
  return [
    { title: "Client", cell: ({ clientId }) => <code>{clientId}</code> },
    { title: "State", cell: (grant) => <Badge value={stateOf(grant, Date.now())} /> },
    { title: "May do", cell: ({ scopes }) => <ScopeList scopes={scopes} /> },
    { title: "Granted", cell: ({ issuedAt }) => <Time at={issuedAt} isDay /> },
    { title: "Ends", cell: ({ revokedAt, expiresAt }) => <Time at={revokedAt ?? expiresAt} isDay /> },
    { title: "Last used", cell: ({ lastUsedAt }) => <Time at={lastUsedAt} otherwise="never" /> },
    {
      title: "Actions",
      cell: (grant) =>
        isInForce(stateOf(grant, Date.now())) ? (
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
  const { isBusy, failure, run } = useChange(revokeGrantDocument);
  const revoke = async (): Promise<void> => {
    if ((await run({ input: { grantId: grant.id } })) === undefined) return;
    onRevoked();
    onClose();
  };
  return (
    <Confirm
      title="Revoke this grant?"
      action="Revoke the grant"
      isBusy={isBusy}
      failure={failure}
      onConfirm={() => void revoke()}
      onClose={onClose}
    >
      <p>
        The tokens of <code>{grant.clientId}</code> are refused from then on. The app can ask to be let in
        anew.
      </p>
    </Confirm>
  );
}
