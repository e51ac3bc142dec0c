/** The MCP resources: the guides, the error codes, the event types and the OpenAPI document. */
import { readFileSync } from "node:fs";
import {
  type Resource,
  ResourceNotFoundError,
  type TextResourceContents,
} from "@modelcontextprotocol/server";
import { readDocsGuides } from "#pages/docs/guides.ts";

interface DocumentResource {
  readonly resource: Resource;
  readonly read: () => string;
}

export interface McpResourceContentSources {
  readonly publicUrl: string;
  /** The OpenAPI document, in which the public URL of this service is the URL of the server. */
  readonly document: Readonly<Record<string, unknown>>;
  /** Returns all event types of webhooks with their examples. */
  readonly listEventExamples: () => readonly unknown[];
}

export interface McpResources {
  readonly list: () => Resource[];
  /** Returns the content of an MCP resource. Throws ResourceNotFoundError for an unknown URI. */
  readonly read: (uri: string) => TextResourceContents;
}

/**
 * Collects the MCP resources. The URI of a resource is the URL under which this service's documentation has
 * the same content.
 */
export function createMcpResources(source: McpResourceContentSources): McpResources {
  let cached: ReadonlyMap<string, DocumentResource> | undefined;
  // The files of the guides are read at the first request for a resource, and not when the process starts.
  const documents = (): ReadonlyMap<string, DocumentResource> =>
    (cached ??= new Map(listDocuments(source).map((document) => [document.resource.uri, document])));
  return {
    list: () => [...documents().values()].map(({ resource }) => resource),
    read: (uri) => {
      const found = documents().get(uri);
      if (found === undefined) throw new ResourceNotFoundError(uri);
      return { uri, mimeType: found.resource.mimeType ?? "text/plain", text: found.read() };
    },
  };
}

function listDocuments({
  publicUrl,
  document,
  listEventExamples,
}: McpResourceContentSources): DocumentResource[] {
  const guides = readDocsGuides().map(({ name, title, summary, text }) => ({
    resource: {
      uri: `${publicUrl}/docs/guides/${name}`,
      name: `guide-${name}`,
      title,
      description: summary,
      mimeType: "text/markdown",
    },
    read: () => text,
  }));
  return [
    ...guides,
    {
      resource: {
        uri: `${publicUrl}/docs/errors`,
        name: "errors",
        title: "Errors",
        description: "All error codes: when each occurs, and what the caller can do.",
        mimeType: "text/markdown",
      },
      read: () => readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8"),
    },
    {
      resource: {
        uri: `${publicUrl}/docs/events`,
        name: "events",
        title: "Event types",
        description: "All event types of webhooks as JSON, each with an example.",
        mimeType: "application/json",
      },
      read: () => JSON.stringify(listEventExamples()),
    },
    {
      resource: {
        uri: `${publicUrl}/openapi.json`,
        name: "openapi",
        title: "OpenAPI document",
        description: "The OpenAPI 3.1 document of the REST API.",
        mimeType: "application/json",
      },
      read: () => JSON.stringify(document),
    },
  ];
}
