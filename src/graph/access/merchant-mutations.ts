/** Letting in and shutting out: merchants, apps and installations. */
import type { Transaction } from "#database/transaction.ts";
import { z } from "zod";
import { changeInstallation, registerApp, createInstallation } from "#access/installations.ts";
import { createMerchant, updateMerchant } from "#access/merchants.ts";
import { reindexMerchant } from "#commerce/search/index-products.ts";
import { builder } from "#graph/builder.ts";
import { type GraphContext, platform, staff } from "#graph/context.ts";
import { accessChange, type AccessContext } from "#graph/change-kinds.ts";
import { changeMutation, loadAnew } from "#graph/mutation.ts";
import { expectedVersionDescription } from "#graph/catalog/inputs.ts";
import { ModeEnum, ScopeEnum } from "./identity.ts";
import { AppRef, InstallationRef, MerchantRef } from "#graph/refs.ts";

const name = z.string().trim().min(1).max(200);

const MerchantCreateInput = builder.inputType("MerchantCreateInput", {
  description: "A new merchant.",
  fields: (t) => ({
    slug: t.field({ type: "Slug", required: true, description: "Its name in addresses, unique." }),
    name: t.string({ required: true, description: "Its name.", validate: name }),
    mode: t.field({ type: ModeEnum, required: true, description: "Whether real money moves; fixed." }),
    defaultLocale: t.field({
      type: "LocaleCode",
      required: true,
      description: "The locale that texts fall back to.",
    }),
    defaultMarket: t.field({
      type: "CountryCode",
      required: true,
      description: "The country whose prices are shown where none is asked for.",
    }),
  }),
});

