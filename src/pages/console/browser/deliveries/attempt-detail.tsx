/** Shows the request of a webhook delivery attempt and the answer of the receiver, in two tabs. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { DescriptionListRow } from "#pages/console/browser/parts/tables.tsx";
import { formatMilliseconds, FormattedTime } from "#pages/console/browser/parts/formats.tsx";
import { TabList } from "#pages/console/browser/parts/tab-list.tsx";
import {
  formatDeliveryAttemptAsCurl,
  listDeliveryAttemptRequestHeaders,
  formatJson,
  tokenizeJson,
  type DeliveryAttemptRequestHeader,
} from "./attempt-request.ts";
import { DeliveryAttemptOutcomeText, getDeliveryFailureAdvice } from "./delivery-texts.tsx";
import "./deliveries.css";
import type { ConsoleDeliveryAttempt, ConsoleWebhookDeliveryDetails } from "./delivery-documents.ts";

interface AttemptDetailProps {
  readonly delivery: ConsoleWebhookDeliveryDetails;
  readonly attempt: ConsoleDeliveryAttempt;
  /** The current URL of the webhook endpoint; null if the endpoint was deleted. */
  readonly url: string | null;
}

export function DeliveryAttemptDetails({ delivery, attempt, url }: AttemptDetailProps): JSX.Element {
  const tabs = [
    { name: "Request", panel: () => <RequestPanel delivery={delivery} attempt={attempt} url={url} /> },
    { name: "Response", panel: () => <ResponsePanel attempt={attempt} /> },
  ];
  return (
    <article class="card attempt" id="attempt-detail" aria-label={`Attempt ${attempt.number}`}>
      <h3>Attempt {attempt.number}</h3>
      <TabList label={`Attempt ${attempt.number}`} tabs={tabs} />
    </article>
  );
}

function RequestPanel({ delivery, attempt, url }: AttemptDetailProps): JSX.Element {
  const headers = listDeliveryAttemptRequestHeaders(delivery, attempt);
  const { body } = delivery;
  return (
    <>
      <p class="sent-to">
        <strong>POST</strong>{" "}
        {url === null ? <span class="soft">a deleted endpoint</span> : <code>{url}</code>}
      </p>
      {url === null || body === null ? null : (
        <CopyCurl command={formatDeliveryAttemptAsCurl({ url, headers, body })} />
      )}
      <h4>Headers</h4>
      <HeaderList headers={headers} />
      <h4>Body</h4>
      {body === null ? (
        <p class="soft">The body is not available.</p>
      ) : (
        <pre tabIndex={0} role="region" aria-label="Body of the request" class="json">
          <code>
            {tokenizeJson(formatJson(body)).map(({ kind, text }, index) =>
              kind === "plain" ? (
                text
              ) : (
                <span key={index} class={kind}>
                  {text}
                </span>
              ),
            )}
          </code>
        </pre>
      )}
    </>
  );
}

const HeaderList = ({
  headers,
}: {
  readonly headers: readonly DeliveryAttemptRequestHeader[];
}): JSX.Element => (
  <dl class="headers">
    {headers.map(({ name, value, isDescribed }) => (
      <DescriptionListRow key={name} name={name}>
        {isDescribed ? <span class="soft">{value}</span> : <code>{value}</code>}
      </DescriptionListRow>
    ))}
  </dl>
);

function CopyCurl({ command }: { readonly command: string }): JSX.Element {
  const [state, setState] = useState<"none" | "copied" | "refused">("none");
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(command);
      setState("copied");
    } catch {
      setState("refused");
    }
  };
  return (
    <>
      <div class="actions">
        <button type="button" class="second" onClick={() => void copy()}>
          Copy as curl
        </button>
        <span class="soft" role="status">
          {state === "copied"
            ? "Copied. The command has no signature: a receiver that checks it refuses."
            : ""}
        </span>
      </div>
      {state === "refused" ? (
        <>
          <p>The browser does not allow copying. Select the command and copy it by hand.</p>
          <pre tabIndex={0} role="region" aria-label="curl command">
            <code>{command}</code>
          </pre>
        </>
      ) : null}
    </>
  );
}

function ResponsePanel({ attempt }: { readonly attempt: ConsoleDeliveryAttempt }): JSX.Element {
  const { at, durationMs, errorCode, httpStatus } = attempt;
  const advice = errorCode === null ? undefined : getDeliveryFailureAdvice(errorCode, httpStatus);
  return (
    <>
      <dl class="headers">
        <DescriptionListRow name="Result">
          <DeliveryAttemptOutcomeText attempt={attempt} />
        </DescriptionListRow>
        <DescriptionListRow name="HTTP status">
          {httpStatus === null ? <span class="soft">no answer</span> : <code>{httpStatus}</code>}
        </DescriptionListRow>
        <DescriptionListRow name="Sent">
          <FormattedTime at={at} />
        </DescriptionListRow>
        <DescriptionListRow name="Took">{formatMilliseconds(durationMs)}</DescriptionListRow>
      </dl>
      {advice === undefined ? null : <p>{advice}</p>}
      <p class="soft small">
        The service stores the status and the duration of an answer. It does not store the headers and body,
        because they may contain personal data.
      </p>
    </>
  );
}
