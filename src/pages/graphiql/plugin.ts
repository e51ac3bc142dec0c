/**
 * Serves GraphiQL (an editor for GraphQL queries) and the type map (a picture of the schema). Both load files
 * only from this service. The build extracts the large files from GraphiQL's npm package
 * (component-plugin.ts). Browsers cache them, because their names contain a hash. The pages' own scripts are
 * in src/pages/graphiql/browser.
 */
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from "fastify";
import { readDemoJsonFile } from "#demo/demo-file.ts";
import { createFailure } from "#foundation/failure.ts";
import { isLoopbackRequest } from "#pages/shared/loopback.ts";
import { getAssetFileUrl, getPageScriptAndStylePaths, getBasePathOfPublicUrl } from "#pages/shared/assets.ts";
import { faviconUrl, logo, productName } from "#pages/shared/brand.ts";
import {
  compressBodyInAllEncodings,
  type ResponseBodyInAllEncodings,
  sendCompressedBody,
} from "#pages/shared/compressed.ts";
import { html, PreEscapedHtml } from "#pages/shared/html.ts";
import { getPageHttpHeaders, renderHtmlPage } from "#pages/shared/page.ts";
import type { GraphiqlComponentFileName } from "./component-plugin.ts";
import { exampleGroups, initialExamples } from "./examples.ts";

/**
 * GraphiQL's Content-Security-Policy, as strict as the editor allows. The editor (Monaco) writes `style`
 * attributes and <style> elements without a nonce, and its style sheet draws error marks as `data:` pictures.
 * Scripts, workers and requests are limited to this service.
 */
export const graphiqlPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "connect-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self'",
  "img-src data:",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");

/**
 * The error message for GET requests without a trusted document. It also says that GET requests cannot start
 * subscriptions. A client that starts subscriptions with GET, such as EventSource, would have to put the
 * token into the URL.
 */
const postOnlyMessage =
  "This address accepts only POST, and GET with `documentId` for trusted queries. Subscriptions need POST " +
  "too, with `Accept: text/event-stream`.";

interface GraphiqlOptions {
  readonly publicUrl: string;
  readonly settings: { readonly demo: boolean; readonly dataDir: string };
}

type DemoTokens = Readonly<Record<string, string>>;

/** Serves GraphiQL at `/graphql` for requests that accept HTML, and the type map at `/graphql/map`. */
export const graphiqlPlugin: FastifyPluginAsync<GraphiqlOptions> = async (server, options) => {
  const { publicUrl } = options;
  mountTypeMap(server, options);
  let page: Promise<ResponseBodyInAllEncodings> | undefined;
  server.get("/graphql", async (request, reply) => {
    if (!(request.headers.accept ?? "").includes("text/html"))
      throw createFailure("method_not_allowed", { message: postOnlyMessage, headers: { allow: "POST" } });
    const demoTokens = readDemoTokens(request, options);
    void reply.headers({
      "content-security-policy": graphiqlPolicy,
      "cache-control": demoTokens === undefined ? "no-cache" : "no-store",
      vary: "Accept, Accept-Encoding",
      "x-frame-options": "DENY",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
    });
    const compress = (): Promise<ResponseBodyInAllEncodings> =>
      compressBodyInAllEncodings(Buffer.from(renderGraphiql(publicUrl, demoTokens)));
    const body = demoTokens === undefined ? (page ??= compress()) : compress();
    return sendCompressedBody(request, reply.type("text/html; charset=utf-8"), await body);
  });
};

/**
 * Returns the tokens of the demo if the page may offer them, otherwise undefined. The service must run at a
 * loopback address, which only the developer can reach, and the request's Host header must contain this
 * address. A page of another site that uses DNS rebinding sends its own host name, so it cannot read the
 * tokens.
 */
function readDemoTokens(
  { headers }: FastifyRequest,
  { publicUrl, settings }: GraphiqlOptions,
): DemoTokens | undefined {
  const isOpen = settings.demo && isLoopbackRequest(publicUrl, headers);
  return isOpen ? readDemoJsonFile(settings.dataDir)?.tokens : undefined;
}