const MerchantUpdateInput = builder.inputType("MerchantUpdateInput", {
  description: "What shall change of a merchant; what is left out stays.",
  fields: (t) => ({
    merchantId: t.id({ required: true, description: "The merchant." }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
    name: t.string({ description: "Its name.", validate: name }),
    defaultLocale: t.field({ type: "LocaleCode", description: "The locale that texts fall back to." }),
    defaultMarket: t.field({
      type: "CountryCode",
      description: "The country whose prices are shown where none is asked for.",
    }),
  }),
});

const MerchantTransitionInput = builder.inputType("MerchantTransitionInput", {
  description: "A merchant and what the caller knows of it.",
  fields: (t) => ({
    merchantId: t.id({ required: true, description: "The merchant." }),
    expectedVersion: t.int({ description: expectedVersionDescription }),
  }),
});

const AppCreateInput = builder.inputType("AppCreateInput", {
  description: "A new app.",
  fields: (t) => ({
    name: t.string({ required: true, description: "Its name.", validate: name }),
    publisher: t.string({ description: "Who makes it.", validate: name }),
  }),
});

const InstallationCreateInput = builder.inputType("InstallationCreateInput", {
  description: "An app that a merchant lets in.",
  fields: (t) => ({
    merchantId: t.id({ required: true, description: "The merchant." }),
    appId: t.id({ required: true, description: "The app; it can be installed once." }),
    scopes: t.field({ type: [ScopeEnum], required: true, description: "What it may do." }),
  }),
});

const InstallationScopesSetInput = builder.inputType("InstallationScopesSetInput", {
  description: "What an installation may do from now on. Its keys may do what is in both lists.",
  fields: (t) => ({
    installationId: t.id({ required: true, description: "The installation." }),
    scopes: t.field({ type: [ScopeEnum], required: true, description: "What it may do." }),
  }),
});

const InstallationTransitionInput = builder.inputType("InstallationTransitionInput", {
  description: "An installation.",
  fields: (t) => ({ installationId: t.id({ required: true, description: "The installation." }) }),
});

const merchantOf = ({ loaders }: GraphContext, id: string) => loadAnew(loaders.merchants, id);
const installationOf = ({ loaders }: GraphContext, id: string) => loadAnew(loaders.installations, id);
changeMutation({
  ...accessChange,
  name: "merchantCreate",
  description: "Makes a merchant.",
  callers: platform,
  input: MerchantCreateInput,
  type: MerchantRef,
  run: createMerchant,
  answer: merchantOf,
});

changeMutation({
  ...accessChange,
  name: "merchantUpdate",
  description: "Changes a merchant.",
  callers: staff,
  input: MerchantUpdateInput,
  type: MerchantRef,
  run: async (transaction, access, input) => {
    await updateMerchant(transaction, access, input);
    // The locale that products fall back to stands in the index.
    if (typeof input.defaultLocale === "string")
      await reindexMerchant(transaction, {
        merchantId: input.merchantId,
        onlyMissing: false,
        now: access.now,
      });
    return input.merchantId;
  },
  answer: merchantOf,
});

/** Gives the id of what was changed. */
type AccessCommand<Input> = (
  transaction: Transaction,
  access: AccessContext,
  input: Input,
) => Promise<string>;

type MerchantTransition = (typeof MerchantTransitionInput)["$inferInput"];

const setMerchantStatus =
  (status: "active" | "suspended"): AccessCommand<MerchantTransition> =>
  async (transaction, access, input) => {
    await updateMerchant(transaction, access, { ...input, status });
    if (status === "active")
      await reindexMerchant(transaction, {
        merchantId: input.merchantId,
        onlyMissing: true,
        now: access.now,
      });
    return input.merchantId;
  };

changeMutation({
  ...accessChange,
  name: "merchantSuspend",
  description: "Cuts all credentials of a merchant at once and hides its products.",
  callers: platform,
  input: MerchantTransitionInput,
  type: MerchantRef,
  run: setMerchantStatus("suspended"),
  answer: merchantOf,
});
changeMutation({
  ...accessChange,
  name: "merchantResume",
  description: "Opens a suspended merchant again.",
  callers: platform,
  input: MerchantTransitionInput,
  type: MerchantRef,
  run: setMerchantStatus("active"),
  answer: merchantOf,
});

changeMutation({
  ...accessChange,
  name: "appCreate",
  description: "Registers an app.",
  callers: platform,
  input: AppCreateInput,
  type: AppRef,
  run: (transaction, access, { name: appName, publisher }) =>
    registerApp(transaction, access, { name: appName, publisher: publisher ?? null }),
  answer: ({ loaders }, id) => loadAnew(loaders.apps, id),
});

changeMutation({
  ...accessChange,
  name: "installationCreate",
  description: "Lets an app in.",
  callers: staff,
  input: InstallationCreateInput,
  type: InstallationRef,
  run: createInstallation,
  answer: installationOf,
});

changeMutation({
  ...accessChange,
  name: "installationScopesSet",
  description: "Sets what an installation may do; felt by its keys at once.",
  callers: staff,
  input: InstallationScopesSetInput,
  type: InstallationRef,
  run: async (transaction, access, input) => {
    access.publish(await changeInstallation(transaction, access, input));
    return input.installationId;
  },
  answer: installationOf,
});

type InstallationTransition = (typeof InstallationTransitionInput)["$inferInput"];

const setInstallationStatus =
  (status: "active" | "suspended" | "uninstalled"): AccessCommand<InstallationTransition> =>
  async (transaction, access, { installationId }) => {
    access.publish(await changeInstallation(transaction, access, { installationId, status }));
    return installationId;
  };

const transitions = [
  ["installationSuspend", "Cuts an installation's credentials until it is resumed.", "suspended"],
  ["installationResume", "Lets a suspended installation call again.", "active"],
  ["installationUninstall", "Ends an installation for good and revokes its keys.", "uninstalled"],
] as const;

for (const [field, description, status] of transitions) {
  changeMutation({
    ...accessChange,
    name: field,
    description,
    callers: staff,
    input: InstallationTransitionInput,
    type: InstallationRef,
    run: setInstallationStatus(status),
    answer: installationOf,
  });
}
