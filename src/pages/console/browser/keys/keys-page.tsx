/**
 * The page that lists the API keys of an app installation. Also exports the table of keys, which the page of
 * the installation shows too.
 */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { basePath } from "#pages/console/browser/graph/client.ts";
import { useCursorListPaging, useGraphqlQuery } from "#pages/console/browser/graph/hooks.ts";
import { InstallationSelect } from "#pages/console/browser/installations/installations-page.tsx";
import {
  type InstallationSummary,
  installationsDocument,
} from "#pages/console/browser/installations/installation-documents.ts";
import {
  type DataTableColumn,
  EmptyListNote,
  QueryResultOrLoadingNote,
  PaginationButtons,
  DataTable,
} from "#pages/console/browser/parts/tables.tsx";
import {
  getGraphqlConnectionNodesNewestFirst,
  getGraphqlConnectionNodes,
  getOlderPageCursor,
  listPageSize,
} from "#pages/console/browser/graph/documents.ts";
import { ConsoleLink, PageHeading, type ConsoleLocation } from "#pages/console/browser/navigation.tsx";
import { StatusBadge, FormattedTime } from "#pages/console/browser/parts/formats.tsx";
import {
  isUsableCredentialState,
  PermissionList,
  getCredentialState,
} from "#pages/console/browser/parts/credentials.tsx";
import { CreateApiKeyDialog, RevokeApiKeyDialog, RotateApiKeyDialog } from "./key-dialogs.tsx";
import { type ConsoleApiKey, keysDocument } from "./key-documents.ts";

export function ApiKeysPage({ place }: { readonly place: ConsoleLocation }): JSX.Element {
  const installations = useGraphqlQuery(installationsDocument, {});
  return (
    <>
      <PageHeading title="API keys" />
      <p class="lead">
        A program sends a key with each request, so that the API knows which app is calling. Create one key
        for each program: you can then revoke one without stopping the others.
      </p>
      <QueryResultOrLoadingNote query={installations} what="installations">
        {({ installations: connection }) => {
          const all = getGraphqlConnectionNodes(connection);
          const chosen = all.find(({ id }) => id === place.query.get("installation")) ?? all[0];
          if (chosen === undefined)
            return (
              <EmptyListNote>
                No app is installed yet, and every key belongs to an app.{" "}
                <ConsoleLink to="/installations">Install an app</ConsoleLink>
              </EmptyListNote>
            );
          return <InstallationKeys key={chosen.id} installation={chosen} all={all} />;
        }}
      </QueryResultOrLoadingNote>
    </>
  );
}

function InstallationKeys({
  installation,
  all,
}: {
  readonly installation: InstallationSummary;
  readonly all: readonly InstallationSummary[];
}): JSX.Element {
  const [isMaking, setMaking] = useState(false);
  const [changes, setChanges] = useState(0);
  return (
    <section aria-labelledby="keys-heading">
      <div class="bar">
        <InstallationSelect all={all} chosen={installation} path="/keys" />
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
      <ApiKeyList
        installationId={installation.id}
        changes={changes}
        empty={
          installation.status === "UNINSTALLED" ? (
            <EmptyListNote>{installation.app.name} is uninstalled and has no key.</EmptyListNote>
          ) : (
            <FirstKey appName={installation.app.name} onCreate={() => setMaking(true)} />
          )
        }
      />
      {isMaking ? (
        <CreateApiKeyDialog
          installation={installation}
          onMade={() => setChanges(changes + 1)}
          onClose={() => setMaking(false)}
        />
      ) : null}
    </section>
  );
}

/**
 * The note that the page shows if an app installation has no API key. It says what a key is for, and has the
 * button that creates the first key.
 */
const FirstKey = ({
  appName,
  onCreate,
}: {
  readonly appName: string;
  readonly onCreate: () => void;
}): JSX.Element => (
  <div class="empty">
    <p>{appName} has no key yet. With a key, its programs can call the API.</p>
    <div class="actions">
      <button type="button" class="second" onClick={onCreate}>
        Create the first key
      </button>
      <a href={`${basePath}/docs/guides/getting-started`}>How to make the first request</a>
    </div>
  </div>
);

/** The table of an installation's API keys, with the actions on each key. */
interface KeyListProps {
  readonly installationId: string;
  /**
   * A number that another part of the page increases after a change of an API key. The table then loads its
   * API keys again.
   */
  readonly changes: number;
  /** The text that the table shows if the installation has no API key. */
  readonly empty: JSX.Element;
}

type Doing = { readonly what: "rotate" | "revoke"; readonly key: ConsoleApiKey };

export function ApiKeyList({ installationId, changes, empty }: KeyListProps): JSX.Element {
  const pages = useCursorListPaging();
  const query = useGraphqlQuery(keysDocument, { installationId, last: listPageSize, before: pages.cursor });
  const [doing, setDoing] = useState<Doing>();
  const seen = useRef(changes);
  useEffect(() => {
    if (changes !== seen.current) query.reload();
    seen.current = changes;
  }, [changes]);
  const end = (): void => setDoing(undefined);
  return (
    <>
      <QueryResultOrLoadingNote query={query} what="API keys">
        {({ apiKeys }) => (
          <>
            {apiKeys.edges.length === 0 ? (
              empty
            ) : (
              <DataTable
                caption="API keys, the newest first"
                columns={columnsWith(setDoing)}
                rows={getGraphqlConnectionNodesNewestFirst(apiKeys)}
                keyOf={({ id }) => id}
              />
            )}
            <PaginationButtons pages={pages} what="API keys" older={getOlderPageCursor(apiKeys)} />
          </>
        )}
      </QueryResultOrLoadingNote>
      {doing?.what === "rotate" ? (
        <RotateApiKeyDialog apiKey={doing.key} onRotated={query.reload} onClose={end} />
      ) : null}
      {doing?.what === "revoke" ? (
        <RevokeApiKeyDialog apiKey={doing.key} onRevoked={query.reload} onClose={end} />
      ) : null}
    </>
  );
}

function columnsWith(begin: (doing: Doing) => void): DataTableColumn<ConsoleApiKey>[] {
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
    { title: "State", cell: (key) => <StatusBadge value={getCredentialState(key, Date.now())} /> },
    { title: "Permissions", cell: ({ scopes }) => <PermissionList scopes={scopes} isShort /> },
    {
      title: "Last used",
      cell: ({ lastUsedAt }) => <FormattedTime at={lastUsedAt} otherwise="never" isMinute />,
    },
    {
      title: "Expires",
      cell: ({ expiresAt, revokedAt }) =>
        revokedAt === null ? (
          <FormattedTime at={expiresAt} otherwise="never" isMinute />
        ) : (
          <>
            Revoked <FormattedTime at={revokedAt} isMinute />
          </>
        ),
    },
    { title: "Actions", cell: (key) => <KeyActions apiKey={key} begin={begin} /> },
  ];
}

function KeyActions({
  apiKey,
  begin,
}: {
  readonly apiKey: ConsoleApiKey;
  readonly begin: (doing: Doing) => void;
}): JSX.Element {
  if (!isUsableCredentialState(getCredentialState(apiKey, Date.now()))) return <span class="soft">–</span>;
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
