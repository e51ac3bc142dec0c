/**
 * The page of search results. The search for the id of an object with a page of its own opens that page.
 * Every other search lists the results, or says what can be searched.
 */
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type GraphqlRequestError, toGraphqlRequestError } from "#pages/console/browser/graph/client.ts";
import {
  ConsoleLink,
  type ConsoleLocation,
  PageHeading,
  replaceConsoleUrlInHistory,
} from "#pages/console/browser/navigation.tsx";
import { FailureBanner } from "#pages/console/browser/parts/fields.tsx";
import {
  formatLocalizedCountWithNoun,
  StatusBadge,
  FormattedTime,
} from "#pages/console/browser/parts/formats.tsx";
import { ApiRequestStatusBadge } from "#pages/console/browser/requests/request-table.tsx";
import { searchConsole, type ConsoleSearchHit, type ConsoleSearchResult } from "./search-results.ts";
import {
  getNoSearchResultsMessage,
  parseConsoleSearchTerm,
  searchedKinds,
  type ParsedConsoleSearchText,
  removeSecretsFromSearchText,
} from "./search-terms.ts";

interface SearchPageProps {
  readonly place: ConsoleLocation;
  /**
   * Returns true if the console has a page at the given path. Search results whose path has no page are shown
   * without a link.
   */
  readonly hasPage: (path: string) => boolean;
}

export function ConsoleSearchPage({ place, hasPage }: SearchPageProps): JSX.Element {
  const text = removeSecretsFromSearchText(place.query.get("q") ?? "");
  const term = parseConsoleSearchTerm(text);
  const { result, failure, retry } = useHits(term, hasPage);
  return (
    <>
      <PageHeading title="Search" />
      {term.kind === "empty" ? (
        <p class="lead">Enter an id, an order number or a name into the search field, and press Enter.</p>
      ) : (
        <p class="lead" role="status">
          {searchStateText(term, { text, result, failure })}
        </p>
      )}
      <FailureBanner failure={failure} onRetry={retry} />
      {result === undefined || result.hits.length === 0 ? null : (
        <HitList hits={result.hits} hasPage={hasPage} />
      )}
      {result?.isPartial === true ? (
        <p class="soft">
          Names were searched among the newest 100 API keys, the first 100 apps and the first 100 staff
          members. An id finds older ones too.
        </p>
      ) : null}
      {term.kind === "empty" || result?.hits.length === 0 ? <SearchHelp /> : null}
    </>
  );
}

function searchStateText(
  term: ParsedConsoleSearchText,
  { text, result, failure }: Pick<SearchState, "result" | "failure"> & { readonly text: string },
): string {
  if (failure !== undefined) return `The search for “${text}” failed.`;
  if (result === undefined) return `Searching for “${text}” …`;
  return result.hits.length === 0
    ? getNoSearchResultsMessage(term)
    : `${formatLocalizedCountWithNoun(result.hits.length, "result")} for “${text}”`;
}

interface SearchState {
  readonly result: ConsoleSearchResult | undefined;
  readonly failure: GraphqlRequestError | undefined;
  readonly retry: () => void;
}

interface HitsState {
  readonly key: string;
  readonly result?: ConsoleSearchResult;
  readonly failure?: GraphqlRequestError;
}

function useHits(term: ParsedConsoleSearchText, hasPage: SearchPageProps["hasPage"]): SearchState {
  const key = JSON.stringify(term);
  const [tries, setTries] = useState(0);
  const [state, setState] = useState<HitsState>({ key });
  useEffect(() => {
    let isCurrent = true;
    setState({ key });
    const search = async (): Promise<void> => {
      try {
        const result = await searchConsole(term);
        if (!isCurrent) return;
        const [hit] = result.hits;
        const isOnly = term.kind === "id" && result.hits.length === 1;
        if (isOnly && hit?.isOwnPage === true && hasPage(hit.to)) replaceConsoleUrlInHistory(hit.to);
        else setState({ key, result });
      } catch (error) {
        if (isCurrent) setState({ key, failure: toGraphqlRequestError(error) });
      }
    };
    void search();
    return () => {
      isCurrent = false;
    };
  }, [key, tries]);
  const shown = state.key === key ? state : undefined;
  return { result: shown?.result, failure: shown?.failure, retry: () => setTries(tries + 1) };
}

interface HitListProps extends Pick<SearchPageProps, "hasPage"> {
  readonly hits: readonly ConsoleSearchHit[];
}

const HitList = ({ hits, hasPage }: HitListProps): JSX.Element => (
  <ul class="hits" aria-label="Search results">
    {hits.map(({ kind, id, title, to, status, facts, at }) => (
      <li key={`${kind} ${id}`}>
        <p class="kind">{kind}</p>
        <div>
          <p>
            {hasPage(to) ? <ConsoleLink to={to}>{title}</ConsoleLink> : title}{" "}
            {status === undefined ? null : <HitStatus status={status} />}
          </p>
          <p class="soft small">
            {facts === "" ? null : <span>{facts}</span>}
            {at === undefined ? null : <FormattedTime at={at} isMinute />}
            <code>{id}</code>
          </p>
        </div>
      </li>
    ))}
  </ul>
);

const HitStatus = ({ status }: { readonly status: string }): JSX.Element =>
  /^\d+$/.test(status) ? <ApiRequestStatusBadge status={Number(status)} /> : <StatusBadge value={status} />;

const SearchHelp = (): JSX.Element => (
  <section aria-labelledby="searchable">
    <h2 id="searchable">What you can search for</h2>
    <dl class="facts">
      <div class="whole-row">
        <dt>Numbers and names</dt>
        <dd>
          The number of an order, and a part of the name of an app, an API key or a staff member, of the
          address of a webhook endpoint, of an e-mail address, or the beginning of an API key.
        </dd>
      </div>
      <div class="whole-row">
        <dt>Ids</dt>
        <dd>
          {Object.entries(searchedKinds).map(([prefix, kind]) => (
            <span key={prefix} class="prefix">
              <code>{prefix}_…</code> {kind}
            </span>
          ))}
        </dd>
      </div>
    </dl>
  </section>
);
