/** The list of problems in the merchant's app installations that staff should look at, with a link to each. */
import type { JSX } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import { useGraphqlQuery } from "#pages/console/browser/graph/hooks.ts";
import type { InstallationWithReadiness } from "#pages/console/browser/installations/installation-documents.ts";
import { getReadinessCheckTitle } from "#pages/console/browser/installations/readiness-checks.tsx";
import { FailureBanner } from "#pages/console/browser/parts/fields.tsx";
import { formatLocalizedCountWithNoun, StatusBadge } from "#pages/console/browser/parts/formats.tsx";
import { ConsoleLink } from "#pages/console/browser/navigation.tsx";
import { findInstallationProblems, type InstallationProblem } from "./find-problems.ts";
import { needsAttentionDocument } from "./overview-documents.ts";

interface Findings {
  /**
   * False while the installation's endpoints and deliveries are being loaded, because the list of problems
   * may still lack some problems.
   */
  readonly isComplete: boolean;
  readonly hasEndpoints: boolean;
  readonly problems: readonly InstallationProblem[];
}

export function NeedsAttentionList({
  installations,
}: {
  readonly installations: readonly InstallationWithReadiness[];
}): JSX.Element {
  const [findings, setFindings] = useState<ReadonlyMap<string, Findings>>(new Map());
  const note = useCallback((id: string, found: Findings): void => {
    setFindings((before) => new Map([...before, [id, found]]));
  }, []);
  const found = installations.map(({ id }) => findings.get(id));
  const isComplete = found.every((one) => one?.isComplete === true);
  const count = found.reduce((sum, one) => sum + (one?.problems.length ?? 0), 0);
  const hasEndpoints = found.some((one) => one?.hasEndpoints === true);
  return (
    <section aria-labelledby="attention">
      <h2 id="attention">Needs attention</h2>
      <p role="status" class={count === 0 && isComplete ? undefined : "soft"}>
        {count > 0
          ? formatLocalizedCountWithNoun(count, "problem")
          : isComplete
            ? "No problem was found: all readiness checks passed and no webhook delivery is lost or waiting."
            : "Checking …"}
      </p>
      {installations.map((installation) => (
        <InstallationProblems
          key={installation.id}
          installation={installation}
          isNamed={installations.length > 1}
          onFound={note}
        />
      ))}
      {isComplete && !hasEndpoints ? (
        <div class="empty">
          <p>No webhook endpoint exists yet, so no events are delivered.</p>
          <div class="actions">
            <ConsoleLink to="/endpoints">Register an endpoint</ConsoleLink>
          </div>
        </div>
      ) : null}
    </section>
  );
}

interface InstallationProblemsProps {
  readonly installation: InstallationWithReadiness;
  readonly isNamed: boolean;
  readonly onFound: (id: string, found: Findings) => void;
}

function InstallationProblems({
  installation,
  isNamed,
  onFound,
}: InstallationProblemsProps): JSX.Element | null {
  const { data, failure, reload } = useGraphqlQuery(needsAttentionDocument, {
    installationId: installation.id,
  });
  const endpoints = data?.installation?.webhookEndpointList.endpoints ?? [];
  const events = data?.installation?.webhookLog.events ?? [];
  const problems = findInstallationProblems({
    installation,
    endpoints,
    events,
    nowMs: Date.now(),
    titleOf: getReadinessCheckTitle,
  });
  const keys = problems.map(({ key }) => key).join("\n");
  useEffect(() => {
    onFound(installation.id, {
      isComplete: data !== undefined && failure === undefined,
      hasEndpoints: endpoints.length > 0,
      problems,
    });
  }, [keys, data, failure]);
  if (failure === undefined && problems.length === 0) return null;
  return (
    <>
      {isNamed ? <h3>{installation.app.name}</h3> : null}
      <FailureBanner failure={failure} onRetry={reload} />
      <ul class="checks card" aria-label={`Problems of ${installation.app.name}`}>
        {problems.map(({ key, tone, label, text, link }) => (
          <li key={key}>
            <StatusBadge value={label} text={label} tone={tone} />
            <div>
              <span>{text}</span> <ConsoleLink to={link.to}>{link.name}</ConsoleLink>
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}
