/** The GraphQL query and mutation of a merchant's search synonyms. */
import {
  findSearchSynonyms,
  setSearchSynonyms,
  type ProductSearchSynonymList,
  type ProductSearchSynonymRule,
  synonymListBounds,
} from "#commerce/search/synonyms.ts";
import { createFailure } from "#foundation/failure.ts";
import { builder } from "#graph/builder.ts";
import { merchantReaders, resolveMerchantId } from "#graph/context.ts";
import { merchantMutationKind } from "#graph/mutation-kinds.ts";
import { defineMutation } from "#graph/mutation.ts";
import { expectedVersionDescription } from "./inputs.ts";

const termsText =
  `Words or phrases of 1 to ${synonymListBounds.wordsMax} words and at most ` +
  `${synonymListBounds.termMax} characters.`;

const SynonymRuleRef = builder.objectRef<ProductSearchSynonymRule>("SearchSynonymRule").implement({
  description: "Words that the search treats as synonyms.",
  fields: (t) => ({
    terms: t.stringList({
      description: "Words or phrases. Without replacements, a search for one of them also finds all others.",
      resolve: ({ terms }) => [...terms],
    }),
    replacements: t.stringList({
      description:
        "Words or phrases that a search for one of the terms also finds, but not the other way round. " +
        "Empty " +
        "if the terms are equivalent.",
      resolve: ({ replacements }) => [...replacements],
    }),
  }),
});

const SynonymListRef = builder.objectRef<ProductSearchSynonymList>("SearchSynonymList").implement({
  description: "The search synonyms of a merchant in one locale.",
  fields: (t) => ({
    locale: t.expose("locale", {
      type: "LocaleCode",
      description: "The locale of the synonyms, which apply to product texts in the language of the locale.",
    }),
    version: t.exposeInt("version", { description: "The version of the list; grows with every change." }),
    rules: t.field({
      type: [SynonymRuleRef],
      description: "The synonym rules in the order in which the merchant has set them.",
      complexity: { multiplier: 20 },
      resolve: ({ rules }) => [...rules],
    }),
    updatedAt: t.expose("updatedAt", { type: "DateTime", description: "When the list was last changed." }),
  }),
});

const SynonymRuleInput = builder.inputType("SearchSynonymRuleInput", {
  description: "Words that the search treats as synonyms.",
  fields: (t) => ({
    terms: t.stringList({
      required: true,
      description:
        `${termsText} 2 to ${synonymListBounds.termsMax} terms; one term is enough if there are ` +
        "replacements.",
    }),
    replacements: t.stringList({
      description:
        `${termsText} A search for one of the terms also finds the replacements, but not the other ` +
        "way round. " +
        "Without replacements, the terms are equivalent. " +
        `A rule has at most ${synonymListBounds.termsMax} replacements.`,
    }),
  }),
});

const SynonymsSetInputType = builder.inputType("SearchSynonymsSetInput", {
  description:
    "The search synonyms of a merchant in one locale. These rules replace all earlier rules of the locale.",
  fields: (t) => ({
    locale: t.field({
      type: "LocaleCode",
      required: true,
      description: "The locale of the synonyms, which apply to product texts in the language of the locale.",
    }),
    expectedVersion: t.int({
      description: `${expectedVersionDescription} 0 means that the locale has no list of synonyms yet.`,
    }),
    rules: t.field({
      type: [SynonymRuleInput],
      required: true,
      description:
        "The synonym rules; an empty list removes all synonyms of the locale. At most " +
        `${synonymListBounds.rulesMax}.`,
    }),
  }),
});

builder.queryField("searchSynonyms", (t) =>
  t.field({
    type: [SynonymListRef],
    description: "The search synonyms of a merchant, one list for each locale.",
    authScopes: { callers: merchantReaders },
    complexity: { field: 10, multiplier: 5 },
    args: {
      merchantId: t.arg.id({
        description:
          "The id of the merchant, `mer_…`. Required with a platform token; a token of a merchant may " +
          "leave it out.",
      }),
    },
    resolve: (_root, { merchantId }, context) =>
      findSearchSynonyms(context.db, resolveMerchantId(context, merchantId)),
  }),
);

defineMutation({
  ...merchantMutationKind,
  name: "searchSynonymsSet",
  description:
    "Sets the search synonyms of a merchant in one locale and replaces all earlier rules of this locale. " +
    "To " +
    "import rules, send them all; `searchSynonyms` exports them. Searches use the new rules at once.",
  failures: ["version_conflict"],
  input: SynonymsSetInputType,
  type: SynonymListRef,
  run: async (transaction, context, input) => ({
    merchantId: context.merchantId,
    ...(await setSearchSynonyms(transaction, context, input)),
  }),
  answer: async ({ db }, { merchantId, locale }) => {
    const list = (await findSearchSynonyms(db, merchantId)).find((found) => found.locale === locale);
    if (list === undefined) throw createFailure("resource_not_found");
    return list;
  },
});
