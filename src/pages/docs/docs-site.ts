/** Builds the pages of the documentation. Each page is built on its first request and then cached. */
import { createHash } from "node:crypto";
import { getPageScriptAndStylePaths, getBasePathOfPublicUrl } from "#pages/shared/assets.ts";
import { compressBodyInAllEncodings, type ResponseBodyInAllEncodings } from "#pages/shared/compressed.ts";
import { html } from "#pages/shared/html.ts";
import { isLoopbackUrl } from "#pages/shared/loopback.ts";
import type { PartialDemoJsonFileContent } from "#demo/demo-file.ts";
import {
  type OpenApiDocument,
  type OpenApiDocumentOperation,
  listOpenApiOperations,
} from "./api-document.ts";
import {
  createRequestExampleProvider,
  type RequestExampleProvider,
  createStoredExampleAnswerLookup,
  shortenExampleAnswer,
  type StoredExampleAnswerLookup,
} from "./examples.ts";
import { renderErrorsPageContent } from "./errors-page.ts";
import { renderEventTypePageContent, type WebhookEventExampleLister } from "./event-page.ts";
import { renderEventListPageContent, listOpenApiWebhookEvents } from "./events-page.ts";
import { type DocsPage, type DocsPageLayoutOptions, renderDocsPage } from "./frame.ts";
import {
  renderChangelogPageContent,
  type DocsGuide,
  renderGuidePageContent,
  readDocsGuides,
} from "./guides.ts";
import { listDocsSearchEntries } from "./search-entries.ts";
import { renderDocsIndexPageContent } from "./index-page.ts";
import { renderOperationPageContent } from "./operation-page.ts";
import { getOperationTitle } from "./operation-titles.ts";
import { createExampleHttpRequest } from "./code/example-request.ts";

/**
 * Sends a GET request to this service with an API key of the demo, and returns the parsed answer. `path` is
 * relative to the service's base path. Returns undefined if the status is not 200; the page then shows a
 * stored answer.
 */
export type DemoApiAnswerFetcher = (path: string, key: string | undefined) => Promise<unknown>;

export interface DocsServices {
  readonly document: OpenApiDocument;
  readonly publicUrl: string;
  /** Reads demo.json, which has the ids and keys of the demo data; undefined if the service has no demo. */
  readonly readDemo: () => PartialDemoJsonFileContent | undefined;
  readonly ask: DemoApiAnswerFetcher;
  readonly listEventExamples: WebhookEventExampleLister;
}

export interface CachedDocsPage {
  readonly etag: string;
  readonly body: ResponseBodyInAllEncodings;
}

export interface DocsSite {
  readonly asset: DocsPageLayoutOptions["asset"];
  /** Returns the documentation page at a path below /docs; undefined if there is no page at this path. */
  page(path: string): Promise<CachedDocsPage> | undefined;
  notFound(): string;
  /** Returns all entries of the documentation's search as JSON. */
  searchIndex(): Promise<CachedDocsPage>;
}

const cache = async (plain: Buffer): Promise<CachedDocsPage> => ({
  etag: `W/"${createHash("sha256").update(plain).digest("base64url")}"`,
  body: await compressBodyInAllEncodings(plain),
});

