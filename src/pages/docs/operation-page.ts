/**
 * The page of one operation: its purpose, required credential, parameters, body, response and errors, and an
 * example request that readers can run unchanged.
 */
import { type FailureCode, failureKinds } from "#foundation/failure.ts";
import { html, type PreEscapedHtml } from "#pages/shared/html.ts";
import type { OpenApiDocument, OpenApiDocumentOperation, OpenApiDocumentRateLimit } from "./api-document.ts";
import type { RequestExampleProvider } from "./examples.ts";
import { addWordBreaksToOperationName, renderStabilityBadges, renderHttpMethodBadge } from "./frame.ts";
import { renderCodeBlock } from "./code/code-block.ts";
import { createCodeSamples, renderCodeSamples } from "./code/code-samples.ts";
import { renderCredentialInstructions } from "./code/credential-instructions.ts";
import { renderInlineMarkdown } from "./markdown.ts";
import { getOperationTitle } from "./operation-titles.ts";
import { OpenApiSchemaRenderer } from "./schema-view.ts";
import { renderTryOperationForm } from "./try-form.ts";

interface OperationPage {
  readonly document: OpenApiDocument;
  readonly examples: RequestExampleProvider;
  readonly publicUrl: string;
  /** The URL path of the documentation's start page. */
  readonly home: string;
  /** The example answer of an operation, as parsed JSON. */
  readonly answer: unknown;
  /** True if the page may read the API key of the demo from `/docs/demo-key`. */
  readonly hasDemoKey: boolean;
}

export function renderOperationPageContent(
  operation: OpenApiDocumentOperation,
  page: OperationPage,
): PreEscapedHtml {
  const { document, home } = page;
  const view = new OpenApiSchemaRenderer(document.components.schemas, [
    ...(operation.body === null ? [] : [operation.body]),
    operation.answer,
  ]);
  const [lead = "", ...more] = operation.description.split(/(?<=\.)\s/);
  return html`<article class="reference">
    <div class="opening">
      <p class="crumb">${operation.tag}</p>
      <h1>${getOperationTitle(operation.id)} ${renderStabilityBadges(operation)}</h1>
      <p class="address">${renderHttpMethodBadge(operation.method)} <code>${operation.path}</code></p>
      <p class="soft">Operation <code>${addWordBreaksToOperationName(operation.id)}</code></p>
      <p class="lead">${renderInlineMarkdown(lead)}</p>
      ${more.length === 0 ? undefined : html`<p>${renderInlineMarkdown(more.join(" "))}</p>`}
      ${factsOf(operation, home)}
    </div>
    <div class="beside">${exampleOf(operation, page)}</div>
    <div class="details">
      ${
        operation.parameters.length === 0
          ? undefined
          : html`<h2 id="parameters">Parameters</h2>
              <ul class="fields">
                ${operation.parameters.map(({ name, in: place, required, schema, description = "" }) =>
                  view.field(
                    {
                      name,
                      schema: { ...schema, description: `In the ${places[place]}. ${description}` },
                      isRequired: required,
                    },
                    "taken",
                  ),
                )}
              </ul>`
      }
      ${
        operation.body === null
          ? undefined
          : html`<h2 id="body">Body</h2>
              ${view.fields(operation.body, "taken")}`
      }
      <h2 id="answer">Response</h2>
      <p>Status 200 with JSON in UTF-8. Every field is always present; a field without a value is null.</p>
      ${view.fields(operation.answer, "given")}
      <h3 id="headers">Headers</h3>
      <ul class="fields">
        ${operation.headers.map(
          ({ name, description }) =>
            html`<li>
              <p class="name"><code>${name}</code></p>
              <p>${renderInlineMarkdown(description)}</p>
            </li>`,
        )}
      </ul>
      ${errorsOf(operation, home)} ${typesOf(view)}
    </div>
  </article>`;
}

const places = { path: "path", query: "query string", header: "headers" } as const;

