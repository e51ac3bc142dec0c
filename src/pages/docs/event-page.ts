/**
 * The page of one webhook event type: when the event occurs, the headers and fields of the webhook request,
 * and an example.
 */
import { html, type PreEscapedHtml } from "#pages/shared/html.ts";
import type { OpenApiDocument } from "./api-document.ts";
import { renderCodeBlock } from "./code/code-block.ts";
import { type OpenApiWebhookEvent, envelopeName } from "./events-page.ts";
import { renderStabilityBadges } from "./frame.ts";
import { renderInlineMarkdown } from "./markdown.ts";
import { OpenApiSchemaRenderer } from "./schema-view.ts";

/**
 * Returns the names of all webhook event types, each with an example of the request body that the service
 * sends.
 */
export type WebhookEventExampleLister = () => readonly { readonly name: string; readonly example: unknown }[];

interface EventPage {
  readonly listEventExamples: WebhookEventExampleLister;
  readonly document: OpenApiDocument;
  readonly home: string;
}

export function renderEventTypePageContent(event: OpenApiWebhookEvent, page: EventPage): PreEscapedHtml {
  const { document, home } = page;
  const { schemas, parameters } = document.components;
  const [group = ""] = event.name.split(".");
  const example = page.listEventExamples().find(({ name }) => name === event.name)?.example;
  const envelope = schemas[envelopeName] ?? {};
  const object = schemas[event.object] ?? {};
  const view = new OpenApiSchemaRenderer(schemas, [envelope, object]);
  return html`<article class="reference">
    <div class="opening">
      <p class="crumb"><a href="${home}/events">Events</a></p>
      <h1><code>${event.name}</code> ${renderStabilityBadges(event)}</h1>
      <p class="lead">${renderInlineMarkdown(event.description)}</p>
      <p>
        Endpoints get this event if they subscribe to <code>${event.name}</code>, <code>${group}.*</code> or
        <code>*</code>. The <a href="${home}/guides/webhooks">webhooks guide</a> explains retries, order and
        how to <a href="${home}/guides/webhooks#verify-the-signature">verify the signature</a>.
      </p>
    </div>
    <div class="beside">
      <h2 id="example">Example</h2>
      ${renderCodeBlock(JSON.stringify(example, null, 2), "Example body")}
    </div>
    <div class="details">
      <h2 id="object">Fields of <code>data.object</code></h2>
      <p>The ${event.object} as it was at the time of the event.</p>
      ${view.fields(object, "given")}
      <h2 id="body">Fields of the body</h2>
      ${view.fields(envelope, "given")}
      <h2 id="headers">Headers</h2>
      <ul class="fields">
        ${webhookHeaders(document, event)
          .flatMap((name) => parameters[name] ?? [])
          .map(
            ({ name, description = "" }) =>
              html`<li>
                <p class="name"><code>${name}</code></p>
                <p>${renderInlineMarkdown(description)}</p>
              </li>`,
          )}
      </ul>
      ${typesOf(view)}
    </div>
  </article>`;
}

/** Returns the names of the OpenAPI components for the headers of an event's webhook request. */
const webhookHeaders = ({ webhooks }: OpenApiDocument, { name }: OpenApiWebhookEvent): string[] =>
  (webhooks[name]?.post.parameters ?? []).flatMap(({ $ref }) => $ref.split("/").at(-1) ?? []);

function typesOf(view: OpenApiSchemaRenderer): PreEscapedHtml | undefined {
  const types = view.sharedTypes();
  return types.length === 0
    ? undefined
    : html`<h2 id="types">Types</h2>
        ${types}`;
}
