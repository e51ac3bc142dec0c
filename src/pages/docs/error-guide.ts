/** Why each error happens and what to do about it: docs/errors.md, read once. It has an entry for every code of the registry and no other. */
import { readFileSync } from "node:fs";
import { type FailureCode, failureKinds } from "#foundation/failure.ts";

export interface ErrorEntry {
  readonly code: FailureCode;
  readonly why: string;
  readonly remedy: string;
}

export interface ErrorGroup {
  readonly title: string;
  readonly entries: readonly ErrorEntry[];
}

const file = new URL("../../../docs/errors.md", import.meta.url);

export function readErrorGuide(text = readFileSync(file, "utf8")): ErrorGroup[] {
  const groups = text
    .split(/^## /m)
    .slice(1)
    .map((group) => {
      const [head = "", ...entries] = group.split(/^### /m);
      return { title: head.trim(), entries: entries.map(toEntry) };
    });
  const told = new Set(groups.flatMap(({ entries }) => entries.map(({ code }) => code)));
  const untold = Object.keys(failureKinds).filter((code) => !told.has(code as FailureCode));
  if (untold.length > 0) throw new Error(`docs/errors.md does not explain ${untold.join(", ")}.`);
  return groups;
}

function toEntry(text: string): ErrorEntry {
  const [code = "", why = "", remedy = "", ...more] = text.trim().split(/\n\s*\n/);
  if (!isCode(code)) throw new Error(`docs/errors.md explains ${code}, which is no code of the registry.`);
  if (why === "" || remedy === "" || more.length > 0)
    throw new Error(`docs/errors.md: ${code} needs two paragraphs: why it happens, and what to do.`);
  return { code, why, remedy };
}

const isCode = (text: string): text is FailureCode => Object.hasOwn(failureKinds, text);
