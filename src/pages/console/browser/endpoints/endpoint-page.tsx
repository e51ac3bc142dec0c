/** One webhook endpoint: how it fares, what can be done to it, and what it was sent. */
import type { JSX } from "preact";
import { useQuery } from "#pages/console/browser/graph/hooks.ts";
import { DeliveryList } from "#pages/console/browser/deliveries/delivery-list.tsx";
import { Badge, failureWord, Time } from "#pages/console/browser/parts/formats.tsx";
import { Empty, Fact, Loaded } from "#pages/console/browser/parts/tables.tsx";
import { Heading, Link } from "#pages/console/browser/navigation.tsx";
import { EndpointActions } from "./endpoint-actions.tsx";
import { type Endpoint, endpointDocument } from "./endpoint-documents.ts";

export function EndpointPage({ id }: { readonly id: string }): JSX.Element {
  const asked = useQuery(endpointDocument, { id });
  const endpoint = asked.data?.webhookEndpoint;
  return (
    <>
      <p class="trail">
        <Link to="/endpoints">Webhooks</Link>
      </p>
      <Heading title={endpoint ? hostOf(endpoint.url) : "Endpoint"} />
      <Loaded asked={asked} what="the endpoint">
        {({ webhookEndpoint }) =>
          webhookEndpoint === null ? (
            <Empty>There is no such endpoint, or it was deleted.</Empty>
          ) : (
            <>
              <EndpointActions endpoint={webhookEndpoint} onChanged={asked.reload} />
              <Facts endpoint={webhookEndpoint} />
            </>
          )
        }
      </Loaded>
      <DeliveryList endpointId={id} onDelivered={asked.refresh} />
    </>
  );
}

const hostOf = (url: string): string => {
  const { host, pathname } = new URL(url);
  return host + (pathname === "/" ? "" : pathname);
};

function Facts({ endpoint }: { readonly endpoint: Endpoint }): JSX.Element {
  const { url, description, status, disabledReason, disabledAt, eventTypes, payloadMode, secrets, health } =
    endpoint;
  return (
    <dl class="facts">
      <Fact name="Address">{url}</Fact>
      {description === null ? null : <Fact name="Description">{description}</Fact>}
      <Fact name="Status">
        <Badge value={status} />{" "}
        {disabledAt === null ? null : (
          <span class="soft">
            {offReasons[disabledReason ?? ""] ?? "It was switched off"} on <Time at={disabledAt} />
          </span>
        )}
      </Fact>
      <Fact name="Health">
        <Badge value={health.state} />{" "}
        {health.successRate24h === null ? null : (
          <span class="soft">{Math.round(health.successRate24h * 1000) / 10} % arrived in 24 hours</span>
        )}
      </Fact>
      <Fact name="Last failure">
        {health.lastFailure === null ? (
          "none"
        ) : (
          <>
            {failureWord(health.lastFailure.code, health.lastFailure.httpStatus)},{" "}
            <Time at={health.lastFailureAt} />
          </>
        )}
      </Fact>
      <Fact name="Listens to">
        <span class="scopes">
          {eventTypes.map((type) => (
            <code key={type}>{type === "*" ? "everything" : type}</code>
          ))}
        </span>
      </Fact>
      <Fact name="What is sent">{payloadMode === "SNAPSHOT" ? "The whole thing" : "Its id alone"}</Fact>
      <Fact name="Signing secret">
        {secrets.map(({ version, hint, expiresAt }) => (
          <span key={version} class="secret">
            <code>{hint}</code>
            {expiresAt === null ? null : (
              <span class="soft">
                {" "}
                until <Time at={expiresAt} />
              </span>
            )}
          </span>
        ))}
      </Fact>
    </dl>
  );
}

const offReasons: Readonly<Record<string, string>> = {
  MANUAL: "Switched off",
  GONE: "It answered 410 and was switched off",
  FAILING: "Nothing had arrived for five days; switched off",
};
