/**
 * Part of the build (vite.config.ts): takes GraphiQL's component out of its package, which has it as texts
 * for one page of nine megabytes, and writes it as files named by their hash: the script, the sheet with its
 * fonts beside it, and the workers of the editor.
 */
import {
  css,
  editorWorkerService,
  graphqlWorker,
  js,
  jsonWorker,
} from "@graphql-yoga/render-graphiql/graphiql";
import type { Plugin } from "vite";

/** The files' names in the manifest, and what they hold. */
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

/** Half of the sheet is fonts, of which a page needs two. */
function withFontFiles(sheet: string, emit: (name: string, source: Uint8Array) => string): string {
  return sheet.replaceAll(
    /url\("?data:font\/(woff2?|ttf);base64,([\w+/=]+)"?\)/g,
    (_whole, type: string, bytes: string) =>
      `url(${emit(`graphiql-font.${type}`, Buffer.from(bytes, "base64"))})`,
  );
}
