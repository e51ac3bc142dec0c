/** The layout that all documentation pages share: the header with the search, and the table of contents. */
import { type PageScriptAndStylePaths, getBasePathOfPublicUrl } from "#pages/shared/assets.ts";
import { logo } from "#pages/shared/brand.ts";
import { html, type PreEscapedHtml } from "#pages/shared/html.ts";
import { renderHtmlPage } from "#pages/shared/page.ts";
import type { OpenApiDocumentOperation } from "./api-document.ts";
import { getOperationTitle } from "./operation-titles.ts";

export interface DocsGuideLink {
  readonly name: string;
  readonly title: string;
}

export interface DocsPageLayoutOptions {
  readonly publicUrl: string;
  readonly version: string;
  readonly operations: readonly OpenApiDocumentOperation[];
  readonly guides: readonly DocsGuideLink[];
  readonly asset: PageScriptAndStylePaths;
}

export interface DocsPage {
  /** The path of a documentation page below /docs; empty for the start page. */
  readonly path: string;
  readonly title: string;
  readonly content: PreEscapedHtml;
}

const site = "Commerce Gateway API";

export function renderDocsPage(frame: DocsPageLayoutOptions, { path, title, content }: DocsPage): string {
  const home = `${getBasePathOfPublicUrl(frame.publicUrl)}/docs`;
  const body = html`<a class="skip" href="#content">Skip to the content</a>
    <header class="band">
      <a class="product" href="${home}">${logo}<span>${site}</span></a>
      <span class="soft version">${frame.version}</span>
      <span id="search-place" data-index="${home}/search.json"></span>
      <a class="to-contents" href="#contents">Contents</a>
      <a class="beside" href="${getBasePathOfPublicUrl(frame.publicUrl)}/console">Console</a>
      <a class="beside" href="${getBasePathOfPublicUrl(frame.publicUrl)}/graphql">GraphiQL</a>
    </header>
    <div class="layout">
      <main id="content" tabindex="-1">${content}</main>
      <nav id="contents" aria-label="Documentation" tabindex="-1">${navigation(frame, { home, path })}</nav>
    </div>`;
  return renderHtmlPage({
    title: path === "" ? title : `${title} · ${site}`,
    body,
    isWide: true,
    asset: frame.asset,
  });
}

function navigation(
  { operations, guides }: DocsPageLayoutOptions,
  { home, path }: { readonly home: string; readonly path: string },
): PreEscapedHtml {
  const link = (to: string, text: PreEscapedHtml | string): PreEscapedHtml => {
    const href = to === "" ? home : `${home}/${to}`;
    return to === path
      ? html`<li><a href="${href}" aria-current="page">${text}</a></li>`
      : html`<li><a href="${href}">${text}</a></li>`;
  };
  const groups = [...Map.groupBy(operations, ({ tag }) => tag)];
  return html`<section>
      <h2>Guides</h2>
      <ul>
        ${link("", "Start here")} ${guides.map(({ name, title }) => link(`guides/${name}`, title))}
        ${link("errors", "Errors")} ${link("events", "Events")} ${link("changelog", "Changelog")}
      </ul>
    </section>
    ${groups.map(
      ([tag, list]) =>
        html`<section>
          <h2>${tag}</h2>
          <ul>
            ${list.map(({ id, method }) => link(`operations/${id}`, operationLabel({ id, method })))}
          </ul>
        </section>`,
    )}`;
}

const operationLabel = ({ id, method }: Pick<OpenApiDocumentOperation, "id" | "method">): PreEscapedHtml =>
  html`<span class="method ${method.toLowerCase()}">${method}</span>
    <span class="operation">${getOperationTitle(id)}</span>`;

export const renderHttpMethodBadge = (method: string): PreEscapedHtml =>
  html`<span class="method ${method.toLowerCase()}">${method}</span>`;

/**
 * Renders badges for the state of an operation or event: "candidate" if it may still change, and "deprecated"
 * if it will be removed.
 */
export const renderStabilityBadges = ({
  stability,
  isDeprecated = false,
}: Pick<OpenApiDocumentOperation, "stability"> & { readonly isDeprecated?: boolean }): PreEscapedHtml =>
  html`${stability === "candidate" ? html`<span class="badge">candidate</span>` : undefined}
  ${isDeprecated ? html`<span class="badge warn">deprecated</span>` : undefined}`;

/** Allows line breaks between the words of a long operation name. */
export const addWordBreaksToOperationName = (id: string): PreEscapedHtml =>
  html`${id.split(/(?=[A-Z][a-z])/).map((word, index) => (index === 0 ? html`${word}` : html`<wbr />${word}`))}`;
