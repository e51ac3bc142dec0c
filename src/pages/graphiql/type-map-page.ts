/** The type map at /graphql/map: the frame of a page whose script draws the schema, once it has a token. */
import type { FastifyInstance } from "fastify";
import { assetOf, basePathOf } from "#pages/shared/assets.ts";
import { html, Markup } from "#pages/shared/html.ts";
import { pageHeaders, renderPage } from "#pages/shared/page.ts";

export function mountTypeMap(server: FastifyInstance, publicUrl: string): void {
  server.get("/graphql/map", (_request, reply) => {
    const asset = assetOf("type-map", publicUrl);
    const base = basePathOf(publicUrl);
    const body = html`<header class="bar">
        <h1 class="name">Commerce Gateway · Type map</h1>
        <div id="tools"></div>
        <nav aria-label="Pages">
          <a href="${base}/graphql">GraphiQL</a>
          <a href="${base}/docs">API reference</a>
        </nav>
      </header>
      <main id="app">
        <p>
          The map of the graph’s types needs JavaScript. GraphiQL’s documentation and <a href="${base}/openapi.json">the REST document</a> tell the
          same in words.
        </p>
      </main>
      ${dataBlock({ endpoint: `${base}/graphql` })}`;
    return reply.headers(pageHeaders({ asset })).send(renderPage({ title: "Type map – Commerce Gateway", body, isWide: true, asset }));
  });
}

/** Data for the page's script, which browsers do not run: no text in it can end the element. */
export function dataBlock(data: object): Markup {
  return new Markup(`<script type="application/json" id="page-data">${JSON.stringify(data).replaceAll("<", String.raw`\u003c`)}</script>`);
}
