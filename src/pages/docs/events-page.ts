/** The page that lists the webhook events in groups, with the fields that the bodies of all events have. */
import { html, type PreEscapedHtml } from "#pages/shared/html.ts";
import { type OpenApiDocument, getReferencedSchemaName, resolveOpenApiSchema } from "./api-document.ts";
import { renderStabilityBadges } from "./frame.ts";
import { getHeadingAnchor, renderInlineMarkdown } from "./markdown.ts";
import { OpenApiSchemaRenderer } from "./schema-view.ts";

export interface OpenApiWebhookEvent {
  readonly name: string;
  readonly description: string;
  readonly stability: "stable" | "candidate";
  /** The name of the OpenAPI schema for the object of the event (`data.object` in the event's body). */
  readonly object: string;
}

export const envelopeName = "WebhookEvent";

export function renderEventListPageContent(
  document: OpenApiDocument,
  { home }: { readonly home: string },
): PreEscapedHtml {
  const groups = [
    ...Map.groupBy(listOpenApiWebhookEvents(document), ({ name }) => name.split(".", 1).join("")),
  ];
  const { schemas } = document.components;
  const envelope = schemas[envelopeName] ?? {};
  return html`<h1>Events</h1>
    <p class="lead">
      The events that webhook endpoints can receive. An endpoint subscribes to single types, to all types of a
      group (<code>order.*</code>), or to all types (<code>*</code>).
    </p>
    <p>
      The <a href="${home}/guides/webhooks">webhooks guide</a> explains how events are sent and verified;
      <a href="${home}/operations/listInstallationWebhookEvents">listInstallationWebhookEvents</a> has an
      example of each body.
    </p>
    <ul class="toc">
      ${groups.map(
        ([group, events]) =>
          html`<li>
            <a href="#${getHeadingAnchor(group)}"><code>${group}.*</code></a>
            <span class="soft">${events.length}</span>
          </li>`,
      )}
      <li><a href="#body">The body</a></li>
    </ul>
    ${groups.map(
      ([group, events]) =>
        html`<h2 id="${getHeadingAnchor(group)}"><code>${group}.*</code></h2>
          <ul class="list">
            ${events.map((event) => itemOf(event, home))}
          </ul>`,
    )}
    <h2 id="body">The body</h2>
    <p>
      The body has the same form for every type. <code>data.object</code> is the resource as it was at the
      time of the event; its schema is named with the type.
    </p>
    ${new OpenApiSchemaRenderer(schemas, [envelope]).fields(envelope, "given")}`;
}

const itemOf = (event: OpenApiWebhookEvent, home: string): PreEscapedHtml =>
  html`<li id="${event.name}">
    <div>
      <a href="${home}/events/${event.name}"><code>${event.name}</code></a> ${renderStabilityBadges(event)}
      <p>${renderInlineMarkdown(event.description)}</p>
      <p class="soft"><code>data.object</code>: <code>${event.object}</code></p>
    </div>
  </li>`;

export function listOpenApiWebhookEvents({
  webhooks,
  components: { schemas },
}: OpenApiDocument): OpenApiWebhookEvent[] {
  return Object.entries(webhooks).map(([name, { post }]) => {
    const fixed = post.requestBody.content["application/json"].schema.allOf?.at(-1) ?? {};
    const { $ref = "" } =
      resolveOpenApiSchema(fixed, schemas).properties?.["data"]?.properties?.["object"] ?? {};
    return {
      name,
      description: post.description,
      stability: post["x-stability"],
      object: getReferencedSchemaName($ref),
    };
  });
}
