/**
 * The page of error codes: what each code means, when it occurs and what to do. The field `docUrl` of an
 * error answer is the URL of the error's entry on this page.
 */
import { readFileSync } from "node:fs";
import { type FailureCode, type FailureDefinition, failureKinds } from "#foundation/failure.ts";
import { html, type PreEscapedHtml } from "#pages/shared/html.ts";
import type { OpenApiDocumentOperation } from "./api-document.ts";
import { renderCodeBlock } from "./code/code-block.ts";
import { getHeadingAnchor, renderInlineMarkdown } from "./markdown.ts";

const shape = `{
  "error": {
    "code": "cart_version_conflict",
    "message": "The cart has another version than expected.",
    "requestId": "req_01jgfj2v00fxtr0000000000r1",
    "retryable": false,
    "retryAfterSeconds": null,
    "details": [],
    "conflict": {
      "resource": "cart",
      "id": "cart_01jgfj2v00fxtr0000000000c1",
      "currentStatus": "active",
      "currentVersion": 8,
      "reason": null,
      "data": {}
    },
    "docUrl": "BASE/docs/errors#cart_version_conflict"
  }
}`;

interface ErrorsPage {
  readonly operations: readonly OpenApiDocumentOperation[];
  readonly publicUrl: string;
  readonly home: string;
}

export function renderErrorsPageContent({ operations, publicUrl, home }: ErrorsPage): PreEscapedHtml {
  const groups = readErrorGuide();
  return html`<h1>Errors</h1>
    <p class="lead">
      Every error has the same form and a code of this list. Codes are stable, for use in programs; messages
      are for people and may change.
    </p>
    ${renderCodeBlock(shape.replace("BASE", publicUrl), "An error")}
    <p>
      <a href="${home}/guides/errors-and-retries">How to handle errors</a>: which requests you may repeat,
      when, and how to avoid doing a change twice.
    </p>
    <dl class="codes">
      ${groups.map(
        ({ title, entries }) =>
          html`<div>
            <dt><a href="#${getHeadingAnchor(title)}">${title}</a></dt>
            <dd>${entries.map(({ code }) => html`<a href="#${code}"><code>${code}</code></a> `)}</dd>
          </div>`,
      )}
    </dl>
    ${groups.map(
      ({ title, entries }) =>
        html`<h2 id="${getHeadingAnchor(title)}">${title}</h2>
          ${entries.map((entry) =>
            entryOf(entry, {
              home,
              users: operations.filter(({ errorCodes }) => errorCodes.includes(entry.code)),
            }),
          )}`,
    )}`;
}

function entryOf(
  { code, why, remedy }: ErrorEntry,
  { home, users }: { readonly home: string; readonly users: readonly OpenApiDocumentOperation[] },
): PreEscapedHtml {
  const { status, text, retryable }: FailureDefinition = failureKinds[code];
  return html`<section class="error" id="${code}" tabindex="-1">
    <h3>
      <a class="anchor" href="#${code}"><code>${code}</code></a>
    </h3>
    <p class="meta">
      <span class="badge">${status}</span>
      <span class="badge ${retryable === true ? "again" : "final"}"
        >${retryable === true ? "retryable" : "not retryable"}</span
      >
      <span>${text}</span>
    </p>
    <p><strong>Why.</strong> ${renderInlineMarkdown(why)}</p>
    <p><strong>What to do.</strong> ${renderInlineMarkdown(remedy)}</p>
    ${
      users.length === 0 || users.length > 8
        ? undefined
        : html`<p class="soft">
            Returned by
            ${users.map(({ id }) => html`<a href="${home}/operations/${id}"><code>${id}</code></a> `)}
          </p>`
    }
  </section>`;
}

/**
 * The entry of an error code in docs/errors.md: why the error occurs and how to fix it. The file has exactly
 * one entry for each error code of the API.
 */
interface ErrorEntry {
  readonly code: FailureCode;
  readonly why: string;
  readonly remedy: string;
}

interface ErrorGroup {
  readonly title: string;
  readonly entries: readonly ErrorEntry[];
}

const file = new URL("../../../docs/errors.md", import.meta.url);

export function readErrorGuide(text = readFileSync(file, "utf8")): ErrorGroup[] {
  const groups = text
    .split(/^## /m)
    .slice(1)
    .map((group) => {
      const [head = "", ...entries] = group.split(/^### /m);
      return { title: head.trim(), entries: entries.map(toEntry) };
    });
  const explained = new Set(groups.flatMap(({ entries }) => entries.map(({ code }) => code)));
  const unexplained = Object.keys(failureKinds).filter((code) => !explained.has(code as FailureCode));
  if (unexplained.length > 0) throw new Error(`docs/errors.md does not explain ${unexplained.join(", ")}.`);
  return groups;
}

function toEntry(text: string): ErrorEntry {
  const [code = "", why = "", remedy = "", ...more] = text.trim().split(/\n\s*\n/);
  if (!isCode(code))
    throw new Error(`docs/errors.md explains ${code}, which is not a registered error code.`);
  if (why === "" || remedy === "" || more.length > 0)
    throw new Error(`docs/errors.md: ${code} needs two paragraphs: why it happens, and what to do.`);
  return { code, why, remedy };
}

const isCode = (text: string): text is FailureCode => Object.hasOwn(failureKinds, text);
