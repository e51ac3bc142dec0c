/**
 * Migrations are additive, so that processes of the previous release continue beside them and can be
 * restored. A migration that removes or requires something says in its first line that all processes must be
 * stopped first. The first seven migrations are older than this rule. A check may be replaced by one with the
 * same name that provably allows more.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseIndexMigrationStatements } from "#database/apply-migrations.ts";
import { type OpenedDatabase, openDatabase, type SqlScriptRunner } from "#database/connect.ts";
import { type DatabaseMigration, readMigrationFiles } from "#database/migrate.ts";

const isOlder = (name: string): boolean => name < "0008";

/** Statements that would break processes of the previous release. Text in parentheses is ignored. */
const demands: readonly (readonly [string, RegExp])[] = [
  [
    "takes a table, a column or a type away",
    /\bdrop\s+(?!constraint\s+(?:if\s+exists\s+)?\w+_(?:check|fkey)\b|index\b|not\b|default\b)/,
  ],
  ["renames", /\brename\b/],
  ["gives a column another type", /\balter\s+(?:column\s+)?\w+\s+(set\s+data\s+)?type\b/],
  [
    "demands a column that was not there",
    /\bset\s+not\s+null\b|\badd\s+(?:column\s+)?(?:if\s+not\s+exists\s+)?(?!constraint\b|check\b)\w+\s(?![^,;]*\b(?:default|generated)\b)[^,;]*\bnot\s+null\b/,
  ],
  [
    "demands more of the rows",
    /\badd\s+(constraint\s+\w+\s+)?(check|unique|exclude|foreign\s+key|primary\s+key)\b/,
  ],
  ["takes a default away", /\bdrop\s+default\b/],
];

/**
 * What a migration may do although it is refused for others: it replaces a table or a trigger by one with the
 * same name, so that the statements of the previous release work without a change.
 */
const replacements = new Map([
  ["0045-day-partitions", ["takes a table, a column or a type away", "renames"]],
]);

