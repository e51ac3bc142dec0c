/** The GraphQL types, queries and mutations of merchants' staff accounts. */
import { z } from "zod";
import { generatePassword } from "#access/people/passwords.ts";
import {
  createStaffAccount,
  disableStaffAccount,
  enableStaffAccount,
  findStaffPasswordSalt,
  validateAndHashNewStaffPassword,
  validateStaffFieldsAndHashPassword,
  setStaffPassword,
  setStaffRole,
  buildStaffAccountSqlQuery,
  type StaffRow,
} from "#access/people/staff.ts";
import { isStaffViewer, type StaffRole } from "#access/viewer.ts";
import { createFailure } from "#foundation/failure.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import { type GraphqlContext, getCallerMerchantId, staffCallers } from "#graph/context.ts";
import { accessMutationKind } from "#graph/mutation-kinds.ts";
import { defineMutation } from "#graph/mutation.ts";
import {
  loadGraphqlConnection,
  computeConnectionCost,
  createGraphqlConnectionTypeOptions,
} from "#graph/connections.ts";
import { StaffAccountRef, ViewerRef } from "#graph/refs.ts";

const StaffRoleEnum = defineGraphqlEnum("StaffRole", {
  description: "What a staff member may do at the console.",
  values: {
    admin: "Reads and changes all data of the merchant, and grants access to apps.",
    analyst: "Reads reports and the merchant's data without personal data; changes nothing.",
  } satisfies Record<StaffRole, string>,
});

StaffAccountRef.implement({
  description: "An account of a merchant's staff member, who can sign in and grant access to apps.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The staff account's id, `stf_…`." }),
    merchantId: t.exposeID("merchantId", { description: "The id of the staff member's merchant, `mer_…`." }),
    email: t.expose("email", {
      type: "EmailAddress",
      description: "The e-mail address that the staff member signs in with.",
    }),
    name: t.exposeString("name", { description: "The staff member's name." }),
    role: t.expose("role", { type: StaffRoleEnum, description: "What the staff member may do." }),
    version: t.exposeInt("version", {
      description: "The staff account's version; increases by 1 with every change.",
    }),
    createdAt: t.expose("createdAt", {
      type: "DateTime",
      description: "When the staff account was created.",
    }),
    disabledAt: t.expose("disabledAt", {
      type: "DateTime",
      nullable: true,
      description:
        "When the account was disabled, so that the staff member cannot sign in; null if the account is " +
        "enabled.",
    }),
    lastSignedInAt: t.expose("lastSignedInAt", {
      type: "DateTime",
      nullable: true,
      description: "When the staff member last signed in; null if the staff member never signed in.",
    }),
  }),
});

const newPasswordDescription =
  "The password of the staff account, 12 to 256 characters. If left out, the service generates a password " +
  "and returns it once.";

const StaffCreateInput = builder.inputType("StaffCreateInput", {
  description: "The staff account to create.",
  fields: (t) => ({
    merchantId: t.id({
      description: "The id of the staff member's merchant, `mer_…`; required with a token of the platform.",
    }),
    email: t.field({
      type: "EmailAddress",
      required: true,
      description:
        "The e-mail address to sign in with, 3 to 254 characters; unique among the enabled accounts of " +
        "the merchant.",
      validate: z.string().min(3).max(254),
    }),
    name: t.string({
      required: true,
      description: "The staff member's name, 1 to 200 characters.",
      validate: z.string().trim().min(1).max(200),
    }),
    role: t.field({
      type: StaffRoleEnum,
      defaultValue: "admin",
      description: "What the staff member may do; `ADMIN` by default.",
    }),
    password: t.string({ description: newPasswordDescription }),
  }),
});

const StaffRoleSetInput = builder.inputType("StaffRoleSetInput", {
  description: "The new role of a staff account.",
  fields: (t) => ({
    staffId: t.id({ required: true, description: "The id of the staff account, `stf_…`." }),
    role: t.field({ type: StaffRoleEnum, required: true, description: "What the staff member may do." }),
  }),
});

const StaffDisableInput = builder.inputType("StaffDisableInput", {
  description: "The staff account to disable.",
  fields: (t) => ({
    staffId: t.id({ required: true, description: "The id of the staff account, `stf_…`." }),
  }),
});

const StaffEnableInput = builder.inputType("StaffEnableInput", {
  description: "The disabled staff account to enable.",
  fields: (t) => ({
    staffId: t.id({ required: true, description: "The id of the staff account, `stf_…`." }),
  }),
});

const StaffPasswordSetInput = builder.inputType("StaffPasswordSetInput", {
  description: "The new password of a staff account.",
  fields: (t) => ({
    staffId: t.id({ required: true, description: "The id of the staff account, `stf_…`." }),
    password: t.string({ description: newPasswordDescription }),
    revokeGrants: t.boolean({
      description: "Whether to revoke the OAuth grants that the staff member gave to apps; false by default.",
    }),
  }),
});

interface StaffWithPassword {
  readonly staff: StaffRow;
  readonly password: string | null;
}

const passwordDescription =
  "The generated password, returned only once; null if the request contained the password.";

const StaffCreated = builder.objectRef<StaffWithPassword>("StaffCreated").implement({
  description: "The result of creating a staff account.",
  fields: (t) => ({
    staff: t.expose("staff", { type: StaffAccountRef, description: "The new staff account." }),
    password: t.exposeString("password", { nullable: true, description: passwordDescription }),
  }),
});

const StaffPasswordSet = builder.objectRef<StaffWithPassword>("StaffPasswordSet").implement({
  description: "The result of setting a staff account's password.",
  fields: (t) => ({
    staff: t.expose("staff", { type: StaffAccountRef, description: "The changed staff account." }),
    password: t.exposeString("password", { nullable: true, description: passwordDescription }),
  }),
});

