/**
 * A build plugin (vite.config.ts) that extracts the component GraphiQL from its npm package, which contains
 * the component as a nine-megabyte HTML text. It writes files with a hash in their names: the script, the
 * style sheet with its fonts, the editor's web workers, and the explanations of error codes.
 */
import {
  css,
  editorWorkerService,
  graphqlWorker,
  js,
  jsonWorker,
} from "@graphql-yoga/render-graphiql/graphiql";
import type { Plugin } from "vite";
import { readErrorGuide } from "#pages/docs/errors-page.ts";

/**
 * The contents of the files that the build extracts from GraphiQL's npm package, by the file name in the
 * build's manifest.
 */
export const graphiqlComponentFiles = {
  "graphiql-component.js": js,
  "graphiql-component.css": css,
  "graphiql-worker-editor.js": editorWorkerService,
  "graphiql-worker-json.js": jsonWorker,
  "graphiql-worker-graphql.js": graphqlWorker,
  "graphiql-error-guide.js": errorGuideModule(),
} as const;

export type GraphiqlComponentFileName = keyof typeof graphiqlComponentFiles;

export function graphiqlComponentVitePlugin(): Plugin {
  return {
    name: "graphiql-component",
    buildStart() {
      const emit = (name: string, source: string | Uint8Array): string =>
        `./${this.getFileName(this.emitFile({ type: "asset", name, source })).replace(/^assets\//, "")}`;
      for (const [file, text] of Object.entries(graphiqlComponentFiles))
        emit(file, file.endsWith(".css") ? withFontFiles(text, emit) : text);
    },
  };
}

/**
 * Creates the JavaScript module with the explanations of error codes from docs/errors.md. GraphiQL loads this
 * module when an answer has an error.
 */
function errorGuideModule(): string {
  const entries = readErrorGuide().flatMap((group) => group.entries);
  const guide = Object.fromEntries(
    entries.map(({ code, why, remedy }) => [
      code,
      { why: toGraphqlText(why), remedy: toGraphqlText(remedy) },
    ]),
  );
  return `export default ${JSON.stringify(guide)};\n`;
}

/**
 * Shortens the explanation of an error code to its sentences about GraphQL, or keeps it if it has none.
 * Removes line breaks and Markdown links.
 */
function toGraphqlText(text: string): string {
  const line = text.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1").replaceAll(/\s+/g, " ");
  const part = /Over GraphQL[:,] (.*)$/.exec(line)?.[1] ?? line;
  return part.replace(/^[a-z]/, (letter) => letter.toUpperCase());
}

/**
 * Moves the fonts out of the style sheet into separate files. The fonts are half of the style sheet, but a
 * page needs only two of them; browsers load only the font files that a page needs.
 */
function withFontFiles(sheet: string, emit: (name: string, source: Uint8Array) => string): string {
  return sheet.replaceAll(
    /url\("?data:font\/(woff2?|ttf);base64,([\w+/=]+)"?\)/g,
    (_whole, type: string, bytes: string) =>
      `url(${emit(`graphiql-font.${type}`, Buffer.from(bytes, "base64"))})`,
  );
}
