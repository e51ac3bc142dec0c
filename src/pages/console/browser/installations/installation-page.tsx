/**
 * The page of one installation: its scopes, readiness, keys, endpoints, grants and recent requests, and the
 * dialogs that change it.
 */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useMutation, useQuery } from "#pages/console/browser/graph/hooks.ts";
import { EndpointList } from "#pages/console/browser/endpoints/endpoints-page.tsx";
import { KeyList } from "#pages/console/browser/keys/keys-page.tsx";
import { scopeEnumValue, ScopeList, grantableScopes } from "#pages/console/browser/parts/credentials.tsx";
import { StatusBadge, TimeText } from "#pages/console/browser/parts/formats.tsx";
import { EmptyNote, DescriptionRow, QueryResultView } from "#pages/console/browser/parts/tables.tsx";
import { RequestList } from "./request-list.tsx";
import { PageHeading, ConsoleLink } from "#pages/console/browser/navigation.tsx";
import { FailureBanner, CheckboxGroup } from "#pages/console/browser/parts/fields.tsx";
import { ConfirmDialog, Dialog } from "#pages/console/browser/parts/dialogs.tsx";
import { GrantList } from "./grant-list.tsx";
import {
  installationDocument,
  type InstallationName,
  type InstallationWithReadiness,
  resumeDocument,
  setScopesDocument,
  suspendDocument,
} from "./installation-documents.ts";
import { ReadinessChecks } from "./installations-page.tsx";

export function InstallationPage({ id }: { readonly id: string }): JSX.Element {
  const query = useQuery(installationDocument, { id });
  const installation = query.data?.installation;
  return (
    <>
      <p class="trail">
        <ConsoleLink to="/installations">Installations</ConsoleLink>
      </p>
      <PageHeading title={installation?.app.name ?? "Installation"}>
        {installation ? (
          <InstallationActions installation={installation} onChanged={query.reload} />
        ) : undefined}
      </PageHeading>
      <QueryResultView query={query} what="the installation">
        {(data) =>
          data.installation === null ? (
            <EmptyNote>This installation does not exist.</EmptyNote>
          ) : (
            <Parts installation={data.installation} />
          )
        }
      </QueryResultView>
    </>
  );
}

function Parts({ installation }: { readonly installation: InstallationWithReadiness }): JSX.Element {
  const { id, status, scopes, installedAt, app, readiness } = installation;
  return (
    <>
      <dl class="facts">
        <DescriptionRow name="Status">
          <StatusBadge value={status} />
        </DescriptionRow>
        <DescriptionRow name="Publisher">{app.publisher ?? "–"}</DescriptionRow>
        <DescriptionRow name="Installed">
          <TimeText at={installedAt} isDay />
        </DescriptionRow>
        <DescriptionRow name="Scopes">
          <ScopeList scopes={scopes} />
        </DescriptionRow>
        <DescriptionRow name="Id">
          <code>{id}</code>
        </DescriptionRow>
      </dl>
      <section aria-labelledby="readiness">
        <h2 id="readiness">
          Readiness <StatusBadge value={readiness.status} />
        </h2>
        <ReadinessChecks readiness={readiness} />
      </section>
      <section aria-labelledby="requests">
        <h2 id="requests">Recent requests</h2>
        <RequestList installationId={id} />
      </section>
      <section aria-labelledby="keys">
        <div class="bar">
          <h2 id="keys">API keys</h2>
          <ConsoleLink to={`/keys?installation=${id}`}>Create and manage keys</ConsoleLink>
        </div>
        <KeyList installationId={id} changes={0} />
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
        <GrantList installationId={id} />
      </section>
    </>
  );
}

/** The actions on an installation: change its scopes, suspend or resume it. */
interface ActionsProps {
  readonly installation: InstallationName;
  readonly onChanged: () => void;
}

function InstallationActions({ installation, onChanged }: ActionsProps): JSX.Element | null {
  const [doing, setDoing] = useState<"scopes" | "suspend" | "resume">();
  if (installation.status === "UNINSTALLED") return null;
  const shown = { installation, onChanged, onClose: () => setDoing(undefined) };
  const turn =
    installation.status === "ACTIVE"
      ? ({ to: "suspend", name: "Suspend" } as const)
      : ({ to: "resume", name: "Resume" } as const);
  return (
    <>
      <button type="button" class="second" onClick={() => setDoing("scopes")}>
        Change scopes
      </button>
      <button type="button" class="second" onClick={() => setDoing(turn.to)}>
        {turn.name}
      </button>
      {doing === "scopes" ? <SetScopes {...shown} /> : null}
      {doing === "suspend" ? <Suspend {...shown} /> : null}
      {doing === "resume" ? <Resume {...shown} /> : null}
    </>
  );
}

interface DoingProps extends ActionsProps {
  readonly onClose: () => void;
}

function SetScopes({ installation, onChanged, onClose }: DoingProps): JSX.Element {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(installation.scopes));
  const { isBusy, failure, run } = useMutation(setScopesDocument);
  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    const input = { installationId: installation.id, scopes: [...chosen].toSorted().map(scopeEnumValue) };
    if ((await run({ input })) === undefined) return;
    onChanged();
    onClose();
  };
  return (
    <Dialog title={`What “${installation.app.name}” may do`} onClose={onClose}>
      <form onSubmit={(event) => void save(event)} noValidate>
        <FailureBanner failure={failure} shown={["/scopes"]} />
        <CheckboxGroup
          legend="Scopes"
          hint="Keys and grants of this installation can use only the scopes selected here."
          pointer="/scopes"
          failure={failure}
          choices={grantableScopes.map(({ name, hint }) => ({ value: name, label: name, hint }))}
          chosen={chosen}
          onChange={setChosen}
        />
        <div class="actions">
          <button type="button" class="second" onClick={onClose}>
            Cancel
          </button>
          <button aria-disabled={isBusy}>{isBusy ? "One moment …" : "Save"}</button>
        </div>
      </form>
    </Dialog>
  );
}

function Suspend({ installation, onChanged, onClose }: DoingProps): JSX.Element {
  const { isBusy, failure, run } = useMutation(suspendDocument);
  const suspend = async (): Promise<void> => {
    if ((await run({ input: { installationId: installation.id } })) === undefined) return;
    onChanged();
    onClose();
  };
  return (
    <ConfirmDialog
      title={`Suspend “${installation.app.name}”?`}
      action="Suspend the installation"
      isBusy={isBusy}
      failure={failure}
      onConfirm={() => void suspend()}
      onClose={onClose}
    >
      <p>
        Until the installation is resumed, its keys and tokens are refused and its endpoints receive nothing.
      </p>
    </ConfirmDialog>
  );
}

function Resume({ installation, onChanged, onClose }: DoingProps): JSX.Element {
  const { isBusy, failure, run } = useMutation(resumeDocument);
  const resume = async (): Promise<void> => {
    if ((await run({ input: { installationId: installation.id } })) === undefined) return;
    onChanged();
    onClose();
  };
  return (
    <ConfirmDialog
      title={`Resume “${installation.app.name}”?`}
      action="Resume the installation"
      isHarmless
      isBusy={isBusy}
      failure={failure}
      onConfirm={() => void resume()}
      onClose={onClose}
    >
      <p>The keys and tokens of the installation work again.</p>
    </ConfirmDialog>
  );
}