function factsOf(operation: OpenApiDocumentOperation, home: string): PreEscapedHtml {
  const { credential, scope, isIdempotent, stability, limits } = operation;
  const credentials = {
    none: html`None. A valid key that is sent anyway counts against its own limits.`,
    key: html`An <a href="${home}/guides/authentication">API key</a> or an
      <a href="${home}/guides/oauth">OAuth token</a>.`,
    token: html`An <a href="${home}/guides/oauth">OAuth token</a> with a DPoP proof; an API key is refused.`,
  }[credential];
  return html`<dl class="facts">
    <div>
      <dt>Credential</dt>
      <dd>${credentials}</dd>
    </div>
    <div>
      <dt>Scope</dt>
      <dd>
        ${scope === null ? html`None.` : html`<a href="${home}/guides/authentication#scopes"><code>${scope}</code></a>`}
      </dd>
    </div>
    <div>
      <dt>Idempotency</dt>
      <dd>
        ${
          isIdempotent
            ? html`Needs an <a href="${home}/guides/idempotency"><code>Idempotency-Key</code></a
                >.`
            : html`A read: repeat it as you like.`
        }
      </dd>
    </div>
    <div>
      <dt>Limits</dt>
      <dd>${limits.map((limit) => html`<span class="limit">${limitText(limit)}</span> `)}</dd>
    </div>
    <div>
      <dt>Stability</dt>
      <dd>
        <a href="${home}/guides/versioning">${stability}</a
        >${stability === "candidate" ? ": may change, announced 30 days ahead." : ": changes only by additions."}
      </dd>
    </div>
  </dl>`;
}

const limitText = ({ bucket, quota, windowSeconds, counts, per }: OpenApiDocumentRateLimit): PreEscapedHtml =>
  html`${quota} ${counts} in ${durationOf(windowSeconds)} for each ${per} (<code>${bucket}</code>).`;

const durationOf = (seconds: number): string =>
  seconds > 60 && seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;

function exampleOf(operation: OpenApiDocumentOperation, page: OperationPage): PreEscapedHtml {
  const { examples, publicUrl, home, answer } = page;
  const example = examples.of(operation);
  return html`<section class="example">
    <h2 id="example">Example</h2>
    ${
      operation.credential === "none"
        ? undefined
        : renderCredentialInstructions(operation.credential, { isDemo: examples.isDemo, home })
    }
    ${renderCodeSamples(createCodeSamples(operation, example, publicUrl))}
    <h3 id="example-answer">Example response</h3>
    ${renderCodeBlock(JSON.stringify(answer, null, 2), "Example response")}
    ${renderTryOperationForm(operation, { example, publicUrl, hasDemoKey: page.hasDemoKey })}
  </section>`;
}

function errorsOf({ errorCodes }: OpenApiDocumentOperation, home: string): PreEscapedHtml {
  const byStatus = Map.groupBy(errorCodes as readonly FailureCode[], (code) => failureKinds[code].status);
  return html`<h2 id="errors">Errors</h2>
    <table class="errors">
      <thead>
        <tr>
          <th scope="col">Status</th>
          <th scope="col">Codes</th>
        </tr>
      </thead>
      <tbody>
        ${[...byStatus].map(
          ([status, codes]) =>
            html`<tr>
              <th scope="row">${status}</th>
              <td>
                ${codes.map((code) => html`<a href="${home}/errors#${code}"><code>${code}</code></a> `)}
              </td>
            </tr>`,
        )}
      </tbody>
    </table>
    <p class="soft">
      Any request may also be answered with 405, 408, 431 or, if the service fails, 5xx: see
      <a href="${home}/errors">all errors</a>.
    </p>`;
}

function typesOf(view: OpenApiSchemaRenderer): PreEscapedHtml | undefined {
  const types = view.sharedTypes();
  return types.length === 0
    ? undefined
    : html`<h2 id="types">Types</h2>
        ${types}`;
}
