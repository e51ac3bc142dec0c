/** The keys of an installation as a table, with what can be done to each. */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { newestFirst, olderBefore, pageSize } from "#pages/console/browser/graph/documents.ts";
import { usePages, useQuery } from "#pages/console/browser/graph/hooks.ts";
import { Badge, Time } from "#pages/console/browser/parts/formats.tsx";
import { type Column, Empty, Loaded, Pager, Table } from "#pages/console/browser/parts/tables.tsx";
import { type ApiKey, keysDocument } from "./key-documents.ts";
import { isInForce, stateOf } from "./key-state.ts";
import { RevokeKey } from "./revoke-key.tsx";
import { RotateKey } from "./rotate-key.tsx";
import { ScopeList } from "#pages/console/browser/parts/scopes.tsx";

interface KeyListProps {
  readonly installationId: string;
  /** Rises with what is done elsewhere on the page. */
  readonly changes: number;
}

type Doing = { readonly what: "rotate" | "revoke"; readonly key: ApiKey };

export function KeyList({ installationId, changes }: KeyListProps): JSX.Element {
  const pages = usePages();
  const asked = useQuery(keysDocument, { installationId, last: pageSize, before: pages.cursor });
  const [doing, setDoing] = useState<Doing>();
  const seen = useRef(changes);
  useEffect(() => {
    if (changes !== seen.current) asked.reload();
    seen.current = changes;
  }, [changes]);
  const end = (): void => setDoing(undefined);
  return (
    <>
      <Loaded asked={asked} what="API keys">
        {({ apiKeys }) => (
          <>
            {apiKeys.edges.length === 0 ? (
              <Empty>There is no key yet. Create one, and the API can be called with it.</Empty>
            ) : (
              <Table caption="API keys, the newest first" columns={columnsWith(setDoing)} rows={newestFirst(apiKeys)} keyOf={({ id }) => id} />
            )}
            <Pager pages={pages} what="API keys" older={olderBefore(apiKeys)} />
          </>
        )}
      </Loaded>
      {doing?.what === "rotate" ? <RotateKey apiKey={doing.key} onRotated={asked.reload} onClose={end} /> : null}
      {doing?.what === "revoke" ? <RevokeKey apiKey={doing.key} onRevoked={asked.reload} onClose={end} /> : null}
    </>
  );
}

function columnsWith(begin: (doing: Doing) => void): Column<ApiKey>[] {
  return [
    {
      title: "Name",
      cell: ({ name, prefix, lastFour }) => (
        <>
          <strong>{name}</strong>
          <br />
          <code class="whole">
            {prefix}_…{lastFour}
          </code>
        </>
      ),
    },
    { title: "State", cell: (key) => <Badge value={stateOf(key, Date.now())} /> },
    { title: "May do", cell: ({ scopes }) => <ScopeList scopes={scopes} /> },
    { title: "Last used", cell: ({ lastUsedAt }) => <Time at={lastUsedAt} otherwise="never" /> },
    { title: "Ends", cell: ({ expiresAt, revokedAt }) => <Time at={revokedAt ?? expiresAt} otherwise="never" /> },
    { title: "Actions", cell: (key) => <KeyActions apiKey={key} begin={begin} /> },
  ];
}

function KeyActions({ apiKey, begin }: { readonly apiKey: ApiKey; readonly begin: (doing: Doing) => void }): JSX.Element {
  if (!isInForce(stateOf(apiKey, Date.now()))) return <span class="soft">–</span>;
  return (
    <div class="actions">
      {apiKey.rotatesTo === null ? (
        <button type="button" class="plain" aria-label={`Rotate ${apiKey.name}`} onClick={() => begin({ what: "rotate", key: apiKey })}>
          Rotate
        </button>
      ) : null}
      <button type="button" class="plain danger" aria-label={`Revoke ${apiKey.name}`} onClick={() => begin({ what: "revoke", key: apiKey })}>
        Revoke
      </button>
    </div>
  );
}
