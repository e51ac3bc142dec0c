/**
 * The page of one installation: its permissions, readiness, keys, endpoints, grants and recent requests, and
 * the dialogs that change it.
 */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useGraphqlQuery } from "#pages/console/browser/graph/hooks.ts";
import { EndpointList } from "#pages/console/browser/endpoints/endpoints-page.tsx";
import { ApiKeyList } from "#pages/console/browser/keys/keys-page.tsx";
import { PermissionList } from "#pages/console/browser/parts/credentials.tsx";
import { StatusBadge, FormattedTime } from "#pages/console/browser/parts/formats.tsx";
import {
  EmptyListNote,
  DescriptionListRow,
  QueryResultOrLoadingNote,
} from "#pages/console/browser/parts/tables.tsx";
import { emptyRequestFilter } from "#pages/console/browser/requests/request-filter.ts";
import { ApiRequestList } from "#pages/console/browser/requests/request-table.tsx";
import { NoApiRequestsNote } from "#pages/console/browser/requests/requests-page.tsx";
import { PageHeading, ConsoleLink } from "#pages/console/browser/navigation.tsx";
import { OauthGrantList } from "./grant-list.tsx";
import {
  ResumeInstallationDialog,
  SetInstallationPermissionsDialog,
  SuspendInstallationDialog,
  UninstallAppDialog,
} from "./installation-dialogs.tsx";
import {
  installationDocument,
  type InstallationSummary,
  type InstallationWithReadiness,
} from "./installation-documents.ts";
import { ReadinessCheckList } from "./readiness-checks.tsx";

export function InstallationPage({ id }: { readonly id: string }): JSX.Element {
  const query = useGraphqlQuery(installationDocument, { id });
  const [doing, setDoing] = useState<InstallationAction>();
  const installation = query.data?.installation;
  return (
    <>
      <p class="trail">
        <ConsoleLink to="/installations">Installations</ConsoleLink>
      </p>
      <PageHeading title={installation?.app.name ?? "Installation"}>
        {installation ? (
          <InstallationActions
            installation={installation}
            doing={doing}
            begin={setDoing}
            onChanged={query.reload}
          />
        ) : undefined}
      </PageHeading>
      <QueryResultOrLoadingNote query={query} what="the installation">
        {(data) =>
          data.installation === null ? (
            <EmptyListNote>
              Your shop has no installation with this address.{" "}
              <ConsoleLink to="/installations">Show all installations</ConsoleLink>
            </EmptyListNote>
          ) : (
            <Parts installation={data.installation} begin={setDoing} />
          )
        }
      </QueryResultOrLoadingNote>
    </>
  );
}

/** The action on an installation whose dialog is open. */
type InstallationAction = "permissions" | "suspend" | "resume" | "uninstall";

interface PartsProps {
  readonly installation: InstallationWithReadiness;
  readonly begin: (action: InstallationAction) => void;
}

const InstallationFacts = ({ installation }: Pick<PartsProps, "installation">): JSX.Element => {
  const { id, status, scopes, installedAt, app } = installation;
  return (
    <dl class="facts">
      <DescriptionListRow name="Status">
        <StatusBadge value={status} />
      </DescriptionListRow>
      <DescriptionListRow name="Publisher">{app.publisher ?? "–"}</DescriptionListRow>
      <DescriptionListRow name="Installed">
        <FormattedTime at={installedAt} isDay />
      </DescriptionListRow>
      <DescriptionListRow name="Permissions">
        <PermissionList scopes={scopes} />
      </DescriptionListRow>
      <DescriptionListRow name="Id">
        <code>{id}</code>
      </DescriptionListRow>
    </dl>
  );
};

function Parts({ installation, begin }: PartsProps): JSX.Element {
  const { id, status, app, readiness } = installation;
  return (
    <>
      <InstallationFacts installation={installation} />
      <section aria-labelledby="readiness">
        <h2 id="readiness">
          Readiness <StatusBadge value={readiness.status} />
        </h2>
        <ReadinessCheckList
          readiness={readiness}
          steps={{
            SCOPES_GRANTED: { name: "Adjust the permissions", run: () => begin("permissions") },
            MERCHANT_ACTIVE:
              status === "SUSPENDED" ? { name: "Resume this app", run: () => begin("resume") } : undefined,
          }}
        />
      </section>
      <section aria-labelledby="requests">
        <div class="bar">
          <h2 id="requests">Recent requests</h2>
          <ConsoleLink to={`/requests?app=${id}`}>Filter the requests</ConsoleLink>
        </div>
        <ApiRequestList
          filter={{ ...emptyRequestFilter, installationId: id }}
          empty={<NoApiRequestsNote />}
        />
      </section>
      <section aria-labelledby="keys">
        <div class="bar">
          <h2 id="keys">API keys</h2>
          <ConsoleLink to={`/keys?installation=${id}`}>Create and manage keys</ConsoleLink>
        </div>
        <ApiKeyList
          installationId={id}
          changes={0}
          empty={
            <EmptyListNote>
              {app.name} has no API key yet.{" "}
              <ConsoleLink to={`/keys?installation=${id}`}>Create the first key</ConsoleLink>
            </EmptyListNote>
          }
        />
      </section>
      <section aria-labelledby="endpoints">
        <div class="bar">
          <h2 id="endpoints">Webhook endpoints</h2>
          <ConsoleLink to={`/endpoints?installation=${id}`}>Register and manage endpoints</ConsoleLink>
        </div>
        <EndpointList installationId={id} changes={0} />
      </section>
      <section aria-labelledby="grants">
        <h2 id="grants">OAuth grants</h2>
        <OauthGrantList installationId={id} />
      </section>
    </>
  );
}

/** The actions on an installation: change its permissions, suspend, resume or uninstall it. */
interface ActionsProps {
  readonly installation: InstallationSummary;
  readonly onChanged: () => void;
}

interface OpenAction {
  readonly doing: InstallationAction | undefined;
  readonly begin: (action: InstallationAction | undefined) => void;
}

function InstallationActions({ doing, begin, ...changing }: ActionsProps & OpenAction): JSX.Element | null {
  const { installation } = changing;
  if (installation.status === "UNINSTALLED") return null;
  const shown = { ...changing, onClose: () => begin(undefined) };
  const turn =
    installation.status === "ACTIVE"
      ? ({ to: "suspend", name: "Suspend" } as const)
      : ({ to: "resume", name: "Resume" } as const);
  return (
    <>
      <button type="button" class="second" onClick={() => begin("permissions")}>
        Change permissions
      </button>
      <button type="button" class="second" onClick={() => begin(turn.to)}>
        {turn.name}
      </button>
      <button type="button" class="second danger" onClick={() => begin("uninstall")}>
        Uninstall
      </button>
      {doing === "permissions" ? <SetInstallationPermissionsDialog {...shown} /> : null}
      {doing === "suspend" ? <SuspendInstallationDialog {...shown} /> : null}
      {doing === "resume" ? <ResumeInstallationDialog {...shown} /> : null}
      {doing === "uninstall" ? <UninstallAppDialog {...shown} /> : null}
    </>
  );
}
