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
import { merchantReaders, resolveMerchantIdOfRequest } from "#graph/context.ts";
import { merchantMutationKind } from "#graph/mutation-kinds.ts";
import { defineMutation } from "#graph/mutation.ts";
import { expectedVersionDescription } from "./inputs.ts";

const termsText =
  `words or phrases of 1 to ${synonymListBounds.wordsMax} words and at most ` +
  `${synonymListBounds.termMax} characters.`;

const SynonymRuleRef = builder.objectRef<ProductSearchSynonymRule>("SearchSynonymRule").implement({
  description: "Words or phrases that the product search treats as synonyms.",
  fields: (t) => ({
    terms: t.stringList({
      description:
        "The words or phrases for which the rule applies. If the rule has no replacements, a search for " +
        "one term also finds all other terms.",
      resolve: ({ terms }) => [...terms],
    }),
    replacements: t.stringList({
      description:
        "The words or phrases that a search for one of the rule's terms also finds. A search for a " +
        "replacement does not find the terms. Empty if a search for one term finds all other terms.",
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
    version: t.exposeInt("version", {
      description: "The version of the list of synonyms; increases with every change.",
    }),
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
  description: "Words or phrases that the product search treats as synonyms.",
  fields: (t) => ({
    terms: t.stringList({
      required: true,
      description:
        `The terms of the synonym rule: 2 to ${synonymListBounds.termsMax} ${termsText} If the rule has ` +
        "replacements, one term is enough.",
    }),
    replacements: t.stringList({
      description:
        `The replacements of the synonym rule: at most ${synonymListBounds.termsMax} ${termsText} A search ` +
        "for a term of the rule also finds the replacements, but a search for a replacement does not find " +
        "the terms. If a rule has no replacements, a search for one term also finds all other terms.",
    }),
  }),
});

const SynonymsSetInputType = builder.inputType("SearchSynonymsSetInput", {
  description:
    "The search synonyms of a merchant in one locale. The rules in this input replace all earlier rules of " +
    "the locale.",
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
        `The synonym rules, at most ${synonymListBounds.rulesMax}; an empty list removes all synonyms of ` +
        "the locale.",
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
          "The id of the merchant, `mer_…`. Required with a token of the platform; a token of a merchant " +
          "may leave it out.",
      }),
    },
    resolve: (_root, { merchantId }, context) =>
      findSearchSynonyms(context.db, resolveMerchantIdOfRequest(context, merchantId)),
  }),
);

defineMutation({
  ...merchantMutationKind,
  name: "searchSynonymsSet",
  description:
    "Sets the search synonyms of a merchant in one locale and replaces all earlier rules of this locale, " +
    "so a caller must send all rules. `searchSynonyms` returns the present rules. Searches use the new " +
    "rules at once.",
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
