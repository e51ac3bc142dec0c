/** Promotion codes: generated so that they cannot be guessed, or given by the merchant; unique per merchant. */
import { beforeAll, expect, it } from "vitest";
import { normalizePromotionCode } from "#commerce/promotions/choose-promotions.ts";
import { endPromotion } from "#commerce/promotions/promotion-status.ts";
import {
  generatePromotionCodes,
  type GeneratePromotionCodesInput,
} from "#commerce/promotions/generate-codes.ts";
import { Failure } from "#foundation/failure.ts";
import { isIdOfKind } from "#foundation/ids.ts";
import { describeOnPostgres } from "#test/support/databases.ts";
import { createWorld, fresh, startOfWorld, type World } from "#test/commerce/writes-world.ts";
import { makePromotion, promotionRow } from "./promotions-world.ts";

describeOnPostgres("codes of promotions", (open, engine) => {
  let world: World;
  let promotionId: string;
  beforeAll(async () => {
    world = await createWorld(open);
    promotionId = await makePromotion(world, { trigger: "code" });
  });

  const generate = (input: Omit<GeneratePromotionCodesInput, "promotionId">) =>
    world.run(generatePromotionCodes, { promotionId, ...input });
  const refused = (input: Omit<GeneratePromotionCodesInput, "promotionId">) =>
    world.refusal(generatePromotionCodes, { promotionId, ...input });

  it("generates the requested number of different codes without similar-looking characters", async () => {
    const { codes } = await generate({ count: 1000 });
    expect(new Set(codes.map(({ codeNormalized }) => codeNormalized)).size).toBe(1000);
    for (const { code, codeNormalized } of codes) {
      expect(code).toMatch(/^[3479CDFGHJKMNPQRTWXY]{12}$/);
      expect(codeNormalized).toBe(normalizePromotionCode(code));
    }
    // Every character is expected about 600 times in 12 000; 400 is eight standard deviations below.
    for (const sign of "3479CDFGHJKMNPQRTWXY")
      expect(
        codes
          .map(({ code }) => code)
          .join("")
          .split(sign).length,
        sign,
      ).toBeGreaterThan(400);
  });

  it("adds the prefix and gives each code a separate limit", async () => {
    const { codes } = await generate({ count: 3, prefix: "Spring-", length: 8, usageLimit: 1 });
    expect(codes).toHaveLength(3);
    for (const { code, ...row } of codes) {
      expect(code).toMatch(/^Spring-[3479CDFGHJKMNPQRTWXY]{8}$/);
      expect(isIdOfKind("promotionCode", row.id)).toBe(true);
      expect(row).toEqual({
        id: row.id,
        merchantId: "mer_one",
        promotionId,
        codeNormalized: code.toLowerCase(),
        usageLimit: 1,
        used: 0,
        createdAt: startOfWorld,
      });
    }
  });

  it("keeps given codes as written and in order, without surrounding spaces", async () => {
    const stem = fresh("code");
    const { codes } = await generate({ codes: [` Zulu-${stem} `, `alpha_${stem}`, `Straße${stem}`] });
    expect(codes.map(({ code, codeNormalized, usageLimit }) => [code, codeNormalized, usageLimit])).toEqual([
      [`Zulu-${stem}`, `zulu-${stem}`, null],
      [`alpha_${stem}`, `alpha_${stem}`, null],
      [`Straße${stem}`, `strasse${stem}`, null],
    ]);
  });

  it("does not change the promotion's version, because codes are separate rows", async () => {
    expect(await promotionRow(world, promotionId)).toMatchObject({ version: 1, updatedAt: startOfWorld });
    expect(world.takeEvents()).toEqual([]);
  });

  const faults: [string, Omit<GeneratePromotionCodesInput, "promotionId">, string[]][] = [
    ["neither a count nor codes", {}, ["/count required"]],
    ["both", { count: 1, codes: ["A"] }, ["/count not_allowed"]],
    [
      "codes with a prefix and a length",
      { codes: ["A"], prefix: "P", length: 9 },
      ["/prefix not_allowed", "/length not_allowed"],
    ],
    ["none", { count: 0, usageLimit: 0 }, ["/count too_small", "/usageLimit too_small"]],
    ["too many", { count: 1001 }, ["/count too_large"]],
    ["an empty list", { codes: [] }, ["/codes too_short"]],
    [
      "a list that is too long",
      { codes: Array.from({ length: 1001 }, (_, index) => `C${index}`) },
      ["/codes too_long"],
    ],
    ["codes that can be guessed", { count: 1, length: 7 }, ["/length too_small"]],
    ["codes that are too long to type", { count: 1, length: 33 }, ["/length too_large"]],
    ["a prefix that begins with a hyphen", { count: 1, prefix: "-A" }, ["/prefix pattern_mismatch"]],
    ["an empty prefix", { count: 1, prefix: "" }, ["/prefix pattern_mismatch"]],
    ["a prefix with space around", { count: 1, prefix: " A" }, ["/prefix pattern_mismatch"]],
    ["a prefix that is too long", { count: 1, prefix: "A".repeat(21) }, ["/prefix pattern_mismatch"]],
    ["a prefix that grows too long", { count: 1, prefix: "\ufdfa".repeat(2) }, ["/prefix pattern_mismatch"]],
    [
      "codes that are none",
      { codes: ["A B", "", "\u0000", "x".repeat(65)] },
      [0, 1, 2, 3].map((index) => `/codes/${index} pattern_mismatch`),
    ],
    ["a code that is too long as written", { codes: ["e\u0301".repeat(33)] }, ["/codes/0 pattern_mismatch"]],
    [
      "a code that stands there twice, written differently",
      { codes: ["SOMMER", "x1", " sommer"] },
      ["/codes/2 duplicate"],
    ],
  ];

  it.each(faults)("generating codes is refused for %s", async (_name, input, details) => {
    expect(await refused(input)).toEqual({
      code: "invalid_field",
      details: details.map((detail) => `body ${detail}`),
      conflict: null,
    });
  });

  it("accepts a code of the maximum length", async () => {
    const { codes } = await generate({ codes: ["ä".repeat(64)] });
    expect(codes.map(({ code }) => code)).toEqual(["ä".repeat(64)]);
    expect((await generate({ count: 1, prefix: "P".repeat(20), length: 32 })).codes).toHaveLength(1);
  });

  it("refuses codes that the merchant already has in any promotion, and names them", async () => {
    const stem = fresh("taken");
    await generate({ codes: [`${stem}-A`, `${stem}-B`] });
    const another = await makePromotion(world, { trigger: "code" });
    const input = { promotionId: another, codes: [`${stem}-a`, `${stem}-new`, `${stem}-b`.toUpperCase()] };
    expect(await world.refusal(generatePromotionCodes, input)).toEqual({
      code: "already_exists",
      details: ["body /codes/0 already_exists", "body /codes/2 already_exists"],
      conflict: {
        resource: "promotion_code",
        id: null,
        currentStatus: null,
        currentVersion: null,
        reason: "code_taken",
        data: { codes: [`${stem}-a`, `${stem}-b`.toUpperCase()] },
      },
    });
  });

  it("allows the same code for another merchant", async () => {
    const code = fresh("shared");
    await generate({ codes: [code] });
    const theirs = await makePromotion(world, { trigger: "code" }, world.other);
    expect(
      (await world.run(generatePromotionCodes, { promotionId: theirs, codes: [code] }, world.other)).codes,
    ).toHaveLength(1);
  });

  it("refuses automatic promotions, ended promotions, and those of another merchant", async () => {
    const automatic = await makePromotion(world);
    const conflict = { resource: "promotion", currentVersion: 1, data: {} };
    expect(await world.refusal(generatePromotionCodes, { promotionId: automatic, count: 1 })).toEqual({
      code: "invalid_state",
      details: [],
      conflict: { ...conflict, id: automatic, currentStatus: "draft", reason: "promotion_is_automatic" },
    });
    const ended = await makePromotion(world, { trigger: "code" });
    await world.run(endPromotion, { promotionId: ended });
    expect(await world.refusal(generatePromotionCodes, { promotionId: ended, count: 1 })).toEqual({
      code: "invalid_state",
      details: [],
      conflict: {
        ...conflict,
        id: ended,
        currentStatus: "ended",
        currentVersion: 2,
        reason: "promotion_ended",
      },
    });
    const theirs = await makePromotion(world, { trigger: "code" }, world.other);
    expect(await world.refusal(generatePromotionCodes, { promotionId: theirs, count: 1 })).toEqual({
      code: "resource_not_found",
      details: [],
      conflict: null,
    });
  });

  it.runIf(engine === "postgres")(
    "creates a code in only one of two promotions that add it at the same time",
    async () => {
      const stem = fresh("race");
      const codes = Array.from({ length: 1000 }, (_, index) => `${stem}-${index}`);
      const promotions = [
        await makePromotion(world, { trigger: "code" }),
        await makePromotion(world, { trigger: "code" }),
      ];
      const bothReady = barrier(2);
      // Calls without the retry of `runInTransaction`, so that a deadlock fails the test.
      const outcomes = await Promise.allSettled(
        [codes, codes.toReversed()].map((wanted, index) =>
          world.db.transaction().execute(async (transaction) => {
            await bothReady();
            return generatePromotionCodes(transaction, world.context, {
              promotionId: promotions[index] ?? "",
              codes: wanted,
            });
          }),
        ),
      );
      expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
      const reason: unknown = outcomes.find(({ status }) => status === "rejected")?.["reason" as never];
      expect(reason instanceof Failure ? reason.code : reason).toBe("already_exists");
    },
  );
});

/** Blocks all callers until `count` of them have arrived. */
function barrier(count: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let waiting = 0;
  return () => {
    waiting += 1;
    if (waiting === count) resolve();
    return promise;
  };
}
