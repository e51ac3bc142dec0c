/**
 * The page of the request log, which lists the requests that apps have sent to the API. Its filter is part of
 * the page's URL, so that a link to the filtered log can be shared.
 */
import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";
import { basePath } from "#pages/console/browser/graph/client.ts";
import { getGraphqlConnectionNodes } from "#pages/console/browser/graph/documents.ts";
import { useGraphqlQuery } from "#pages/console/browser/graph/hooks.ts";
import {
  ConsoleLink,
  type ConsoleLocation,
  PageHeading,
  replaceConsoleUrlInHistory,
} from "#pages/console/browser/navigation.tsx";
import { apiOperations } from "./api-operations.ts";
import { type ApiRequestSenderFilterChoices, requestSendersDocument } from "./request-documents.ts";
import {
  exactStatuses,
  parseRequestLogFilter,
  getRequestLogPathAfterFilterChange,
  statusRanges,
} from "./request-filter.ts";
import { ApiRequestList } from "./request-table.tsx";
import "#pages/console/browser/parts/filters.css";

export function ApiRequestsPage({ place }: { readonly place: ConsoleLocation }): JSX.Element {
  const filter = parseRequestLogFilter(place.query);
  const isFiltered = Object.values(filter).some((value) => value !== null);
  return (
    <>
      <PageHeading title="Requests">
        {isFiltered ? (
          <button type="button" class="second" onClick={() => replaceConsoleUrlInHistory("/requests")}>
            Clear the filters
          </button>
        ) : undefined}
      </PageHeading>
      <p class="lead">
        What your apps sent to the API in the last three days, and how it was answered. When an app sends very
        many requests, the log has a sample of them.
      </p>
      <RequestFilters query={place.query} />
      <ApiRequestList filter={filter} empty={isFiltered ? <NoMatch /> : <NoApiRequestsNote />} />
    </>
  );
}

const NoMatch = (): JSX.Element => (
  <>
    No request of the last three days matches these filters.{" "}
    <ConsoleLink to="/requests">Show all requests</ConsoleLink>
  </>
);

export const NoApiRequestsNote = (): JSX.Element => (
  <>
    No app sent a request in the last three days. A request appears here a few seconds after its answer.{" "}
    <a href={`${basePath}/docs/guides/getting-started`}>How to send the first request</a>
  </>
);

function RequestFilters({ query }: { readonly query: URLSearchParams }): JSX.Element {
  const { data } = useGraphqlQuery(requestSendersDocument, {});
  const filterOf = (name: string): Pick<FilterSelectProps, "value" | "onChange"> => ({
    value: query.get(name) ?? "",
    onChange: (value) => replaceConsoleUrlInHistory(getRequestLogPathAfterFilterChange(query, name, value)),
  });
  return (
    <div class="filters compact" role="search" aria-label="Filters of the requests">
      <StatusSelect {...filterOf("status")} />
      <FilterSelect label="Operation" {...filterOf("operation")} options={apiOperations.map(({ id }) => id)}>
        <option value="">All operations</option>
        {apiOperations.map(({ id, method, path }) => (
          <option key={id} value={id}>
            {method} {path}
          </option>
        ))}
      </FilterSelect>
      <AppSelect {...filterOf("app")} senders={data} />
      <KeySelect {...filterOf("key")} senders={data} />
    </div>
  );
}

interface FilterSelectProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /**
   * The values of a filter from which the reader can choose. A value in the page's URL that is not among them
   * is added.
   */
  readonly options: readonly string[];
  readonly children: ComponentChildren;
}

type OwnProps = Pick<FilterSelectProps, "value" | "onChange">;

function FilterSelect({ label, value, onChange, options, children }: FilterSelectProps): JSX.Element {
  const id = useId();
  return (
    <div>
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {children}
        {value === "" || options.includes(value) ? null : <option value={value}>{value}</option>}
      </select>
    </div>
  );
}

const StatusSelect = (props: OwnProps): JSX.Element => (
  <FilterSelect
    label="Status"
    {...props}
    options={[...Object.keys(statusRanges), ...Object.keys(exactStatuses)]}
  >
    <option value="">All statuses</option>
    {Object.entries(statusRanges).map(([value, { name }]) => (
      <option key={value} value={value}>
        {name}
      </option>
    ))}
    <optgroup label="Exact status">
      {Object.entries(exactStatuses).map(([status, name]) => (
        <option key={status} value={status}>
          {status} {name}
        </option>
      ))}
    </optgroup>
  </FilterSelect>
);

interface SenderProps extends OwnProps {
  /** The apps, API keys and OAuth grants by which the log can be filtered; undefined until they are loaded. */
  readonly senders: ApiRequestSenderFilterChoices | undefined;
}

function AppSelect({ senders, ...props }: SenderProps): JSX.Element {
  const apps = senders === undefined ? [] : getGraphqlConnectionNodes(senders.installations);
  return (
    <FilterSelect label="App" {...props} options={apps.map(({ id }) => id)}>
      <option value="">All apps</option>
      {apps.map(({ id, app }) => (
        <option key={id} value={id}>
          {app.name}
        </option>
      ))}
    </FilterSelect>
  );
}

function KeySelect({ senders, ...props }: SenderProps): JSX.Element {
  const keys = senders === undefined ? [] : getGraphqlConnectionNodes(senders.apiKeys).toReversed();
  const grants = senders === undefined ? [] : getGraphqlConnectionNodes(senders.oauthGrants).toReversed();
  return (
    <FilterSelect label="Key" {...props} options={[...keys, ...grants].map(({ id }) => id)}>
      <option value="">All keys</option>
      <optgroup label="API keys">
        {keys.map(({ id, name, lastFour, installation }) => (
          <option key={id} value={id}>
            {installation.app.name}: {name} (…{lastFour})
          </option>
        ))}
      </optgroup>
      {grants.length === 0 ? null : (
        <optgroup label="OAuth grants">
          {grants.map(({ id, installation }) => (
            <option key={id} value={id}>
              {installation.app.name}: {id}
            </option>
          ))}
        </optgroup>
      )}
    </FilterSelect>
  );
}
