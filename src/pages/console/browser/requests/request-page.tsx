/** The page of one request in the request log: its properties, what its error means and how to fix it. */
import type { JSX } from "preact";
import { basePath } from "#pages/console/browser/graph/client.ts";
import { useGraphqlQuery } from "#pages/console/browser/graph/hooks.ts";
import { ConsoleLink, PageHeading } from "#pages/console/browser/navigation.tsx";
import { formatMilliseconds, FormattedTime } from "#pages/console/browser/parts/formats.tsx";
import {
  DescriptionListRow,
  EmptyListNote,
  QueryResultOrLoadingNote,
} from "#pages/console/browser/parts/tables.tsx";
import { apiRoot, getApiOperationPath } from "./api-operations.ts";
import { ApiRequestErrorExplanation } from "./error-explanation.tsx";
import { type ConsoleApiRequest, requestDocument } from "./request-documents.ts";
import { exactStatuses } from "./request-filter.ts";
import { formatRequestCredential, ApiRequestStatusBadge } from "./request-table.tsx";

export function ApiRequestPage({ id }: { readonly id: string }): JSX.Element {
  const query = useGraphqlQuery(requestDocument, { id });
  const request = query.data?.apiRequest;
  const path = request ? getApiOperationPath(request.operation) : undefined;
  return (
    <>
      <p class="trail">
        <ConsoleLink to="/requests">Requests</ConsoleLink>
      </p>
      <PageHeading title={request ? `${request.method} ${path ?? request.operation}` : "Request"} />
      <QueryResultOrLoadingNote query={query} what="the request">
        {({ apiRequest }) =>
          apiRequest === null ? (
            <EmptyListNote>
              Your shop has no request with the id {id}. Requests are stored for three days, and of very many
              requests only a sample. <ConsoleLink to="/requests">Show all requests</ConsoleLink>
            </EmptyListNote>
          ) : (
            <>
              <Facts request={apiRequest} />
              {apiRequest.errorCode === null ? null : (
                <ApiRequestErrorExplanation code={apiRequest.errorCode} docUrl={apiRequest.docUrl} />
              )}
              <Related request={apiRequest} />
            </>
          )
        }
      </QueryResultOrLoadingNote>
    </>
  );
}

function Facts({ request }: { readonly request: ConsoleApiRequest }): JSX.Element {
  const { id, method, operation, status, durationMs, at, installation, apiKey, credentialId } = request;
  const path = getApiOperationPath(operation);
  const name = exactStatuses[String(status)];
  return (
    <>
      <dl class="facts">
        <div class="whole-row">
          <dt>Request</dt>
          <dd>
            <code>
              {method} {path === undefined ? operation : `${apiRoot}${path}`}
            </code>
          </dd>
        </div>
        <DescriptionListRow name="Status">
          <ApiRequestStatusBadge status={status} /> {name}
        </DescriptionListRow>
        <DescriptionListRow name="Answered">
          <FormattedTime at={at} />
        </DescriptionListRow>
        <DescriptionListRow name="Took">{formatMilliseconds(durationMs)}</DescriptionListRow>
        <DescriptionListRow name="Operation">
          <a href={`${basePath}/docs/operations/${operation}`}>{operation}</a>
        </DescriptionListRow>
        <DescriptionListRow name="App">
          <ConsoleLink to={`/installations/${installation.id}`}>{installation.app.name}</ConsoleLink>
        </DescriptionListRow>
        <DescriptionListRow name={apiKey === null ? "Sent with" : "API key"}>
          {formatRequestCredential(request)}
          <br />
          <code>{apiKey?.prefix ?? credentialId}</code>
        </DescriptionListRow>
        <DescriptionListRow name="Request id">
          <code>{id}</code>
        </DescriptionListRow>
      </dl>
      <p class="lead">
        Parameters, headers and bodies are not stored, because they can contain personal data. If you ask for
        help with this request, name the request id: the answer has it in the header X-Request-Id.
      </p>
    </>
  );
}

/** Links to lists of similar requests in the log, for example of requests for the same operation. */
function Related({ request }: { readonly request: ConsoleApiRequest }): JSX.Element {
  const { operation, credentialId, status } = request;
  return (
    <section aria-labelledby="related">
      <h2 id="related">Similar requests</h2>
      <ul class="related">
        <li>
          <ConsoleLink to={`/requests?operation=${operation}`}>All requests of this operation</ConsoleLink>
        </li>
        <li>
          <ConsoleLink to={`/requests?operation=${operation}&status=${status}`}>
            Requests of this operation with the status {status}
          </ConsoleLink>
        </li>
        <li>
          <ConsoleLink to={`/requests?key=${credentialId}`}>All requests with this key</ConsoleLink>
        </li>
        <li>
          <ConsoleLink to={`/requests?key=${credentialId}&status=failed`}>
            Failed requests with this key
          </ConsoleLink>
        </li>
      </ul>
    </section>
  );
}
