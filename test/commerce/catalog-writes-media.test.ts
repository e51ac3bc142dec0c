/** Images and videos of a product: only safe addresses, in the order that the merchant gave. */
import { beforeAll, describe, expect, it } from "vitest";
import {
  attachProductMedia,
  isAllowedProductMediaUrl,
  removeProductMedia,
} from "#commerce/catalog/product-media.ts";
import { upsertVariant } from "#commerce/catalog/change-variants.ts";
import { describeOnBoth } from "#test/support/databases.ts";
import {
  createWorld,
  fresh,
  makeProduct,
  makePublished,
  countVersionRises,
  type World,
} from "./writes-world.ts";

describeOnBoth("media", (open) => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld(open);
  });

  const variantRow = (id: string) =>
    world.db.selectFrom("variant").selectAll().where("id", "=", id).executeTakeFirst();

  const order = async (productId: string) =>
    (
      await world.db
        .selectFrom("media")
        .select(["url", "position"])
        .where("productId", "=", productId)
        .orderBy("position")
        .execute()
    ).map(({ url, position }) => `${position} ${url}`);

  describe("mediaAttach and mediaRemove", () => {
    const image = {
      type: "image",
      alts: [{ locale: "de", text: "Von vorn" }],
      width: 800,
      height: 600,
    } as const;

    it("inserts media at the end or at a position, and removes them", async () => {
      const { productId, variantId } = await makePublished(world);
      const first = await world.run(attachProductMedia, {
        productId,
        ...image,
        url: "https://cdn.example/1.jpg",
      });
      await world.run(attachProductMedia, { productId, ...image, url: "/media/2.webp" });
      const rises = await countVersionRises(world, productId, () =>
        world.run(attachProductMedia, { productId, ...image, url: "/media/0.webp", position: 0 }),
      );
      expect(rises).toEqual({ product: 1, catalog: 1 });
      expect(await order(productId)).toEqual([
        "0 /media/0.webp",
        "1 https://cdn.example/1.jpg",
        "2 /media/2.webp",
      ]);
      const sku = fresh("M");
      await world.run(upsertVariant, { productId, variantId, sku, options: [], mediaId: first.mediaId });
      world.takeIndexed();
      await world.run(removeProductMedia, { productId, mediaId: first.mediaId });
      expect(world.takeIndexed()).toEqual([[productId]]);
      expect(await order(productId)).toEqual(["0 /media/0.webp", "2 /media/2.webp"]);
      expect(await variantRow(variantId)).toMatchObject({ mediaId: null });
    });

    it("refuses addresses that are neither https nor of this service, and sizes of zero", async () => {
      const productId = await makeProduct(world);
      expect(
        await world.refusal(attachProductMedia, {
          productId,
          ...image,
          url: "http://cdn.example/1.jpg",
          width: 0,
          height: 1.5,
        }),
      ).toEqual({
        code: "invalid_field",
        details: ["body /url pattern_mismatch", "body /width too_small", "body /height wrong_type"],
        conflict: null,
      });
    });

    it("refuses the 51st medium", async () => {
      const productId = await makeProduct(world);
      await world.db
        .insertInto("media")
        .values(
          Array.from({ length: 50 }, (_, position) => ({
            id: fresh("med"),
            merchantId: "mer_one",
            productId,
            type: "image" as const,
            url: "/media/x",
            alts: "{}",
            width: 1,
            height: 1,
            position,
          })),
        )
        .execute();
      expect(await world.refusal(attachProductMedia, { productId, ...image, url: "/media/y" })).toMatchObject(
        {
          code: "invalid_state",
          conflict: { reason: "media_limit_reached", data: { limit: 50 } },
        },
      );
    });

    it("does not find media of another product", async () => {
      const productId = await makeProduct(world);
      const { mediaId } = await world.run(attachProductMedia, { productId, ...image, url: "/media/a" });
      expect(
        await world.refusal(removeProductMedia, { productId: await makeProduct(world), mediaId }),
      ).toMatchObject({ code: "resource_not_found" });
      expect(await world.refusal(removeProductMedia, { productId, mediaId: "med_\u0000" })).toMatchObject({
        code: "resource_not_found",
      });
      expect(await world.refusal(removeProductMedia, { productId, mediaId }, world.other)).toMatchObject({
        code: "product_not_found",
      });
    });
  });
});

describe("media addresses", () => {
  it.each(["https://cdn.example/a.jpg?w=1", "/media/a.jpg", "/media/2026/03/a-b_c.webp"])(
    "accept %s",
    (url) => expect(isAllowedProductMediaUrl(url)).toBe(true),
  );
  it.each([
    "http://cdn.example/a.jpg",
    "//cdn.example/a.jpg",
    "/media",
    "/media/",
    "/media//a",
    "/media/../secret",
    "/media/%2e%2e/a",
    "/mediaa/x",
    "/media/a?b",
    "javascript:alert(1)",
    "data:image/png;base64,AA",
    "https://user:secret@cdn.example/a.jpg",
    "https://cdn.example/a b.jpg",
    `https://cdn.example/${"a".repeat(2048)}`,
    "",
  ])("refuse %j", (url) => expect(isAllowedProductMediaUrl(url)).toBe(false));
});
