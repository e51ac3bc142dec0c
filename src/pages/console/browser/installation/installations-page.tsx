/** The apps that the merchant has installed, and whether each can do its work. */
import type { JSX } from "preact";
import { nodesOf, olderAfter, pageSize } from "#pages/console/browser/graph/documents.ts";
import { usePages, useQuery } from "#pages/console/browser/graph/hooks.ts";
import { Badge, count, Time } from "#pages/console/browser/parts/formats.tsx";
import { type Column, Empty, Loaded, Pager, Table } from "#pages/console/browser/parts/tables.tsx";
import { ScopeList } from "#pages/console/browser/parts/scopes.tsx";
import { Heading, Link } from "#pages/console/browser/navigation.tsx";
import { type InstallationWithReadiness, readinessDocument } from "./installation-documents.ts";

const columns: Column<InstallationWithReadiness>[] = [
  {
    title: "App",
    cell: ({ id, app }) => (
      <>
        <Link to={`/installations/${id}`}>{app.name}</Link>
        <br />
        <span class="soft">{app.publisher}</span>
      </>
    ),
  },
  { title: "Status", cell: ({ status }) => <Badge value={status} /> },
  {
    title: "Readiness",
    cell: ({ readiness: { status, checks } }) => {
      const open = checks.filter((check) => check.status === "FAIL" || check.status === "WARN").length;
      return (
        <>
          <Badge value={status} /> {open === 0 ? null : <span class="soft">{count(open, "thing")} to look at</span>}
        </>
      );
    },
  },
  { title: "May do", cell: ({ scopes }) => <ScopeList scopes={scopes} /> },
  { title: "Installed", cell: ({ installedAt }) => <Time at={installedAt} isDay /> },
];

export function InstallationList(): JSX.Element {
  const pages = usePages();
  const asked = useQuery(readinessDocument, { first: pageSize, after: pages.cursor });
  return (
    <Loaded asked={asked} what="installations">
      {({ installations }) => (
        <>
          {installations.edges.length === 0 ? (
            <Empty>No app is installed yet.</Empty>
          ) : (
            <Table caption="Installations" columns={columns} rows={nodesOf(installations)} keyOf={({ id }) => id} />
          )}
          <Pager pages={pages} what="installations" older={olderAfter(installations)} isOldestFirst />
        </>
      )}
    </Loaded>
  );
}

export function InstallationsPage(): JSX.Element {
  return (
    <>
      <Heading title="Installations" />
      <p class="lead">Each app that was installed has keys, endpoints and rights of its own.</p>
      <InstallationList />
    </>
  );
}