function renderGraphiql(publicUrl: string, demoTokens: DemoTokens | undefined): string {
  const { scripts, styles } = getPageScriptAndStylePaths("graphiql", publicUrl);
  const base = getBasePathOfPublicUrl(publicUrl);
  const addressOf = (file: GraphiqlComponentFileName): string => getAssetFileUrl(file, publicUrl);
  const data = {
    ...tokenPageData(base, demoTokens),
    component: addressOf("graphiql-component.js"),
    workers: {
      editorWorkerService: addressOf("graphiql-worker-editor.js"),
      json: addressOf("graphiql-worker-json.js"),
      graphql: addressOf("graphiql-worker-graphql.js"),
    },
    errorGuide: addressOf("graphiql-error-guide.js"),
    map: `${base}/graphql/map`,
    groups: exampleGroups,
    opened: initialExamples,
  };
  return `<!doctype html>${
    html`<html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>GraphiQL – ${productName}</title>
        <link rel="icon" href="${faviconUrl}" />
        <link rel="modulepreload" href="${data.component}" />
        ${styles.map((href) => html`<link rel="stylesheet" href="${href}" />`)}
        ${scripts.map((src) => html`<script type="module" src="${src}"></script>`)}
      </head>
      <body>
        ${pageBand(base, "GraphiQL")}
        ${
          // GraphiQL's large style sheet is loaded after the bar at the top of the page, so that browsers
          // show the bar first.
          html`<link rel="stylesheet" href="${addressOf("graphiql-component.css")}" />`
        }
        <div id="panes"></div>
        <main id="editor" aria-label="GraphiQL">
          <p class="waiting">GraphiQL is loading. It needs JavaScript.</p>
        </main>
        <footer id="foot"></footer>
        ${dataBlock(data)}
      </body>
    </html>`.text
  }`;
}

/**
 * Serves the HTML page of the type map at /graphql/map. The page's script draws the schema when the reader
 * has entered a token that may read the schema.
 */
function mountTypeMap(server: FastifyInstance, options: GraphiqlOptions): void {
  const { publicUrl } = options;
  server.get("/graphql/map", (request, reply) => {
    const asset = getPageScriptAndStylePaths("type-map", publicUrl);
    const base = getBasePathOfPublicUrl(publicUrl);
    const body = html`${pageBand(base, "Type map")}
      <main id="app">
        <p>
          The type map needs JavaScript. Without it, use GraphiQL’s documentation or
          <a href="${base}/openapi.json">the REST document</a>, which describe the same API.
        </p>
      </main>
      ${dataBlock(tokenPageData(base, readDemoTokens(request, options)))}`;
    return reply
      .headers(getPageHttpHeaders({ asset }))
      .send(renderHtmlPage({ title: `Type map – ${productName}`, body, isWide: true, asset }));
  });
}

/** The data of the token dialog, for the pages of GraphiQL and of the type map. */
const tokenPageData = (base: string, demoTokens: DemoTokens | undefined): object => ({
  endpoint: `${base}/graphql`,
  docs: `${base}/docs`,
  console: `${base}/console`,
  ...(demoTokens === undefined ? {} : { demoTokens }),
});

const bandLinks = [
  { path: "/graphql", name: "GraphiQL" },
  { path: "/graphql/map", name: "Type map" },
  { path: "/docs", name: "Documentation" },
] as const;

/**
 * Renders the bar at the top of GraphiQL and of the type map. The page's script adds its buttons to the
 * element `tools`.
 */
const pageBand = (base: string, current: (typeof bandLinks)[number]["name"]): PreEscapedHtml =>
  html`<header class="band">
    <a class="product" href="${base}/">${logo}<span>${productName}</span></a>
    <h1 class="hidden">${current}</h1>
    <div id="tools"></div>
    <nav aria-label="Pages">
      ${bandLinks.map(({ path, name }) =>
        name === current
          ? html`<a href="${base}${path}" aria-current="page">${name}</a> `
          : html`<a href="${base}${path}">${name}</a> `,
      )}
    </nav>
  </header>`;

/**
 * Renders an HTML element that contains data for the page's script. The data is JSON, which browsers do not
 * execute. The character `<` is escaped, so that no text in the data can end the element.
 */
function dataBlock(data: object): PreEscapedHtml {
  const json = JSON.stringify(data).replaceAll("<", String.raw`\u003c`);
  return new PreEscapedHtml(`<script type="application/json" id="page-data">${json}</script>`);
}
