/**
 * The start page of the documentation: what the API is, a first request that readers can run unchanged, and a
 * list of all operations.
 */
import { html, type PreEscapedHtml } from "#pages/shared/html.ts";
import type { OpenApiDocument, OpenApiDocumentOperation } from "./api-document.ts";
import type { RequestExampleProvider } from "./examples.ts";
import { renderStabilityBadges, type DocsGuideLink, renderHttpMethodBadge } from "./frame.ts";
import { renderCodeBlock } from "./code/code-block.ts";
import { renderCredentialInstructions } from "./code/credential-instructions.ts";
import { renderInlineMarkdown } from "./markdown.ts";
import { getOperationTitle } from "./operation-titles.ts";

interface IndexPage {
  readonly document: OpenApiDocument;
  readonly operations: readonly OpenApiDocumentOperation[];
  readonly guides: readonly (DocsGuideLink & { readonly summary: string })[];
  readonly examples: RequestExampleProvider;
  readonly publicUrl: string;
  readonly home: string;
}

export function renderDocsIndexPageContent({
  document,
  operations,
  guides,
  examples,
  publicUrl,
  home,
}: IndexPage): PreEscapedHtml {
  return html`<h1>Commerce Gateway API</h1>
    <p class="lead">
      A commerce platform over REST: catalog and search, carts and their promotions, hosted checkouts, orders
      and webhooks.
    </p>
    <dl class="facts">
      <div>
        <dt>Base address</dt>
        <dd><code>${publicUrl}</code></dd>
      </div>
      <div>
        <dt>Version</dt>
        <dd><code>v1</code>, in every path; the document is ${document.info.version}</dd>
      </div>
      <div>
        <dt>OpenAPI</dt>
        <dd><a href="${home.replace(/docs$/, "")}openapi.json">openapi.json</a> (3.1)</dd>
      </div>
    </dl>
    <h2 id="first">A first request</h2>
    <p>Search and product pages need no credential. This request finds tents that are sold to Germany:</p>
    ${renderCodeBlock(
      `curl '${publicUrl}/api/v1/search?q=tent&locale=en&market=DE&sort=relevance&page=1&pageSize=2'`,
      "curl",
    )}
    <p>
      All other requests need an API key or an OAuth token;
      <a href="${home}/guides/authentication">Authentication</a>
      explains both.
    </p>
    ${renderCredentialInstructions("key", { isDemo: examples.isDemo, home })}
    <p>Then send the key with a request. This request returns the key's merchant and scopes:</p>
    ${renderCodeBlock(`curl '${publicUrl}/api/v1/open/identity' \\\n  -H "Authorization: Bearer $KEY"`, "curl")}
    <h2 id="answers">Answers</h2>
    <p>${renderInlineMarkdown(document.info.description)}</p>
    <h2 id="guides">Guides</h2>
    <ul class="cards">
      ${guides.map(
        ({ name, title, summary }) =>
          html`<li>
            <a href="${home}/guides/${name}">${title}</a>
            <p>${renderInlineMarkdown(summary)}</p>
          </li>`,
      )}
      <li>
        <a href="${home}/errors">Errors</a>
        <p>What each code means, when it happens and what to do about it.</p>
      </li>
      <li>
        <a href="${home}/events">Events</a>
        <p>The events that webhook endpoints can receive, and the fields of their body.</p>
      </li>
    </ul>
    <h2 id="operations">Operations</h2>
    ${operationGroups(document, operations, home)}`;
}

const operationGroups = (
  document: OpenApiDocument,
  operations: readonly OpenApiDocumentOperation[],
  home: string,
): readonly PreEscapedHtml[] =>
  [...Map.groupBy(operations, ({ tag }) => tag)].map(([tag, list]) => {
    const description = document.tags.find(({ name }) => name === tag)?.description ?? "";
    return html`<section class="operations">
      <h3>${tag}</h3>
      <p class="soft">${description}</p>
      <ul class="list">
        ${list.map((operation) => itemOf(operation, home))}
      </ul>
    </section>`;
  });

const itemOf = (operation: OpenApiDocumentOperation, home: string): PreEscapedHtml =>
  html`<li>
    ${renderHttpMethodBadge(operation.method)}
    <div>
      <a href="${home}/operations/${operation.id}">${getOperationTitle(operation.id)}</a>
      ${renderStabilityBadges(operation)}
      <p><code>${operation.path}</code></p>
      <p class="soft">${renderInlineMarkdown(operation.summary)}</p>
    </div>
  </li>`;
