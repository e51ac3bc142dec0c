/** The GraphQL mutations of merchants, apps and installations. */
import type { Transaction } from "#database/transaction.ts";
import { z } from "zod";
import { updateInstallation, registerApp, createInstallation } from "#access/installations.ts";
import { createMerchant, updateMerchant } from "#access/merchants.ts";
import { reindexProductsOfMerchant } from "#commerce/search/index-products.ts";
import { builder } from "#graph/builder.ts";
import { type GraphqlContext, platformOperators, staffCallers } from "#graph/context.ts";
import { accessMutationKind, type AccessMutationContext } from "#graph/mutation-kinds.ts";
import { defineMutation, reloadChangedRow } from "#graph/mutation.ts";
import { expectedVersionDescription } from "#graph/catalog/inputs.ts";
import { ModeEnum, ScopeEnum } from "./identity.ts";
import { AppRef, InstallationRef, MerchantRef } from "#graph/refs.ts";

const name = z.string().trim().min(1).max(200);

const MerchantCreateInput = builder.inputType("MerchantCreateInput", {
  description: "The merchant to create.",
  fields: (t) => ({
    slug: t.field({
      type: "Slug",
      required: true,
      description: "The merchant's name in URLs; unique among all merchants.",
    }),
    name: t.string({
      required: true,
      description: "The merchant's name, 1 to 200 characters.",
      validate: name,
    }),
    mode: t.field({
      type: ModeEnum,
      required: true,
      description: "Whether the merchant handles real payments; cannot be changed later.",
    }),
    defaultLocale: t.field({
      type: "LocaleCode",
      required: true,
      description: "The locale whose texts the service uses if there are no texts in the requested locale.",
    }),
    defaultMarket: t.field({
      type: "CountryCode",
      required: true,
      description: "The country whose prices are used if a request names no country.",
    }),
  }),
});

