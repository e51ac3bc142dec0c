/** The category tree: levels in order, slugs by locale, and products of a category with those below it. */
import { beforeAll, describe, expect, it } from "vitest";
import { askGraph, type Frontend, type GraphAnswer, withoutTrace } from "#test/operations/cart-calls.ts";
import { statementsOf, useWorld } from "#test/support/use-world.ts";

describe("the category tree", () => {
  const world = useWorld();
  const names = [{ locale: "en", text: "Name" }];
  const upsert = (input: Readonly<Record<string, unknown>>, frontend: Frontend = { token: "admin" }) =>
    askGraph(
      world(),
      `mutation ($input: CategoryUpsertInput!) { categoryUpsert(input: $input) {
        id slug version position localizedSlugs { locale slug } parent { id } } }`,
      { input: { names, ...input } },
      frontend,
    );
  const make = async (slug: string, input: Readonly<Record<string, unknown>> = {}): Promise<string> => {
    const { data, error } = await upsert({ slug, ...input });
    expect(error).toBeUndefined();
    return data.id;
  };
  const find = async (slug: string, locale?: string, frontend: Frontend = {}): Promise<string | null> =>
    (
      await askGraph(
        world(),
        "query ($slug: Slug!, $locale: LocaleCode) { category(slug: $slug, locale: $locale) { id } }",
        { slug, locale },
        frontend,
      )
    ).data?.id ?? null;
  const faultsOf = ({ error }: GraphAnswer): unknown => ({
    code: error?.code,
    details: error?.details.map(({ field, code }: { field: string; code: string }) => `${field} ${code}`),
  });

  let ids: { home: string; kitchen: string; pans: string; woks: string; garden: string };
  beforeAll(async () => {
    const home = await make("t-home", { position: 90_001 });
    const garden = await make("t-garden", { position: 90_000 });
    const pans = await make("t-pans", { parentId: home, position: 2 });
    const kitchen = await make("t-kitchen", {
      parentId: home,
      position: 1,
      localizedSlugs: [
        { locale: "de", slug: "t-kueche" },
        { locale: "de-CH", slug: "t-chuchi" },
      ],
    });
    const woks = await make("t-woks", { parentId: pans });
    ids = { home, kitchen, pans, woks, garden };
  });

  it("is read from the top, each level by position, with a constant number of statements", async () => {
    const query = `{ categoryTree { id children { id localizedSlugs { slug } children { id ancestors { id } } } } }`;
    const read = () => askGraph(world(), query);
    const { data } = await read();
    expect(data.slice(-2)).toEqual([
      { id: ids.garden, children: [] },
      {
        id: ids.home,
        children: [
          { id: ids.kitchen, localizedSlugs: [{ slug: "t-kueche" }, { slug: "t-chuchi" }], children: [] },
          {
            id: ids.pans,
            localizedSlugs: [],
            children: [{ id: ids.woks, ancestors: [{ id: ids.home }, { id: ids.pans }] }],
          },
        ],
      },
    ]);
    // The roots, two levels of children, slugs and ancestors.
    const statements = await statementsOf(world(), read);
    expect(statements.filter((text) => /categor/.test(text))).toHaveLength(5);
  });

  it("finds a category by its slug in the locale, a more general locale, or all locales", async () => {
    const { kitchen, pans } = ids;
    expect([await find("t-kueche", "de"), await find("t-kueche", "de-AT")]).toEqual([kitchen, kitchen]);
    expect([await find("t-chuchi", "de-CH"), await find("t-kueche", "de-CH")]).toEqual([kitchen, kitchen]);
    expect([await find("t-kitchen", "en"), await find("t-kitchen")]).toEqual([kitchen, kitchen]);
    expect([await find("t-pans", "de"), await find("t-pans")]).toEqual([pans, pans]);
    for (const [slug, locale] of [
      ["t-chuchi", "de"],
      ["t-kueche", "fr"],
      ["t-kueche"],
      ["t-none", "de"],
    ] as const)
      expect(await find(slug, locale)).toBeNull();
  });

  it("keeps slugs that are left out, replaces the others, and raises no version without a change", async () => {
    const first = await upsert({ slug: "t-slugs", localizedSlugs: [{ locale: "fr", slug: "t-limaces" }] });
    const kept = await upsert({ slug: "t-slugs" });
    expect(kept.data).toEqual(first.data);
    const replaced = await upsert({ slug: "t-slugs", localizedSlugs: [{ locale: "it", slug: "t-lumache" }] });
    expect(replaced.data).toMatchObject({
      version: 2,
      localizedSlugs: [{ locale: "it", slug: "t-lumache" }],
    });
    expect(await find("t-limaces", "fr")).toBeNull();
    // A slug that has become free can be used by another category.
    await make("t-slugs-2", { localizedSlugs: [{ locale: "fr", slug: "t-limaces" }] });
  });

  it("refuses a slug that another category has in this locale or in all locales", async () => {
    const taken = { code: "already_exists", details: ["/localizedSlugs/0/slug already_exists"] };
    for (const slug of ["t-kueche", "t-pans"])
      expect(
        faultsOf(
          await withoutTrace(world(), () =>
            upsert({ slug: "t-new", localizedSlugs: [{ locale: "de", slug }] }),
          ),
        ),
      ).toEqual(taken);
    expect(faultsOf(await withoutTrace(world(), () => upsert({ slug: "t-kueche" })))).toEqual({
      code: "already_exists",
      details: ["/slug already_exists"],
    });
    // The same slug in another locale, and the slug of another merchant's category.
    await make("t-free", { localizedSlugs: [{ locale: "nl", slug: "t-kueche" }] });
  });

  it("refuses a locale twice, a cycle, and a seventh level", async () => {
    const twice = [
      { locale: "de", slug: "t-a" },
      { locale: "de", slug: "t-b" },
    ];
    expect(faultsOf(await upsert({ slug: "t-twice", localizedSlugs: twice }))).toEqual({
      code: "invalid_field",
      details: ["/localizedSlugs/1/locale duplicate"],
    });
    const cycle = await upsert({ categoryId: ids.home, slug: "t-home", parentId: ids.woks });
    expect(faultsOf(cycle)).toEqual({ code: "invalid_field", details: ["/parentId circle"] });
    expect(cycle.error.details[0].message).toBe(
      "The parent must not be the category itself or a category below it.",
    );
    let parentId = ids.woks;
    for (const level of [4, 5, 6]) parentId = await make(`t-level-${level}`, { parentId });
    expect(faultsOf(await upsert({ slug: "t-level-7", parentId }))).toEqual({
      code: "invalid_field",
      details: ["/parentId too_deep"],
    });
  });

  it("lists products of a category and of the categories below it", async () => {
    const { data: made } = await askGraph(
      world(),
      "mutation ($input: ProductCreateInput!) { productCreate(input: $input) { id } }",
      {
        input: {
          translations: [{ locale: "en", slug: "t-iron-wok", title: "Iron wok" }],
          categoryIds: [ids.woks],
        },
      },
      { token: "admin" },
    );
    const listed = async (categoryId: string): Promise<unknown> =>
      (
        await askGraph(
          world(),
          "query ($categoryId: ID!) { products(categoryId: $categoryId) { edges { node { id } } } }",
          { categoryId },
          { token: "admin" },
        )
      ).data.edges;
    for (const above of [ids.woks, ids.pans, ids.home])
      expect(await listed(above)).toEqual([{ node: { id: made.id } }]);
    expect(await listed(ids.garden)).toEqual([]);
  });

  it("shows a merchant only its own categories, and is changed only by staff", async () => {
    const other = world().demo.merchants.second.id;
    const mutation = `mutation ($id: ID!) { categoryUpsert(merchantId: $id, input: { slug: "t-foreign", names:
      [{ locale: "en", text: "Foreign" }], localizedSlugs: [{ locale: "de", slug: "t-kueche" }] }) { id } }`;
    const foreign = await askGraph(world(), mutation, { id: other }, { token: "operator" });
    expect(foreign.error).toBeUndefined();
    expect(await find("t-foreign")).toBeNull();
    expect(await find("t-kueche", "de")).toBe(ids.kitchen);
    const tree = "query ($id: ID) { categoryTree(merchantId: $id) { id } }";
    for (const field of [tree, 'query ($id: ID) { category(merchantId: $id, slug: "t-foreign") { id } }'])
      expect((await askGraph(world(), field, { id: other })).error.code).toMatch(/_not_found$/);
    const shown = (await askGraph(world(), tree, { id: other }, { token: "operator" })).data;
    expect(shown).toContainEqual({ id: foreign.data.id });
    expect(shown).not.toContainEqual({ id: ids.home });
    for (const token of ["storefront", "analyst"] as const)
      expect((await upsert({ slug: "t-x" }, { token })).error.code).toBe("role_not_allowed");
  });
});
