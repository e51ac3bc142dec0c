/**
 * Part of the build (vite.config.ts). Extracts GraphiQL's component from its npm package, which contains it
 * as one nine-megabyte page of text. Writes files named by their hash: the script, the style sheet with its
 * fonts, and the editor's workers.
 */
import {
  css,
  editorWorkerService,
  graphqlWorker,
  js,
  jsonWorker,
} from "@graphql-yoga/render-graphiql/graphiql";
import type { Plugin } from "vite";

/** Contents of the GraphiQL files, by their names in the manifest. */
export const graphiqlComponentFiles = {
  "graphiql-component.js": js,
  "graphiql-component.css": css,
  "graphiql-worker-editor.js": editorWorkerService,
  "graphiql-worker-json.js": jsonWorker,
  "graphiql-worker-graphql.js": graphqlWorker,
} as const;

export type GraphiqlComponentFile = keyof typeof graphiqlComponentFiles;

export function graphiqlComponent(): Plugin {
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
 * Writes the fonts of the style sheet as separate files. Fonts are half of the style sheet, and a page needs
 * two of them.
 */
function withFontFiles(sheet: string, emit: (name: string, source: Uint8Array) => string): string {
  return sheet.replaceAll(
    /url\("?data:font\/(woff2?|ttf);base64,([\w+/=]+)"?\)/g,
    (_whole, type: string, bytes: string) =>
      `url(${emit(`graphiql-font.${type}`, Buffer.from(bytes, "base64"))})`,
  );
}
