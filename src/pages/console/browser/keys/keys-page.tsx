/** The page of an installation's API keys. Also exports their table, for the page of the installation. */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { usePages, useQuery } from "#pages/console/browser/graph/hooks.ts";
import { InstallationChoice } from "#pages/console/browser/installations/installations-page.tsx";
import {
  type InstallationName,
  installationsDocument,
} from "#pages/console/browser/installations/installation-documents.ts";
import { type Column, Empty, Loaded, Pager, Table } from "#pages/console/browser/parts/tables.tsx";
import { newestFirst, nodesOf, olderBefore, pageSize } from "#pages/console/browser/graph/documents.ts";
import { Heading, type Place } from "#pages/console/browser/navigation.tsx";
import { Badge, Time } from "#pages/console/browser/parts/formats.tsx";
import { isInForce, ScopeList, stateOf } from "#pages/console/browser/parts/credentials.tsx";
import { CreateKey, RevokeKey, RotateKey } from "./key-dialogs.tsx";
import { type ApiKey, keysDocument } from "./key-documents.ts";

export function KeysPage({ place }: { readonly place: Place }): JSX.Element {
  const installations = useQuery(installationsDocument, {});
  return (
    <>
      <Heading title="API keys" />
      <p class="lead">
        An integration shows a key with each of its requests. Give each its own, so that one can be taken away
        without the others.
      </p>
      <Loaded asked={installations} what="installations">
        {({ installations: connection }) => {
          const all = nodesOf(connection);
          const chosen = all.find(({ id }) => id === place.query.get("installation")) ?? all[0];
          if (chosen === undefined)
            return <Empty>No app is installed yet. Keys belong to the installation of an app.</Empty>;
          return <InstallationKeys key={chosen.id} installation={chosen} all={all} />;
        }}
      </Loaded>
    </>
  );
}

function InstallationKeys({
  installation,
  all,
}: {
  readonly installation: InstallationName;
  readonly all: readonly InstallationName[];
}): JSX.Element {
  const [isMaking, setMaking] = useState(false);
  const [changes, setChanges] = useState(0);
  return (
    <section aria-labelledby="keys-heading">
      <div class="bar">
        <InstallationChoice all={all} chosen={installation} room="/keys" />
        <button
          type="button"
          onClick={() => setMaking(true)}
          disabled={installation.status === "UNINSTALLED"}
        >
          Create a key
        </button>
      </div>
      <h2 id="keys-heading" class="hidden">
        Keys of {installation.app.name}
      </h2>
      <KeyList installationId={installation.id} changes={changes} />
      {isMaking ? (
        <CreateKey
          installation={installation}
          onMade={() => setChanges(changes + 1)}
          onClose={() => setMaking(false)}
        />
      ) : null}
    </section>
  );
}

/** The keys of an installation as a table, with what can be done to each. */
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
              <Table
                caption="API keys, the newest first"
                columns={columnsWith(setDoing)}
                rows={newestFirst(apiKeys)}
                keyOf={({ id }) => id}
              />
            )}
            <Pager pages={pages} what="API keys" older={olderBefore(apiKeys)} />
          </>
        )}
      </Loaded>
      {doing?.what === "rotate" ? (
        <RotateKey apiKey={doing.key} onRotated={asked.reload} onClose={end} />
      ) : null}
      {doing?.what === "revoke" ? (
        <RevokeKey apiKey={doing.key} onRevoked={asked.reload} onClose={end} />
      ) : null}
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
    {
      title: "Ends",
      cell: ({ expiresAt, revokedAt }) => <Time at={revokedAt ?? expiresAt} otherwise="never" />,
    },
    { title: "Actions", cell: (key) => <KeyActions apiKey={key} begin={begin} /> },
  ];
}

function KeyActions({
  apiKey,
  begin,
}: {
  readonly apiKey: ApiKey;
  readonly begin: (doing: Doing) => void;
}): JSX.Element {
  if (!isInForce(stateOf(apiKey, Date.now()))) return <span class="soft">–</span>;
  return (
    <div class="actions">
      {apiKey.rotatesTo === null ? (
        <button
          type="button"
          class="plain"
          aria-label={`Rotate ${apiKey.name}`}
          onClick={() => begin({ what: "rotate", key: apiKey })}
        >
          Rotate
        </button>
      ) : null}
      <button
        type="button"
        class="plain danger"
        aria-label={`Revoke ${apiKey.name}`}
        onClick={() => begin({ what: "revoke", key: apiKey })}
      >
        Revoke
      </button>
    </div>
  );
}