export function createDocsSite(services: DocsServices): DocsSite {
  const { document, publicUrl } = services;
  const operations = listOpenApiOperations(document);
  const guides = readDocsGuides();
  const asset = getPageScriptAndStylePaths("docs", publicUrl);
  const demo = services.readDemo();
  const frame: DocsPageLayoutOptions = {
    publicUrl,
    version: document.info.version,
    operations,
    guides,
    asset,
  };
  const examples = createRequestExampleProvider(demo);
  const stored = createStoredExampleAnswerLookup({ examples, publicUrl });
  const site = {
    ...services,
    operations,
    guides,
    demo,
    examples,
    stored,
    home: `${getBasePathOfPublicUrl(publicUrl)}/docs`,
    hasDemoKey: demo !== undefined && isLoopbackUrl(publicUrl),
  };
  const makers = new Map<string, Maker>(pagesOf(site));
  const kept = new Map<string, Promise<CachedDocsPage>>();
  const make = async (path: string, maker: Maker): Promise<CachedDocsPage> => {
    const { isPassing = false, ...made } = await maker();
    if (isPassing) kept.delete(path);
    return cache(Buffer.from(renderDocsPage(frame, made)));
  };
  let search: Promise<CachedDocsPage> | undefined;
  return {
    asset,
    page: (path) => {
      const maker = makers.get(path);
      if (maker === undefined) return undefined;
      const found = kept.get(path);
      if (found !== undefined) return found;
      const made = make(path, maker);
      kept.set(path, made);
      // An error of building a page is not cached, because the next request may succeed. Only the reader who
      // requested the page gets the error.
      made.catch(() => kept.delete(path));
      return made;
    },
    searchIndex: () => (search ??= cache(Buffer.from(JSON.stringify(listDocsSearchEntries(site))))),
    notFound: () =>
      renderDocsPage(frame, { path: "-", title: "Not found", content: notFoundContent(site.home) }),
  };
}

interface Site extends DocsServices {
  readonly operations: readonly OpenApiDocumentOperation[];
  readonly guides: readonly DocsGuide[];
  readonly demo: PartialDemoJsonFileContent | undefined;
  readonly examples: RequestExampleProvider;
  readonly stored: StoredExampleAnswerLookup;
  readonly home: string;
  readonly hasDemoKey: boolean;
}

/**
 * A function that builds one page of the documentation. `isPassing` is true if the demo did not answer and
 * the page shows a stored answer instead. The service does not cache such a page, because the demo may answer
 * the next time.
 */
type Maker = () => Promise<DocsPage & { readonly isPassing?: boolean }>;
type Entry = [path: string, make: Maker];

const page = (path: string, title: string, content: () => DocsPage["content"]): Entry => [
  path,
  () => Promise.resolve({ path, title, content: content() }),
];

function* pagesOf(site: Site): Generator<Entry> {
  const { operations, guides, publicUrl, home } = site;
  yield page("", "Commerce Gateway API", () => renderDocsIndexPageContent(site));
  yield page("errors", "Errors", () => renderErrorsPageContent(site));
  yield page("events", "Events", () => renderEventListPageContent(site.document, site));
  yield page("changelog", "Changelog", () => renderChangelogPageContent(site));
  for (const event of listOpenApiWebhookEvents(site.document))
    yield page(`events/${event.name}`, event.name, () => renderEventTypePageContent(event, site));
  for (const guide of guides)
    yield page(`guides/${guide.name}`, guide.title, () => renderGuidePageContent(guide, { publicUrl, home }));
  for (const operation of operations) {
    const path = `operations/${operation.id}`;
    yield [
      path,
      async () => {
        const { answer, isPassing } = await answerOf(operation, site);
        return {
          path,
          title: getOperationTitle(operation.id),
          content: renderOperationPageContent(operation, { ...site, answer }),
          isPassing,
        };
      },
    ];
  }
}

interface ShownAnswer {
  readonly answer: unknown;
  readonly isPassing: boolean;
}

/**
 * Returns the example answer on an operation's page. For a GET request, the demo's answer is requested and
 * shortened. For an operation that changes data, the answer was stored at build time.
 */
async function answerOf(
  operation: OpenApiDocumentOperation,
  { examples, publicUrl, demo, ask, stored }: Site,
): Promise<ShownAnswer> {
  const isAsked = operation.method === "GET" && operation.credential !== "token" && demo !== undefined;
  if (!isAsked) return { answer: stored(operation), isPassing: false };
  const { url } = createExampleHttpRequest(operation, examples.of(operation), publicUrl);
  const demoAnswer = await ask(
    url.slice(publicUrl.length),
    operation.credential === "key" ? demo.keys.full : undefined,
  );
  return demoAnswer === undefined
    ? { answer: stored(operation), isPassing: true }
    : { answer: shortenExampleAnswer(demoAnswer), isPassing: false };
}

const notFoundContent = (home: string): DocsPage["content"] =>
  html`<h1>There is no such page</h1>
    <p>
      The address may be misspelt, or the page may have been removed. <a href="${home}">Start here</a>, or
      choose from the contents.
    </p>`;
