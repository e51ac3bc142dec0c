/** The frame of every documentation page: the header, the contents, and templates for the script's filter. */
import { failureKinds } from "#foundation/failure.ts";
import { type PageAssets, basePathOf } from "#pages/shared/assets.ts";
import { html, type Markup } from "#pages/shared/html.ts";
import { renderPage } from "#pages/shared/page.ts";
import type { DocumentOperation } from "./api-document.ts";

export interface GuideLink {
  readonly name: string;
  readonly title: string;
}

export interface DocsFrame {
  readonly publicUrl: string;
  readonly version: string;
  readonly operations: readonly DocumentOperation[];
  readonly guides: readonly GuideLink[];
  readonly asset: PageAssets;
}

export interface DocsPage {
  /** The path below /docs; empty for the start page. */
  readonly path: string;
  readonly title: string;
  readonly content: Markup;
}

const site = "Commerce Gateway API";

export function renderDocsPage(frame: DocsFrame, { path, title, content }: DocsPage): string {
  const home = `${basePathOf(frame.publicUrl)}/docs`;
  const body = html`<a class="skip" href="#content">Skip to the content</a>
    <header class="bar">
      <a class="home" href="${home}">${site}</a> <span class="soft version">${frame.version}</span>
      <a class="to-contents" href="#contents">Contents</a>
    </header>
    <div class="layout">
      <main id="content" tabindex="-1">${content}</main>
      <nav id="contents" aria-label="Documentation" tabindex="-1">${navigation(frame, { home, path })}</nav>
    </div>`;
  return renderPage({
    title: path === "" ? title : `${title} · ${site}`,
    body,
    isWide: true,
    asset: frame.asset,
  });
}

function navigation(
  { operations, guides }: DocsFrame,
  { home, path }: { readonly home: string; readonly path: string },
): Markup {
  const link = (to: string, text: Markup | string): Markup => {
    const href = to === "" ? home : `${home}/${to}`;
    return to === path
      ? html`<li><a href="${href}" aria-current="page">${text}</a></li>`
      : html`<li><a href="${href}">${text}</a></li>`;
  };
  const groups = [...Map.groupBy(operations, ({ tag }) => tag)];
  return html`<template id="filter-template">
      <p class="field filter">
        <label for="filter">Find</label
        ><input
          id="filter"
          type="search"
          autocomplete="off"
          placeholder="cart, webhook, PUT …"
          aria-describedby="filter-count"
        />
      </p>
      <p id="filter-count" class="soft" role="status"></p>
    </template>
    <section>
      <h2>Guides</h2>
      <ul>
        ${link("", "Start here")} ${guides.map(({ name, title }) => link(`guides/${name}`, title))}
        ${link("errors", "Errors")} ${link("events", "Events")}
      </ul>
    </section>
    ${groups.map(
      ([tag, list]) =>
        html`<section>
          <h2>${tag}</h2>
          <ul>
            ${list.map(({ id, method, path: address }) =>
              link(`operations/${id}`, operationLabel({ id, method, path: address })),
            )}
          </ul>
        </section>`,
    )}
    ${codesToFind(home)}`;
}

/** The list of error codes. Only the search shows it. */
const codesToFind = (home: string): Markup =>
  html`<template id="codes-template">
    <section data-shown="found" hidden>
      <h2>Error codes</h2>
      <ul>
        ${Object.keys(failureKinds).map((code) => html`<li><a href="${home}/errors#${code}">${code}</a></li>`)}
      </ul>
    </section>
  </template>`;

const operationLabel = ({ id, method, path }: Pick<DocumentOperation, "id" | "method" | "path">): Markup =>
  html`<span class="method ${method.toLowerCase()}">${method}</span>
    <span class="operation">${withWordBreaks(id)}</span> <span class="hidden">${path}</span>`;

export const methodBadge = (method: string): Markup =>
  html`<span class="method ${method.toLowerCase()}">${method}</span>`;

export const candidateBadge = ({ stability }: Pick<DocumentOperation, "stability">): Markup | undefined =>
  stability === "candidate" ? html`<span class="badge">candidate</span>` : undefined;

/** Allows line breaks between the words of a long operation name. */
export const withWordBreaks = (id: string): Markup =>
  html`${id.split(/(?=[A-Z][a-z])/).map((word, index) => (index === 0 ? html`${word}` : html`<wbr />${word}`))}`;
