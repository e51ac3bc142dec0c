/** The documentation with what it shows: the document that the doors are described by, and the demo where there is one. */
import type { FastifyInstance } from "fastify";
import { readDemoFile } from "#demo/demo-file.ts";
import { refuseOtherMethods } from "#http/server.ts";
import type { ApiDocument } from "./api-document.ts";
import type { DocsServices } from "./docs-site.ts";
import { mountDocs } from "./mount-docs.ts";

export interface DocsParts {
  /** The OpenAPI document. */
  readonly document: Readonly<Record<string, unknown>>;
  readonly publicUrl: string;
  readonly settings: { readonly demo: boolean; readonly dataDir: string };
}

export function mountDocsRoom(server: FastifyInstance, { document, publicUrl, settings }: DocsParts): void {
  mountDocs(server, {
    document: document as unknown as ApiDocument,
    publicUrl,
    readDemo: () => (settings.demo ? readDemoFile(settings.dataDir) : undefined),
    ask: askOf(server),
  });
  for (const path of ["/docs", "/docs/*"]) refuseOtherMethods(server, path, ["GET"]);
}

/** Through the front door, as everybody; what is not answered with 200 is not shown. */
function askOf(server: FastifyInstance): DocsServices["ask"] {
  return async (path, key) => {
    const { statusCode, body } = await server.inject({
      method: "GET",
      url: path,
      headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
    });
    return statusCode === 200 ? (JSON.parse(body) as unknown) : undefined;
  };
}