async function loadStaffAccount({ db }: GraphqlContext, id: string): Promise<StaffRow> {
  const account = await buildStaffAccountSqlQuery(db, null).where("id", "=", id).executeTakeFirst();
  if (account === undefined) throw createFailure("resource_not_found");
  return account;
}

interface ChangedStaff {
  readonly staffId: string;
  readonly generated: string | null;
}

const answerWithPassword = async (
  context: GraphqlContext,
  { staffId, generated }: ChangedStaff,
): Promise<StaffWithPassword> => ({
  staff: await loadStaffAccount(context, staffId),
  password: generated,
});

defineMutation({
  ...accessMutationKind,
  name: "staffCreate",
  description:
    "Creates an account for a merchant's staff member, who can then sign in. With the role " +
    "`ADMIN`, the staff member can also grant access to apps.",
  failures: ["missing_field", "merchant_not_found", "already_exists"],
  callers: staffCallers,
  input: StaffCreateInput,
  type: StaffCreated,
  prepare: async ({ email, name, password }, { db }) => {
    const generated = typeof password === "string" ? null : generatePassword();
    const person = { email, name, password: password ?? generated ?? "" };
    const salt = await findStaffPasswordSalt(db, { email });
    return { generated, person: await validateStaffFieldsAndHashPassword(person, salt) };
  },
  run: async (transaction, access, { merchantId, role, prepared: { generated, person } }) => {
    const owner = merchantId ?? access.merchantId;
    if (owner === null)
      throw createFailure("missing_field", {
        message: "`merchantId` is required with a token of the platform.",
      });
    const input = { merchantId: owner, role: role ?? "admin", ...person };
    return { staffId: await createStaffAccount(transaction, access, input), generated };
  },
  answer: answerWithPassword,
});

defineMutation({
  ...accessMutationKind,
  name: "staffPasswordSet",
  description:
    "Sets the password of a staff account and ends its sessions. The account's OAuth grants stay in " +
    "force unless `revokeGrants` is true.",
  failures: ["resource_not_found"],
  callers: staffCallers,
  input: StaffPasswordSetInput,
  type: StaffPasswordSet,
  prepare: async ({ staffId, password }, { db }) => {
    const generated = typeof password === "string" ? null : generatePassword();
    const salt = await findStaffPasswordSalt(db, { staffId });
    return {
      generated,
      passwordHash: await validateAndHashNewStaffPassword(password ?? generated ?? "", salt),
    };
  },
  run: async (transaction, access, { staffId, revokeGrants, prepared: { generated, passwordHash } }) => {
    await setStaffPassword(transaction, access, {
      staffId,
      isRevokingGrants: revokeGrants === true,
      passwordHash,
    });
    return { staffId, generated };
  },
  answer: answerWithPassword,
});

defineMutation({
  ...accessMutationKind,
  name: "staffRoleSet",
  description:
    "Sets the role of a staff account and ends its sessions. OAuth grants that the account gave " +
    "stay in force. If the account already has the role, nothing is changed.",
  failures: ["resource_not_found"],
  callers: staffCallers,
  input: StaffRoleSetInput,
  type: StaffAccountRef,
  run: async (transaction, access, { staffId, role }) => {
    await setStaffRole(transaction, access, { staffId, role });
    return staffId;
  },
  answer: loadStaffAccount,
});

defineMutation({
  ...accessMutationKind,
  name: "staffDisable",
  description:
    "Disables a staff account: its sessions end, the staff member cannot sign in, and the OAuth grants " +
    "that the account gave are revoked.",
  failures: ["resource_not_found"],
  callers: staffCallers,
  input: StaffDisableInput,
  type: StaffAccountRef,
  run: async (transaction, access, { staffId }) => {
    await disableStaffAccount(transaction, access, staffId);
    return staffId;
  },
  answer: loadStaffAccount,
});

defineMutation({
  ...accessMutationKind,
  name: "staffEnable",
  description:
    "Enables a disabled staff account. The staff member can sign in again with the old password. OAuth " +
    "grants that were revoked stay revoked.",
  failures: ["resource_not_found", "already_exists"],
  callers: staffCallers,
  input: StaffEnableInput,
  type: StaffAccountRef,
  run: async (transaction, access, { staffId }) => {
    await enableStaffAccount(transaction, access, staffId);
    return staffId;
  },
  answer: loadStaffAccount,
});

builder.objectField(ViewerRef, "staff", (t) =>
  t.field({
    type: StaffAccountRef,
    nullable: true,
    description:
      "The staff member who is signed in to the console; null if the caller is not a signed-in staff member.",
    resolve: async (viewer, _args, { db }) => {
      if (!isStaffViewer(viewer)) return null;
      const account = buildStaffAccountSqlQuery(db, viewer.merchantId).where("id", "=", viewer.staffId);
      return (await account.executeTakeFirst()) ?? null;
    },
  }),
);

builder.queryFields((t) => ({
  staffAccounts: t.connection(
    {
      type: StaffAccountRef,
      description:
        "The staff accounts of the merchants that the caller may read, oldest first, including disabled " +
        "accounts.",
      complexity: computeConnectionCost,
      authScopes: { callers: staffCallers },
      resolve: (_root, args, context) =>
        loadGraphqlConnection(args, {
          db: context.db,
          query: buildStaffAccountSqlQuery(context.db, getCallerMerchantId(context)),
          column: "staff_account.id",
          cursor: "staff",
        }),
    },
    ...createGraphqlConnectionTypeOptions("StaffAccount", "staff accounts"),
  ),
}));
