/**
 * Every column that can hold text is declared in schema/personal-data.json, so that none with personal data
 * is forgotten when a buyer is erased.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sealedColumns } from "#app/rewrap.ts";
import type { OpenedDatabase } from "#database/connect.ts";
import { openFresh } from "#test/support/databases.ts";
import { declaredColumns, findTextColumns, kindOf, kinds } from "#test/support/personal-data.ts";

describe("schema/personal-data.json", () => {
  let database: OpenedDatabase;
  beforeAll(async () => {
    database = await openFresh("pglite");
  });
  afterAll(() => database.close());

  it("declares exactly the columns of the migrated database that can hold text, by name", async () => {
    expect(Object.keys(declaredColumns)).toEqual(await findTextColumns(database.db));
  });

  it("misses a column that a migration adds, whatever type the column has", async () => {
    await database.script((run) =>
      run(`create type mood as enum ('good'); create domain remark as varchar(20);
        alter table cart add column nickname text, add column feeling mood, add column said remark,
          add column seen_from inet, add column seen integer;`),
    );
    const found = await findTextColumns(database.db);
    expect(found.filter((name) => !Object.hasOwn(declaredColumns, name))).toEqual([
      "cart.feeling",
      "cart.nickname",
      "cart.said",
      "cart.seen_from",
    ]);
  });

  it("declares each column as a known kind, with a remark unless the kind says it all", () => {
    const forms =
      /^(?:none|digest|(?:sealed|personal): erased by \w+|sealed|(?:pseudonym|note|staff): \S.+)$/;
    expect(Object.entries(declaredColumns).filter(([, declaration]) => !forms.test(declaration))).toEqual([]);
    expect(new Set(Object.values(declaredColumns).map(kindOf))).toEqual(new Set(kinds));
  });

  it("declares as sealed what keys are rewrapped for, and nothing else", () => {
    const sealed = Object.keys(declaredColumns).filter(
      (name) => kindOf(declaredColumns[name] ?? "") === "sealed",
    );
    expect(sealed).toEqual(
      sealedColumns
        .flatMap(({ table, sealed: column, dataKey }) => [`${table}.${column}`, `${table}.${dataKey}`])
        .toSorted(),
    );
  });
});
