/**
 * A migration only adds, so that the processes of the release before go on beside it, and may come back. What takes away or demands says in its first line
 * that every process has to be stopped first. The first seven are older than the rule.
 */
import { describe, expect, it } from "vitest";
import { readMigrations } from "#database/migrate.ts";

const isOlder = (name: string): boolean => name < "0008";

/** What a process of before would trip over. Without what stands in parentheses. */
const demands: readonly (readonly [string, RegExp])[] = [
  ["takes a table, a column or a type away", /\bdrop\s+(?!constraint\s+(?:if\s+exists\s+)?\w+_(?:check|fkey)\b|index\b|not\b|default\b)/],
  ["renames", /\brename\b/],
  ["gives a column another type", /\balter\s+(?:column\s+)?\w+\s+(set\s+data\s+)?type\b/],
  [
    "demands a column that was not there",
    /\bset\s+not\s+null\b|\badd\s+(?:column\s+)?(?:if\s+not\s+exists\s+)?(?!constraint\b|check\b)\w+\s(?![^,;]*\b(?:default|generated)\b)[^,;]*\bnot\s+null\b/,
  ],
  ["demands more of the rows", /\badd\s+(constraint\s+\w+\s+)?(check|unique|exclude|foreign\s+key|primary\s+key)\b/],
  ["takes a default away", /\bdrop\s+default\b/],
];

/** Words alone: no comments, no quotes around names, nothing in parentheses, where commas separate something else. */
function plain(sql: string): string {
  const text = sql
    .replaceAll(/--.*|\/\*[^]*?\*\//g, " ")
    .replaceAll('"', "")
    .toLowerCase();
  const inside = /\([^()]*\)/g;
  return text.search(inside) < 0 ? text : plain(text.replaceAll(inside, " "));
}

const uniqueIndexes = (text: string): { name: string; table: string }[] =>
  [...text.matchAll(/\bcreate\s+unique\s+index\s+(?:concurrently\s+)?(?:if\s+not\s+exists\s+)?(?:(\w+)\s+)?on\s+(?:only\s+)?(\w+)/g)].map(
    ([, name = "", table = ""]) => ({ name, table }),
  );

const unique = new Set(readMigrations().flatMap(({ sql }) => uniqueIndexes(plain(sql)).map(({ name }) => name)));

const faultsOf = (sql: string): string[] => {
  if (/^-- Stop every process first\b/.test(sql)) return [];
  const text = plain(sql);
  const made = new Set([...text.matchAll(/\bcreate\s+table\s+(?:if\s+not\s+exists\s+)?(\w+)/g)].map(([, table]) => table));
  const gone = [...text.matchAll(/\bdrop\s+index\s+(?:concurrently\s+)?(?:if\s+exists\s+)?([^;]*)/g)].flatMap(
    ([, names]) => names?.match(/\w+/g) ?? [],
  );
  return [
    ...demands.filter(([, form]) => form.test(text)).map(([what]) => what),
    ...(uniqueIndexes(text).some(({ table }) => !made.has(table)) ? ["demands that rows which are there be unique"] : []),
    ...(gone.some((name) => unique.has(name)) ? ["takes away what `on conflict` may name"] : []),
  ];
};

describe("migrations", () => {
  it.each(readMigrations().filter(({ name }) => !isOlder(name)))("$name only adds", ({ sql }) => {
    expect(faultsOf(sql)).toEqual([]);
  });

  it.each([
    ["alter table event drop column note;", ["takes a table, a column or a type away"]],
    ["alter table event drop note;", ["takes a table, a column or a type away"]],
    ["drop function tell(text);", ["takes a table, a column or a type away"]],
    ['alter table event drop "note";', ["takes a table, a column or a type away"]],
    ["alter table event drop constraint event_pkey;", ["takes a table, a column or a type away"]],
    ["drop index if exists variant_sku;", ["takes away what `on conflict` may name"]],
    ["alter table event\n  rename note to remark;", ["renames"]],
    ["alter type kind rename value 'a' to 'b';", ["renames"]],
    ["alter table event alter column note type bytea;", ["gives a column another type"]],
    ["alter table event alter note type bytea;", ["gives a column another type"]],
    ["alter table event add column note text not null;", ["demands a column that was not there"]],
    ["alter table event add note text not null;", ["demands a column that was not there"]],
    ["alter table event add column price numeric(10, 2) not null;", ["demands a column that was not there"]],
    ["alter table event add column note text /* one, default */ not null;", ["demands a column that was not there"]],
    ["alter table event alter column note set not null;", ["demands a column that was not there"]],
    ["alter table event add constraint one unique (note);", ["demands more of the rows"]],
    ["alter table event add exclude using gist (span with &&);", ["demands more of the rows"]],
    ["create unique index one on event (note);", ["demands that rows which are there be unique"]],
    ["create unique index on only event (note);", ["demands that rows which are there be unique"]],
    ["create table other (id text not null);\ncreate unique index one on other (id);", []],
    ["alter table event drop constraint event_note_check;\ndrop index event_by_merchant;", []],
    ["alter table event add column note text not null default '', add column other text;", []],
    ["alter table event add column price numeric(10, 2) not null default 0, add column digest bytea generated always as (sha256(note)) stored;", []],
    ["-- It will not drop column one.\ncreate table other (id text not null);", []],
    ["-- Stop every process first: nobody writes the note any more.\nalter table event drop column note;", []],
  ])("are read for what they demand: %s", (sql, faults) => {
    expect(faultsOf(sql)).toEqual(faults);
  });

  it("of before the rule would break it, which is why they are named in the runbook", () => {
    expect(
      readMigrations()
        .filter(({ name, sql }) => isOlder(name) && faultsOf(sql).length > 0)
        .map(({ name }) => name),
    ).toContain("0007-search-matches");
  });
});
