/** What the examples were answered with when the project was built (schema/example-answers.json), for where the demo is not there to be asked. */
import { readFileSync } from "node:fs";
import type { Operation } from "./api-document.ts";
import { createExamples, type Examples } from "./demo-examples.ts";

/** Made by `npm run generate`. */
const file = new URL("../../../schema/example-answers.json", import.meta.url);
/** What stands in it for the address of the service. */
export const writtenBase = "https://commerce.example";

export type StoredAnswers = (operation: Operation) => unknown;

/** With this service's address, and the ids of the example's own request. */
export function readStoredAnswers({ examples, publicUrl }: { readonly examples: Examples; readonly publicUrl: string }): StoredAnswers {
  const answers = JSON.parse(readFileSync(file, "utf8")) as Readonly<Record<string, unknown>>;
  const placeholders = createExamples(undefined);
  return (operation) => {
    const answer = answers[operation.id];
    if (answer === undefined) throw new Error(`schema/example-answers.json has no ${operation.id}: npm run generate makes it.`);
    const [written, shown] = [placeholders.of(operation).parameters, examples.of(operation).parameters];
    const text = Object.keys(written)
      .filter((name) => /^id$|Id$/.test(name))
      .reduce((all, name) => all.replaceAll(written[name] ?? "", shown[name] ?? ""), JSON.stringify(answer).replaceAll(writtenBase, publicUrl));
    return JSON.parse(text) as unknown;
  };
}
