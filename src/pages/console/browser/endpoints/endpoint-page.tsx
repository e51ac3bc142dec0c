/** The page of one webhook endpoint: its health, its actions and its deliveries. */
import type { JSX } from "preact";
import { useGraphqlQuery } from "#pages/console/browser/graph/hooks.ts";
import { DeliveryList } from "#pages/console/browser/deliveries/delivery-list.tsx";
import {
  StatusBadge,
  getDeliveryFailureLabel,
  FormattedTime,
} from "#pages/console/browser/parts/formats.tsx";
import {
  EmptyListNote,
  DescriptionListRow,
  QueryResultOrLoadingNote,
} from "#pages/console/browser/parts/tables.tsx";
import { PageHeading, ConsoleLink, type ConsoleLocation } from "#pages/console/browser/navigation.tsx";
import { EndpointActionButtons } from "./endpoint-actions.tsx";
import { type ConsoleWebhookEndpoint, endpointDocument } from "./endpoint-documents.ts";
import { EndpointHealthText } from "./endpoints-page.tsx";

interface EndpointPageProps {
  readonly id: string;
  readonly place: ConsoleLocation;
}

export function EndpointPage({ id, place }: EndpointPageProps): JSX.Element {
  const query = useGraphqlQuery(endpointDocument, { id });
  const endpoint = query.data?.webhookEndpoint;
  return (
    <>
      <p class="trail">
        <ConsoleLink to="/endpoints">Webhooks</ConsoleLink>
      </p>
      <PageHeading title={endpoint ? hostOf(endpoint.url) : "Endpoint"} />
      <QueryResultOrLoadingNote query={query} what="the endpoint">
        {({ webhookEndpoint }) =>
          webhookEndpoint === null ? (
            <EmptyListNote>This endpoint does not exist or was deleted.</EmptyListNote>
          ) : (
            <>
              <EndpointActionButtons endpoint={webhookEndpoint} onChanged={query.reload} />
              <Facts endpoint={webhookEndpoint} />
            </>
          )
        }
      </QueryResultOrLoadingNote>
      <DeliveryList
        endpointId={id}
        endpoint={endpoint ?? undefined}
        status={place.query.get("status")}
        onDelivered={query.refresh}
      />
    </>
  );
}

const hostOf = (url: string): string => {
  const { host, pathname } = new URL(url);
  return host + (pathname === "/" ? "" : pathname);
};

function Facts({ endpoint }: { readonly endpoint: ConsoleWebhookEndpoint }): JSX.Element {
  const { url, description, status, disabledReason, disabledAt, payloadMode, secrets, health } = endpoint;
  return (
    <dl class="facts">
      <DescriptionListRow name="Address">{url}</DescriptionListRow>
      {description === null ? null : (
        <DescriptionListRow name="Description">{description}</DescriptionListRow>
      )}
      <DescriptionListRow name="Status">
        <StatusBadge value={status} />{" "}
        {disabledAt === null ? null : (
          <span class="soft">
            {offReasons[disabledReason ?? ""] ?? "It was switched off"} on <FormattedTime at={disabledAt} />
          </span>
        )}
      </DescriptionListRow>
      <DescriptionListRow name="Health">
        <EndpointHealthText endpoint={endpoint} />
      </DescriptionListRow>
      <DescriptionListRow name="Last failure">
        {health.lastFailure === null ? (
          "none"
        ) : (
          <>
            {getDeliveryFailureLabel(health.lastFailure.code, health.lastFailure.httpStatus)},{" "}
            <FormattedTime at={health.lastFailureAt} />
          </>
        )}
      </DescriptionListRow>
      <EventFacts endpoint={endpoint} />
      <DescriptionListRow name="Content of the deliveries">
        {payloadMode === "SNAPSHOT" ? "The complete object" : "Only the id of the object"}
      </DescriptionListRow>
      <DescriptionListRow name="Signing secret">
        {secrets.map(({ version, hint, expiresAt }) => (
          <span key={version} class="secret">
            <code>{hint}</code>
            {expiresAt === null ? null : (
              <span class="soft">
                {" "}
                until <FormattedTime at={expiresAt} />
              </span>
            )}
          </span>
        ))}
      </DescriptionListRow>
    </dl>
  );
}

/** The events that the endpoint receives, with its field filters and the order of the deliveries. */
function EventFacts({ endpoint }: { readonly endpoint: ConsoleWebhookEndpoint }): JSX.Element {
  const { eventTypes, fieldFilters, deliveryOrder } = endpoint;
  return (
    <>
      <DescriptionListRow name="Events">
        <span class="scopes">
          {eventTypes.map((type) => (
            <code key={type}>{type === "*" ? "all events" : type}</code>
          ))}
        </span>
      </DescriptionListRow>
      {fieldFilters.length === 0 ? null : (
        <DescriptionListRow name="Field filters">
          {fieldFilters.map(({ eventType, fields }) => (
            <div key={eventType}>
              <code>{eventType}</code> only if one of these fields has changed: {fields.join(", ")}
            </div>
          ))}
        </DescriptionListRow>
      )}
      <DescriptionListRow name="Order of the deliveries">
        {deliveryOrder === "ANY"
          ? "Each delivery is sent at once"
          : "Deliveries about the same object are sent one after the other"}
      </DescriptionListRow>
    </>
  );
}

const offReasons: Readonly<Record<string, string>> = {
  MANUAL: "Disabled by a staff member or an app",
  GONE: "Disabled, because the receiver answered 410",
  FAILING: "Disabled after five days without a successful delivery",
};
