/**
 * The page that lists the merchant's installations. Also exports the choice of an installation and the
 * readiness checks, for other pages.
 */
import type { JSX } from "preact";
import { useId } from "preact/hooks";
import { nodesOf, olderAfter, pageSize } from "#pages/console/browser/graph/documents.ts";
import { usePages, useQuery } from "#pages/console/browser/graph/hooks.ts";
import { Badge, count, Time, wordOf } from "#pages/console/browser/parts/formats.tsx";
import { type Column, Empty, Loaded, Pager, Table } from "#pages/console/browser/parts/tables.tsx";
import { ScopeList } from "#pages/console/browser/parts/credentials.tsx";
import { Heading, Link, restate } from "#pages/console/browser/navigation.tsx";
import {
  type InstallationName,
  type InstallationWithReadiness,
  type Readiness,
  type ReadinessCheck,
  readinessDocument,
} from "./installation-documents.ts";

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
          <Badge value={status} />{" "}
          {open === 0 ? null : <span class="soft">{count(open, "thing")} to look at</span>}
        </>
      );
    },
  },
  { title: "May do", cell: ({ scopes }) => <ScopeList scopes={scopes} /> },
  { title: "Installed", cell: ({ installedAt }) => <Time at={installedAt} isDay /> },
];

function InstallationList(): JSX.Element {
  const pages = usePages();
  const asked = useQuery(readinessDocument, { first: pageSize, after: pages.cursor });
  return (
    <Loaded asked={asked} what="installations">
      {({ installations }) => (
        <>
          {installations.edges.length === 0 ? (
            <Empty>No app is installed yet.</Empty>
          ) : (
            <Table
              caption="Installations"
              columns={columns}
              rows={nodesOf(installations)}
              keyOf={({ id }) => id}
            />
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

/** Whose keys or endpoints a page shows. */
interface InstallationChoiceProps {
  readonly all: readonly InstallationName[];
  readonly chosen: InstallationName;
  /** The page below /console that is said anew with the choice. */
  readonly room: string;
}

export function InstallationChoice({ all, chosen, room }: InstallationChoiceProps): JSX.Element {
  const id = useId();
  return (
    <div class="pick">
      <label for={id}>Installation</label>
      <select
        id={id}
        value={chosen.id}
        onChange={({ currentTarget }) => restate(`${room}?installation=${currentTarget.value}`)}
      >
        {all.map((installation) => (
          <option key={installation.id} value={installation.id}>
            {installation.app.name}
            {installation.status === "ACTIVE" ? "" : ` (${installation.status.toLowerCase()})`}
          </option>
        ))}
      </select>
    </div>
  );
}

/** Whether an installation can do its work: what is to be done first, what is well behind a fold. */
const isOpen = ({ status }: ReadinessCheck): boolean => status === "FAIL" || status === "WARN";

export function ReadinessChecks({ readiness }: { readonly readiness: Readiness }): JSX.Element {
  const open = readiness.checks.filter(isOpen);
  const well = readiness.checks.filter((check) => !isOpen(check));
  const skipped = well.filter(({ status }) => status === "SKIPPED").length;
  return (
    <div class="readiness">
      {open.length === 0 ? (
        <p>Everything is well: there is nothing to do.</p>
      ) : (
        <ul class="checks">
          {open.map((check) => (
            <Check key={check.code} check={check} />
          ))}
        </ul>
      )}
      <details>
        <summary>
          {count(well.length - skipped, open.length === 0 ? "check" : "more check")} passed
          {skipped === 0 ? "" : `, ${skipped} skipped`}
        </summary>
        <ul class="checks">
          {well.map((check) => (
            <Check key={check.code} check={check} />
          ))}
        </ul>
      </details>
    </div>
  );
}

const labels: Readonly<Record<ReadinessCheck["status"], string>> = {
  PASS: "Passed",
  WARN: "Look at this",
  FAIL: "To be done",
  SKIPPED: "Skipped",
};

function Check({ check }: { readonly check: ReadinessCheck }): JSX.Element {
  const { code, status, severity, message, remedy, since } = check;
  // An advisory check that fails stops nothing.
  const tone = status === "FAIL" && severity === "ADVISORY" ? { tone: "warn" as const } : {};
  return (
    <li>
      <Badge value={status} text={labels[status]} {...tone} />
      <div>
        <strong>{wordOf(code)}</strong>
        <p>
          {message}
          {since === null ? null : (
            <>
              {" "}
              Since <Time at={since} />.
            </>
          )}
        </p>
        {remedy === null ? null : <p class="remedy">{remedy}</p>}
      </div>
    </li>
  );
}
