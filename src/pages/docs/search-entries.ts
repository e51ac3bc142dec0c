/**
 * Creates the entries that the search of the documentation finds: sections of guides, operations, fields,
 * errors and events.
 */
import { failureKinds } from "#foundation/failure.ts";
import {
  type OpenApiDocument,
  type OpenApiDocumentOperation,
  type OpenApiSchema,
  type OpenApiSchemas,
  resolveOpenApiSchema,
} from "./api-document.ts";
import { readErrorGuide } from "./errors-page.ts";
import { listOpenApiWebhookEvents } from "./events-page.ts";
import type { DocsGuide } from "./guides.ts";
import { getHeadingAnchor } from "./markdown.ts";
import { getOperationTitle } from "./operation-titles.ts";

export interface DocsSearchEntry {
  readonly kind: "Guide" | "Operation" | "Field" | "Error" | "Event";
  readonly title: string;
  /** Other texts by which the search finds the entry, for example the operation's id and path. */
  readonly names: string;
  readonly text: string;
  /** The URL path that opens when the reader selects a search result: a page with the anchor of a section. */
  readonly url: string;
}

interface SearchedSite {
  readonly document: OpenApiDocument;
  readonly operations: readonly OpenApiDocumentOperation[];
  readonly guides: readonly DocsGuide[];
  readonly home: string;
}

export function listDocsSearchEntries(site: SearchedSite): DocsSearchEntry[] {
  const { document, operations, guides, home } = site;
  return [
    ...guides.flatMap((guide) => guideEntries(guide, home)),
    ...operations.map((operation) => ({
      kind: "Operation" as const,
      title: getOperationTitle(operation.id),
      names: `${operation.id} ${operation.method} ${operation.path}`,
      text: operation.description,
      url: `${home}/operations/${operation.id}`,
    })),
    ...fieldEntries(site),
    ...readErrorGuide()
      .flatMap(({ entries }) => entries)
      .map(({ code, why, remedy }) => ({
        kind: "Error" as const,
        title: code,
        names: `${failureKinds[code].status}`,
        text: plain(`${failureKinds[code].text} ${why} ${remedy}`),
        url: `${home}/errors#${code}`,
      })),
    ...listOpenApiWebhookEvents(document).map(({ name, description, object }) => ({
      kind: "Event" as const,
      title: name,
      names: object,
      text: plain(description),
      url: `${home}/events/${name}`,
    })),
  ];
}

/** Creates one search entry for each section of a guide. Code examples are left out of the searched text. */
function guideEntries({ name, title, text }: DocsGuide, home: string): DocsSearchEntry[] {
  const [opening = "", ...sections] = text.replaceAll(/^```[\s\S]*?^```$/gm, "").split(/^## /m);
  const url = `${home}/guides/${name}`;
  return [
    { kind: "Guide", title, names: name, text: plain(opening.replace(/^# .+$/m, "")), url },
    ...sections.map((section): DocsSearchEntry => {
      const [heading = "", ...lines] = section.split("\n");
      const plainHeading = plain(heading);
      return {
        kind: "Guide",
        title: plainHeading,
        names: title,
        text: plain(lines.join(" ")),
        url: `${url}#${getHeadingAnchor(plainHeading)}`,
      };
    }),
  ];
}

const plain = (markdown: string): string =>
  markdown
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, "$1")
    .replaceAll(/[`*|#>]|-{3,}/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();

/**
 * Creates the search entries for the fields of request bodies, parameters and answers. The fields of a named
 * schema get only one entry each, even if several operations use the schema.
 */
function fieldEntries({ document, operations, home }: SearchedSite): DocsSearchEntry[] {
  const seen = new Set<string>();
  return operations.flatMap((operation) => {
    const url = `${home}/operations/${operation.id}`;
    const describe = (path: string, text: string, anchor: string): DocsSearchEntry => ({
      kind: "Field",
      title: path,
      names: getOperationTitle(operation.id),
      text: plain(text),
      url: `${url}#${anchor}`,
    });
    const parameters = operation.parameters
      .filter(({ in: place }) => place !== "header")
      .map(({ name, description = "" }) => describe(name, description, "parameters"));
    const { schemas } = document.components;
    const fieldsIn = (schema: OpenApiSchema, anchor: string): DocsSearchEntry[] =>
      listFields(schema, { schemas, seen }).map(({ path, text }) => describe(path, text, anchor));
    return [
      ...parameters,
      ...(operation.body === null ? [] : fieldsIn(operation.body, "body")),
      ...fieldsIn(operation.answer, "answer"),
    ];
  });
}

interface ListedField {
  readonly path: string;
  readonly text: string;
}

interface FieldListing {
  readonly schemas: OpenApiSchemas;
  /** The names of the schemas whose fields already have search entries. */
  readonly seen: Set<string>;
}

function listFields(schema: OpenApiSchema, listing: FieldListing, path = ""): ListedField[] {
  const { name, properties = {}, items } = resolveOpenApiSchema(schema, listing.schemas);
  if (items !== undefined) return listFields(items, listing, path);
  if (name !== null) {
    if (listing.seen.has(name)) return [];
    listing.seen.add(name);
  }
  return Object.entries(properties).flatMap(([property, part]) => {
    const own = path === "" ? property : `${path}.${property}`;
    const { description = "" } = resolveOpenApiSchema(part, listing.schemas);
    const inner = listFields(part, listing, own);
    return description === "" ? inner : [{ path: own, text: description }].concat(inner);
  });
}