const MerchantUpdateInput = builder.inputType("MerchantUpdateInput", {
  description: "The changes of a merchant. Omitted fields stay unchanged.",
  fields: (t) => ({
    merchantId: t.id({ required: true, description: "The id of the merchant to change, `mer_…`." }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    name: t.string({ description: "The merchant's new name, 1 to 200 characters.", validate: name }),
    defaultLocale: t.field({
      type: "LocaleCode",
      description: "The locale whose texts the service uses if there are no texts in the requested locale.",
    }),
    defaultMarket: t.field({
      type: "CountryCode",
      description: "The country whose prices are used if a request names no country.",
    }),
  }),
});

const MerchantTransitionInput = builder.inputType("MerchantTransitionInput", {
  description: "The merchant to suspend or resume.",
  fields: (t) => ({
    merchantId: t.id({ required: true, description: "The id of the merchant, `mer_…`." }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
  }),
});

const AppCreateInput = builder.inputType("AppCreateInput", {
  description: "The app to register.",
  fields: (t) => ({
    name: t.string({ required: true, description: "The app's name, 1 to 200 characters.", validate: name }),
    publisher: t.string({
      description: "The company or person that publishes the app, 1 to 200 characters. Optional.",
      validate: name,
    }),
  }),
});

const InstallationCreateInput = builder.inputType("InstallationCreateInput", {
  description: "The installation of an app with a merchant.",
  fields: (t) => ({
    merchantId: t.id({ required: true, description: "The id of the merchant, `mer_…`." }),
    appId: t.id({
      required: true,
      description: "The id of the app to install, `app_…`. An app can be installed once per merchant.",
    }),
    scopes: t.field({
      type: [ScopeEnum],
      required: true,
      description: "The scopes that the app gets with this merchant.",
    }),
  }),
});

const InstallationScopesSetInput = builder.inputType("InstallationScopesSetInput", {
  description:
    "The new scopes of an installation. Its API keys and OAuth grants lose the scopes that are not in the " +
    "list.",
  fields: (t) => ({
    installationId: t.id({ required: true, description: "The id of the installation, `ins_…`." }),
    scopes: t.field({
      type: [ScopeEnum],
      required: true,
      description: "The scopes that replace the installation's current scopes.",
    }),
  }),
});

const InstallationTransitionInput = builder.inputType("InstallationTransitionInput", {
  description: "The installation to suspend, resume or uninstall.",
  fields: (t) => ({
    installationId: t.id({ required: true, description: "The id of the installation, `ins_…`." }),
  }),
});

const loadMerchant = ({ loaders }: GraphqlContext, id: string) => reloadChangedRow(loaders.merchants, id);
const loadInstallation = ({ loaders }: GraphqlContext, id: string) =>
  reloadChangedRow(loaders.installations, id);
defineMutation({
  ...accessMutationKind,
  name: "merchantCreate",
  description: "Creates a merchant.",
  failures: ["already_exists"],
  callers: platformOperators,
  input: MerchantCreateInput,
  type: MerchantRef,
  run: createMerchant,
  answer: loadMerchant,
});

defineMutation({
  ...accessMutationKind,
  name: "merchantUpdate",
  description: "Changes a merchant.",
  failures: ["merchant_not_found", "version_conflict"],
  callers: staffCallers,
  input: MerchantUpdateInput,
  type: MerchantRef,
  run: async (transaction, access, input) => {
    await updateMerchant(transaction, access, input);
    // The search index contains product texts in the merchant's default locale, so a new default locale
    // requires a new index.
    if (typeof input.defaultLocale === "string")
      await reindexProductsOfMerchant(transaction, {
        merchantId: input.merchantId,
        onlyMissing: false,
        now: access.now,
      });
    return input.merchantId;
  },
  answer: loadMerchant,
});

/** A function that changes a merchant, an app or an installation, and returns the id of the changed object. */
type AccessCommand<Input> = (
  transaction: Transaction,
  access: AccessMutationContext,
  input: Input,
) => Promise<string>;

type MerchantTransition = (typeof MerchantTransitionInput)["$inferInput"];

const setMerchantStatus =
  (status: "active" | "suspended"): AccessCommand<MerchantTransition> =>
  async (transaction, access, input) => {
    await updateMerchant(transaction, access, { ...input, status });
    if (status === "active")
      await reindexProductsOfMerchant(transaction, {
        merchantId: input.merchantId,
        onlyMissing: true,
        now: access.now,
      });
    return input.merchantId;
  };

defineMutation({
  ...accessMutationKind,
  name: "merchantSuspend",
  description: "Suspends a merchant: all its credentials are refused at once and its products are hidden.",
  failures: ["merchant_not_found", "version_conflict"],
  callers: platformOperators,
  input: MerchantTransitionInput,
  type: MerchantRef,
  run: setMerchantStatus("suspended"),
  answer: loadMerchant,
});
defineMutation({
  ...accessMutationKind,
  name: "merchantResume",
  description: "Resumes a suspended merchant: its credentials work and its products are visible again.",
  failures: ["merchant_not_found", "version_conflict"],
  callers: platformOperators,
  input: MerchantTransitionInput,
  type: MerchantRef,
  run: setMerchantStatus("active"),
  answer: loadMerchant,
});

defineMutation({
  ...accessMutationKind,
  name: "appCreate",
  description: "Registers an app.",
  callers: platformOperators,
  input: AppCreateInput,
  type: AppRef,
  run: (transaction, access, { name: appName, publisher }) =>
    registerApp(transaction, access, { name: appName, publisher: publisher ?? null }),
  answer: ({ loaders }, id) => reloadChangedRow(loaders.apps, id),
});

defineMutation({
  ...accessMutationKind,
  name: "installationCreate",
  description: "Installs an app with a merchant and gives the app its scopes.",
  failures: ["merchant_not_found", "resource_not_found", "already_exists"],
  callers: staffCallers,
  input: InstallationCreateInput,
  type: InstallationRef,
  run: createInstallation,
  answer: loadInstallation,
});

defineMutation({
  ...accessMutationKind,
  name: "installationScopesSet",
  description:
    "Replaces the scopes of an installation. The new scopes apply to the installation's credentials at once.",
  failures: ["resource_not_found", "invalid_state"],
  callers: staffCallers,
  input: InstallationScopesSetInput,
  type: InstallationRef,
  run: async (transaction, access, input) => {
    access.publish(await updateInstallation(transaction, access, input));
    return input.installationId;
  },
  answer: loadInstallation,
});

type InstallationTransition = (typeof InstallationTransitionInput)["$inferInput"];

const setInstallationStatus =
  (status: "active" | "suspended" | "uninstalled"): AccessCommand<InstallationTransition> =>
  async (transaction, access, { installationId }) => {
    access.publish(await updateInstallation(transaction, access, { installationId, status }));
    return installationId;
  };

const transitions = [
  [
    "installationSuspend",
    "Suspends an installation: its credentials are refused until the installation is resumed.",
    "suspended",
  ],
  ["installationResume", "Resumes a suspended installation: its credentials work again.", "active"],
  [
    "installationUninstall",
    "Uninstalls an app from a merchant permanently and revokes its API keys and OAuth grants.",
    "uninstalled",
  ],
] as const;

for (const [field, description, status] of transitions) {
  defineMutation({
    ...accessMutationKind,
    name: field,
    description,
    failures: ["resource_not_found", "invalid_state"],
    callers: staffCallers,
    input: InstallationTransitionInput,
    type: InstallationRef,
    run: setInstallationStatus(status),
    answer: loadInstallation,
  });
}
