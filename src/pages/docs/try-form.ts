/**
 * Renders the form with which the reader tries an operation. The form is inside an HTML `template` element,
 * because it works only with the page's script, which shows it.
 */
import { getBasePathOfPublicUrl } from "#pages/shared/assets.ts";
import { html, type PreEscapedHtml } from "#pages/shared/html.ts";
import type { OpenApiDocumentOperation, OpenApiDocumentParameter } from "./api-document.ts";
import type { RequestExampleValues } from "./examples.ts";

interface TryFormContext {
  readonly example: RequestExampleValues;
  readonly publicUrl: string;
  /** True if the form has a button that fills in the demo's API key. */
  readonly hasDemoKey: boolean;
}

export function renderTryOperationForm(
  operation: OpenApiDocumentOperation,
  { example, publicUrl, hasDemoKey }: TryFormContext,
): PreEscapedHtml | undefined {
  const { credential, method, path, isIdempotent, parameters } = operation;
  // An operation with DPoP proofs has no form, because the page would have to store a private key and sign
  // each request with it.
  if (credential === "token") return undefined;
  const { body, codeBefore, versionOf } = example;
  const base = getBasePathOfPublicUrl(publicUrl);
  return html`<template id="try-template">
    <section class="try" aria-labelledby="try-title">
      <h3 id="try-title">Try it</h3>
      <form
        data-method="${method}"
        data-path="${base}${path}"
        data-idempotent="${String(isIdempotent)}"
        data-credential="${credential}"
        ${versionOf === null ? undefined : html` data-version-path="${base}${cartPath}"`}
        ${codeBefore === null ? undefined : html` data-before="${JSON.stringify({ code: codeBefore })}"`}
      >
        ${credential === "none" ? undefined : keyField(hasDemoKey ? `${base}/docs/demo-key` : undefined)}
        ${parameters.filter(({ in: place }) => place !== "header").map((parameter) => fieldOf(parameter, example))}
        ${body === null ? undefined : bodyField(body)} ${isIdempotent ? changeNote : undefined}
        ${versionOf === null ? undefined : versionNote(codeBefore !== null)}
        <button>Send</button>
      </form>
      <div class="result" role="status"></div>
    </section>
  </template>`;
}

const cartPath = "/api/v1/open/storefront/carts/{cartId}";

const changeNote = html`<p class="note">
  This request really changes data. Each request has a new Idempotency-Key.
</p>`;

const versionNote = (isCodeApplied: boolean): PreEscapedHtml =>
  html`<p class="note">
    ${isCodeApplied ? "A code is applied to the cart first, so that the request can remove it. " : ""}The
    cart's version is read first and sent as <code>expectedVersion</code>, unless the body has one.
  </p>`;

const keyField = (demoKeyUrl: string | undefined): PreEscapedHtml =>
  html`<p class="field">
    <label for="try-key">API key</label>
    <input
      id="try-key"
      name="key"
      type="password"
      autocomplete="off"
      spellcheck="false"
      aria-describedby="try-key-help"
      required
    />
    <span id="try-key-help" class="soft"
      >The key is stored in this tab until the tab is closed, and is sent to this service only.</span
    >
    ${
      demoKeyUrl === undefined
        ? undefined
        : html`<button type="button" class="second" id="demo-key" data-url="${demoKeyUrl}">
            Use the demo's key
          </button>`
    }
  </p>`;

function fieldOf(
  { name, in: place, required, schema }: OpenApiDocumentParameter,
  { parameters }: RequestExampleValues,
): PreEscapedHtml {
  const id = `try-${name}`;
  const label = html`<label for="${id}"
    ><code>${name}</code>${required ? undefined : html` <span class="soft">optional</span>`}</label
  >`;
  const value = parameters[name] ?? "";
  if (schema.enum !== undefined)
    return html`<p class="field">
      ${label}<select id="${id}" name="${name}" data-in="${place}">
        ${(schema.enum as readonly string[]).map((choice) =>
          choice === value ? html`<option selected>${choice}</option>` : html`<option>${choice}</option>`,
        )}
      </select>
    </p>`;
  // Only path parameters are required, because an empty one would change the path. A required query parameter
  // may be sent empty, so that the reader can see the error.
  const isNeeded = required && place === "path";
  return html`<p class="field">
    ${label}<input
      id="${id}"
      name="${name}"
      data-in="${place}"
      data-required="${String(required)}"
      value="${value}"
      autocomplete="off"
      spellcheck="false"
      ${isNeeded ? html` required` : undefined}
    />
  </p>`;
}

const bodyField = (body: object): PreEscapedHtml =>
  html`<p class="field">
    <label for="try-body">Body</label
    ><textarea id="try-body" name="body" rows="8" spellcheck="false" autocomplete="off">
${JSON.stringify(body, null, 2)}</textarea>
  </p>`;
