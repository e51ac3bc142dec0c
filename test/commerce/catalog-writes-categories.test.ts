/**
 * The category tree has no cycles and at most six levels, and a change of a category reindexes every product
 * below it.
 */
import { beforeAll, expect, it } from "vitest";
import {
  type UpsertCategoryInput,
  deleteCategory,
  upsertCategory,
} from "#commerce/catalog/change-category.ts";
import { updateProduct } from "#commerce/catalog/change-product.ts";
import { Failure } from "#foundation/failure.ts";
import { describeOnPostgres } from "#test/support/databases.ts";
import {
  createWorld,
  fresh,
  makeProduct,
  makePublished,
  countVersionRises,
  type World,
} from "./writes-world.ts";

describeOnPostgres("categories", (open, engine) => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld(open);
  });

  const names = [{ locale: "de", text: "Name" }];
  const make = async (input: Partial<UpsertCategoryInput> = {}, context = world.context): Promise<string> =>
    (await world.run(upsertCategory, { slug: fresh("category"), names, ...input }, context)).categoryId;
  const row = (id: string) =>
    world.db
      .selectFrom("category")
      .select(["slug", "names", "parentId", "position", "version"])
      .where("id", "=", id)
      .executeTakeFirst();

  /** Creates a chain of categories, from the root down. */
  const makeChain = async (length: number): Promise<string[]> => {
    const chain: string[] = [];
    for (let level = 0; level < length; level += 1)
      chain.push(await make({ parentId: chain.at(-1) ?? null }));
    return chain;
  };

  it("creates categories at the end of their level, and finds them by slug or id", async () => {
    const parentId = await make();
    const slug = fresh("tassen");
    const first = await make({ parentId, slug });
    const second = await make({ parentId });
    expect(await row(first)).toEqual({ slug, names: { de: "Name" }, parentId, position: 0, version: 1 });
    expect(await row(second)).toMatchObject({ position: 1 });
    expect(await make({ slug, names: [{ locale: "de", text: "Tassen" }] })).toBe(first);
    expect(await row(first)).toEqual({ slug, names: { de: "Tassen" }, parentId, position: 0, version: 2 });
    const renamed = fresh("becher");
    await make({ categoryId: first, slug: renamed, parentId: null, position: 7, expectedVersion: 2 });
    expect(await row(first)).toEqual({
      slug: renamed,
      names: { de: "Name" },
      parentId: null,
      position: 7,
      version: 3,
    });
  });

  it("raises the catalog's version by one, and raises no version if nothing changed", async () => {
    const slug = fresh("gleich");
    expect((await countVersionRises(world, "", () => make({ slug }))).catalog).toBe(1);
    expect((await countVersionRises(world, "", () => make({ slug }))).catalog).toBe(0);
  });

  it("reindexes every published product below the category", async () => {
    const [top = "", , bottom = ""] = await makeChain(3);
    const { productId } = await makePublished(world);
    const draft = await makeProduct(world, { categoryIds: [bottom] });
    await world.run(updateProduct, { productId, categoryIds: [bottom, top] });
    world.takeIndexed();
    await make({ categoryId: top });
    expect(world.takeIndexed()).toEqual([[productId]]);
    expect(draft).not.toBe(productId);
  });

  it("reindexes the products in chunks of 500", async () => {
    const category = await make();
    const ids = Array.from({ length: 501 }, () => fresh("prd"));
    const at = world.context.now;
    await world.db
      .insertInto("product")
      .values(
        ids.map((id) => ({
          id,
          merchantId: "mer_one",
          status: "published" as const,
          publishedAt: at,
          createdAt: at,
          updatedAt: at,
        })),
      )
      .execute();
    await world.db
      .insertInto("productCategory")
      .values(ids.map((productId) => ({ productId, categoryId: category, position: 0 })))
      .execute();
    await make({ categoryId: category });
    expect(world.takeIndexed().map((chunk) => chunk.length)).toEqual([500, 1]);
  });

  it("refuses cycles of any length", async () => {
    const [top = "", middle = "", bottom = ""] = await makeChain(3);
    for (const parentId of [top, middle, bottom]) {
      expect(
        await world.refusal(upsertCategory, { categoryId: top, slug: fresh("x"), names, parentId }),
      ).toEqual({
        code: "invalid_field",
        details: ["body /parentId circle"],
        conflict: null,
      });
    }
  });

  it("refuses a seventh level, also if a whole branch is moved", async () => {
    const chain = await makeChain(6);
    expect(await world.refusal(upsertCategory, { slug: fresh("x"), names, parentId: chain[5] })).toEqual({
      code: "invalid_field",
      details: ["body /parentId too_deep"],
      conflict: null,
    });
    const [branch = ""] = await makeChain(3);
    expect(
      await world.refusal(upsertCategory, {
        categoryId: branch,
        slug: fresh("x"),
        names,
        parentId: chain[3],
      }),
    ).toMatchObject({
      details: ["body /parentId too_deep"],
    });
    await make({ categoryId: branch, parentId: chain[2] });
  });

  it("refuses the slug of another category, and a wrong expected version", async () => {
    const slug = fresh("vergeben");
    const owner = await make({ slug });
    const categoryId = await make();
    expect(await world.refusal(upsertCategory, { categoryId, slug, names })).toEqual({
      code: "already_exists",
      details: ["body /slug already_exists"],
      conflict: {
        resource: "category",
        id: owner,
        currentStatus: null,
        currentVersion: 1,
        reason: "slug_taken",
        data: {},
      },
    });
    expect(
      await world.refusal(upsertCategory, { categoryId, slug: fresh("x"), names, expectedVersion: 4 }),
    ).toEqual({
      code: "version_conflict",
      details: [],
      conflict: {
        resource: "category",
        id: categoryId,
        currentStatus: null,
        currentVersion: 1,
        reason: null,
        data: {},
      },
    });
  });

  it("refuses input that is out of bounds", async () => {
    expect(
      await world.refusal(upsertCategory, { slug: "-", names: [{ locale: "de", text: "" }], position: -1 }),
    ).toEqual({
      code: "invalid_field",
      details: ["body /slug pattern_mismatch", "body /names/0/text too_short", "body /position too_small"],
      conflict: null,
    });
  });

  it("does not find categories of another merchant", async () => {
    const foreign = await make({}, world.other);
    expect(
      await world.refusal(upsertCategory, { categoryId: foreign, slug: fresh("x"), names }),
    ).toMatchObject({ code: "resource_not_found" });
    expect(await world.refusal(upsertCategory, { slug: fresh("x"), names, parentId: foreign })).toMatchObject(
      {
        code: "resource_not_found",
        details: ["body /parentId resource_not_found"],
      },
    );
    expect(await world.refusal(deleteCategory, { categoryId: foreign })).toMatchObject({
      code: "resource_not_found",
    });
  });

  it("deletes only categories without products and subcategories", async () => {
    const [parent = "", child = ""] = await makeChain(2);
    const productId = await makeProduct(world, { categoryIds: [child] });
    const conflict = { resource: "category", currentStatus: null, currentVersion: 1 };
    expect(await world.refusal(deleteCategory, { categoryId: parent })).toEqual({
      code: "still_in_use",
      details: [],
      conflict: { ...conflict, id: parent, reason: "has_children", data: { children: 1, products: 0 } },
    });
    expect(await world.refusal(deleteCategory, { categoryId: child })).toEqual({
      code: "still_in_use",
      details: [],
      conflict: { ...conflict, id: child, reason: "has_products", data: { children: 0, products: 1 } },
    });
    await world.run(updateProduct, { productId, categoryIds: [] });
    expect(await world.refusal(deleteCategory, { categoryId: child, expectedVersion: 2 })).toMatchObject({
      code: "version_conflict",
    });
    expect(
      (await countVersionRises(world, "", () => world.run(deleteCategory, { categoryId: child }))).catalog,
    ).toBe(1);
    await world.run(deleteCategory, { categoryId: parent });
    expect(await row(parent)).toBeUndefined();
  });

  it.runIf(engine === "postgres")("two concurrent moves create no cycle", async () => {
    const [one, two] = [await make(), await make()];
    const outcomes = await Promise.allSettled([
      make({ categoryId: one, parentId: two }),
      make({ categoryId: two, parentId: one }),
    ]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(
      outcomes.flatMap((outcome) =>
        outcome.status === "rejected" && outcome.reason instanceof Failure ? [outcome.reason.code] : [],
      ),
    ).toEqual(["invalid_field"]);
  });
});