/** Reduces SQL to words: without comments, quotes around names, and parentheses. */
function plain(sql: string): string {
  const text = sql
    .replaceAll(/--.*|\/\*[^]*?\*\//g, " ")
    .replaceAll('"', "")
    .toLowerCase();
  const inside = /\([^()]*\)/g;
  return text.search(inside) < 0 ? text : plain(text.replaceAll(inside, " "));
}

const uniqueIndexes = (text: string): { name: string; table: string }[] =>
  [
    ...text.matchAll(
      /\bcreate\s+unique\s+index\s+(?:concurrently\s+)?(?:if\s+not\s+exists\s+)?(?:(\w+)\s+)?on\s+(?:only\s+)?(\w+)/g,
    ),
  ].map(([, name = "", table = ""]) => ({ name, table }));

const unique = new Set(
  readMigrationFiles().flatMap(({ sql }) => uniqueIndexes(plain(sql)).map(({ name }) => name)),
);

/**
 * The values that a check allows for its column, if it is a list of literals as PostgreSQL prints them: `col
 * = ANY (ARRAY['a'::text, …])`.
 */
function allowedBy(
  definition: string,
): { readonly column: string; readonly values: ReadonlySet<string> } | undefined {
  const literal = "'(?:[^']|'')*'::text";
  const form = new RegExp(
    `^CHECK \\(\\((\\w+) = (?:ANY \\(ARRAY\\[(${literal}(?:, ${literal})*)\\]\\)|(${literal}))\\)\\)$`,
  );
  const [, column, list, single] = form.exec(definition) ?? [];
  if (column === undefined) return undefined;
  return { column, values: new Set((list ?? single ?? "").match(new RegExp(literal, "g"))) };
}

/**
 * Whether every row allowed by the first check is allowed by the second. Compares only lists of values;
 * anything else counts as unproven.
 */
function isWider(before: string, after: string): boolean {
  const [narrow, wide] = [allowedBy(before), allowedBy(after)];
  return (
    narrow !== undefined &&
    wide !== undefined &&
    narrow.column === wide.column &&
    narrow.values.isSubsetOf(wide.values)
  );
}

async function checksIn(run: SqlScriptRunner): Promise<ReadonlyMap<string, string>> {
  const [rows = []] =
    await run(`select conrelid::regclass || ' ' || conname as name, pg_get_constraintdef(oid) as definition
    from pg_constraint where contype = 'c' and connamespace = 'public'::regnamespace and conrelid <> 0`);
  return new Map(rows.map((row) => [String(row["name"]), String(row["definition"])]));
}

const replacesCheck = /\badd\s+constraint\s+\w+\s+check\b/;

/**
 * Returns checks, as `table name`, that the migration replaces by wider ones. Runs the migration on a
 * database with all earlier ones and rolls it back.
 */
async function widenedChecks(
  database: OpenedDatabase,
  earlier: readonly Pick<DatabaseMigration, "sql">[],
  sql: string,
): Promise<ReadonlySet<string>> {
  if (!replacesCheck.test(plain(sql))) return new Set();
  return database.script(async (run) => {
    await run("begin");
    try {
      // In a transaction, an index can only be created in the usual way.
      for (const migration of earlier) await run(migration.sql.replaceAll(/\bconcurrently\b/g, ""));
      const before = await checksIn(run);
      await run(sql);
      const after = await checksIn(run);
      return new Set(
        [...before.keys()].filter((name) => isWider(before.get(name) ?? "", after.get(name) ?? "")),
      );
    } finally {
      await run("rollback");
    }
  });
}

/** Removes from the SQL the checks that only become wider. */
function withoutWidened(text: string, widened: ReadonlySet<string>): string {
  return text
    .split(";")
    .map((statement) => {
      const [, table = ""] = /\balter\s+table\s+(?:if\s+exists\s+)?(?:only\s+)?(\w+)/.exec(statement) ?? [];
      return statement.replaceAll(/\badd\s+constraint\s+(\w+)\s+check\b/g, (add, name: string) =>
        widened.has(`${table} ${name}`) ? " " : add,
      );
    })
    .join(";");
}

const faultsOf = (sql: string, widened: ReadonlySet<string> = new Set()): string[] => {
  if (/^-- Stop every process first\b/.test(sql)) return [];
  const text = withoutWidened(plain(sql), widened);
  const made = new Set(
    [...text.matchAll(/\bcreate\s+table\s+(?:if\s+not\s+exists\s+)?(\w+)/g)].map(([, table]) => table),
  );
  const gone = [...text.matchAll(/\bdrop\s+index\s+(?:concurrently\s+)?(?:if\s+exists\s+)?([^;]*)/g)].flatMap(
    ([, names]) => names?.match(/\w+/g) ?? [],
  );
  return [
    ...demands.filter(([, form]) => form.test(text)).map(([what]) => what),
    ...(uniqueIndexes(text).some(({ table }) => !made.has(table))
      ? ["demands that rows which are there be unique"]
      : []),
    ...(gone.some((name) => unique.has(name)) ? ["takes away what `on conflict` may name"] : []),
  ];
};

describe("migrations", () => {
  let empty: OpenedDatabase;
  beforeAll(async () => {
    empty = await openDatabase({});
  });
  afterAll(() => empty.close());

  it.each(readMigrationFiles().filter(({ name }) => !isOlder(name)))(
    "$name only adds, so that processes of the previous release continue beside it",
    async ({ name, sql }) => {
      const earlier = readMigrationFiles().filter((migration) => migration.name < name);
      expect(faultsOf(sql, await widenedChecks(empty, earlier, sql))).toEqual(replacements.get(name) ?? []);
    },
  );

  const replace = (check: string): string =>
    `alter table event drop constraint event_kind_check, add constraint event_kind_check check (${check});`;
  const more = ["demands more of the rows"];
  it.each([
    [replace("kind in ('a', 'b', 'it''s, c')"), []],
    [replace("kind in ('b', 'a')"), []],
    [replace("kind = any (array['a', 'b', 'c'])"), []],
    [
      "alter table event drop constraint event_kind_check;\nalter table only event add constraint " +
        "event_kind_check check (kind in ('a', 'b', 'c'));",
      [],
    ],
    [
      "alter table event drop constraint event_state_check, add constraint event_state_check check " +
        "(state in ('on', 'off'));",
      [],
    ],
    [replace("kind in ('a', 'c', 'd')"), more],
    [replace("kind = 'a'"), more],
    [replace("state in ('a', 'b', 'c')"), more],
    [replace("kind in ('a', 'b', 'c') and state is not null"), more],
    [replace("length(kind) < 100"), more],
    ["alter table event add constraint event_other_check check (kind in ('a', 'b', 'c'));", more],
    [
      "alter table event drop constraint event_kind_check, add constraint event_other_check check (kind " +
        "in ('a', 'b', 'c'));",
      more,
    ],
    [
      "alter table event drop constraint event_note_check, add constraint event_note_check check " +
        "(length(note) <= 200);",
      more,
    ],
    [
      `${replace("kind in ('a', 'b', 'c')")} alter table other add constraint event_kind_check ` +
        "check (kind in ('a', 'b'));",
      more,
    ],
  ])("may replace a check by one that allows more values, and by no other: %s", async (sql, faults) => {
    const before = `create table event (kind text check (kind in ('a', 'b')),
        state text check (state in ('on')), note text check (length(note) <= 100));
      create table other (kind text);`;
    expect(faultsOf(sql, await widenedChecks(empty, [{ sql: before }], sql))).toEqual(faults);
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
    [
      "alter table event add column note text /* one, default */ not null;",
      ["demands a column that was not there"],
    ],
    ["alter table event alter column note set not null;", ["demands a column that was not there"]],
    ["alter table event add constraint one unique (note);", ["demands more of the rows"]],
    ["alter table event add exclude using gist (span with &&);", ["demands more of the rows"]],
    ["create unique index one on event (note);", ["demands that rows which are there be unique"]],
    ["create unique index on only event (note);", ["demands that rows which are there be unique"]],
    ["create table other (id text not null);\ncreate unique index one on other (id);", []],
    ["alter table event drop constraint event_note_check;\ndrop index event_by_merchant;", []],
    ["alter table event add column note text not null default '', add column other text;", []],
    [
      "alter table event add column price numeric(10, 2) not null default 0, add column digest bytea " +
        "generated always as (sha256(note)) stored;",
      [],
    ],
    ["-- It will not drop column one.\ncreate table other (id text not null);", []],
    [
      "-- Stop every process first: nobody writes the note any more.\nalter table event drop column note;",
      [],
    ],
  ])("are scanned for breaking statements: %s", (sql, faults) => {
    expect(faultsOf(sql)).toEqual(faults);
  });

  it("outside of a transaction only create and drop indexes", () => {
    for (const migration of readMigrationFiles())
      expect(() => parseIndexMigrationStatements(migration), migration.name).not.toThrow();
  });

  it("older than the rule would violate it, so the runbook names them", () => {
    expect(
      readMigrationFiles()
        .filter(({ name, sql }) => isOlder(name) && faultsOf(sql).length > 0)
        .map(({ name }) => name),
    ).toContain("0007-search-matches");
  });
});
