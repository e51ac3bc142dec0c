/**
 * The GraphQL types, queries and mutations of trusted documents: registering, listing and removing the
 * documents of a merchant.
 */
import { setImmediate } from "node:timers/promises";
import {
  type TrustedDocumentChecker,
  hashGraphqlDocumentText,
  type NewTrustedDocument,
  registerTrustedDocuments,
  removeTrustedDocument,
  buildTrustedDocumentSqlQuery,
  trustedDocumentLimits,
  type TrustedDocumentRow,
} from "#access/trusted-documents.ts";
import { createFailure, type FailureDetail } from "#foundation/failure.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import {
  computeConnectionCost,
  createGraphqlConnectionTypeOptions,
  loadGraphqlConnection,
} from "#graph/connections.ts";
import { resolveMerchantIdOfRequest, staffCallers } from "#graph/context.ts";
import { merchantMutationKind } from "#graph/mutation-kinds.ts";
import { defineMutation } from "#graph/mutation.ts";

const { lengthMax, perCallMax, perMerchantMax } = trustedDocumentLimits;

const OperationKindEnum = defineGraphqlEnum("TrustedDocumentOperation", {
  description: "The kind of a trusted document's operation.",
  values: {
    query: "The document reads data. It can be run with GET and with POST.",
    mutation: "The document changes data. It can be run only with POST.",
    subscription: "The document follows changes. It can be run only with POST.",
  },
});

const TrustedDocument = builder.objectRef<TrustedDocumentRow>("TrustedDocument").implement({
  description:
    "A GraphQL document that a merchant has registered, so that requests can send the document's hash in " +
    "place of its text.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The trusted document's id, `tdc_…`." }),
    sha256: t.exposeString("sha256", {
      description:
        "The SHA-256 hash of the document in UTF-8, 64 lower-case hexadecimal digits. A request names the " +
        'document with `documentId: "sha256:…"`.',
    }),
    name: t.exposeString("name", { description: "The name of the document's operation." }),
    operation: t.expose("operation", {
      type: OperationKindEnum,
      description: "Whether the document is a query, a mutation or a subscription.",
    }),
    document: t.exposeString("document", { description: "The text of the document." }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When the document was registered." }),
    lastUsedAt: t.expose("lastUsedAt", {
      type: "DateTime",
      nullable: true,
      description:
        "When a request last sent the document's hash, accurate to one day; null if no request has sent " +
        "the hash.",
    }),
  }),
});

const TrustedDocumentInput = builder.inputType("TrustedDocumentInput", {
  description: "A GraphQL document to register as a trusted document.",
  fields: (t) => ({
    id: t.string({
      description:
        "The SHA-256 hash of `document`, as a tool such as graphql-codegen has computed it: 64 lower-case " +
        "hexadecimal digits. Optional, because the service computes the hash itself; a wrong hash is " +
        "refused.",
    }),
    document: t.string({
      required: true,
      description:
        "The text of the document, 1 to 16 384 characters: exactly one operation, which must have a name, " +
        "and its fragments. The document must also keep the limits for documents in requests.",
    }),
  }),
});

const TrustedDocumentsRegisterInput = builder.inputType("TrustedDocumentsRegisterInput", {
  description: "The GraphQL documents to register as trusted documents.",
  fields: (t) => ({
    documents: t.field({
      type: [TrustedDocumentInput],
      required: true,
      description:
        `The documents to register, 1 to ${perCallMax}. Documents that are already registered stay as they ` +
        "are.",
    }),
  }),
});

const TrustedDocumentRemoveInput = builder.inputType("TrustedDocumentRemoveInput", {
  description: "The trusted document to remove.",
  fields: (t) => ({
    trustedDocumentId: t.id({ required: true, description: "The id of the trusted document, `tdc_…`." }),
  }),
});

const TrustedDocumentsRegistered = builder
  .objectRef<{ documents: TrustedDocumentRow[]; added: number }>("TrustedDocumentsRegistered")
  .implement({
    description: "The result of registering documents.",
    fields: (t) => ({
      documents: t.expose("documents", {
        type: [TrustedDocument],
        complexity: { multiplier: perCallMax },
        description: "The trusted documents of the call, in the order of the input.",
      }),
      added: t.exposeInt("added", {
        description: "The number of documents that were new; 0 if all were registered before.",
      }),
    }),
  });

interface GivenDocument {
  readonly id?: string | null | undefined;
  readonly document: string;
}

/** The largest number of faults of GraphQL documents that one error answer lists. */
const faultsMax = 20;

/**
 * Checks the documents that a client wants to register, and returns them without duplicates. Throws one
 * failure that lists the faults of all documents, up to `faultsMax` faults. Checking a document blocks the
 * process for some milliseconds, so other requests are served before each document.
 */
async function checkDocuments(
  given: readonly GivenDocument[],
  check: TrustedDocumentChecker,
): Promise<readonly NewTrustedDocument[]> {
  if (given.length === 0 || given.length > perCallMax)
    refuse([toDetail("/documents", "out_of_range", `"documents" must have 1 to ${perCallMax} documents.`)]);
  const checked = new Map<string, NewTrustedDocument>();
  const faults: FailureDetail[] = [];
  for (const [index, { id, document }] of given.entries()) {
    await setImmediate();
    const sha256 = hashGraphqlDocumentText(document);
    const found = findFaults({ index, id, document, sha256 }, check);
    if ("name" in found) checked.set(sha256, { ...found, sha256, document });
    else faults.push(...found);
    if (faults.length >= faultsMax) break;
  }
  if (faults.length > 0) refuse(faults.slice(0, faultsMax));
  return [...checked.values()];
}

interface DocumentToCheck extends GivenDocument {
  readonly index: number;
  readonly sha256: string;
}

/**
 * Checks one document. Returns the name and kind of its operation if the document has no faults, otherwise
 * the faults.
 */
function findFaults(
  { index, id, document, sha256 }: DocumentToCheck,
  check: TrustedDocumentChecker,
): Exclude<ReturnType<TrustedDocumentChecker>, readonly unknown[]> | readonly FailureDetail[] {
  const field = `/documents/${index}/document`;
  const label = `The document ${index + 1}${nameIn(document)}`;
  if (document.length > lengthMax)
    return [
      toDetail(
        field,
        "too_long",
        `${label} has ${document.length} characters; at most ${lengthMax} are allowed.`,
      ),
    ];
  if (id !== undefined && id !== null && id !== sha256) {
    const message = `${label} has the SHA-256 hash ${sha256}, but "id" is another value.`;
    return [toDetail(`/documents/${index}/id`, "hash_mismatch", message)];
  }
  const result = check(document);
  if ("name" in result) return result;
  return result.map(({ message, line, column }) => {
    const place = line === null ? "" : `, line ${line}, column ${column}`;
    return toDetail(field, "invalid_document", `${label}${place}: ${message}`);
  });
}

/**
 * Returns the name in brackets of the first operation in a GraphQL document, for error messages. Empty if no
 * operation has a name.
 */
function nameIn(document: string): string {
  const name = /\b(?:query|mutation|subscription)\s+([_A-Za-z][_0-9A-Za-z]{0,99})/.exec(document)?.[1];
  return name === undefined ? "" : ` (${name})`;
}

const toDetail = (field: string, code: string, message: string): FailureDetail => ({
  in: "body",
  field,
  code,
  message,
});

function refuse(details: readonly FailureDetail[]): never {
  throw createFailure("invalid_field", { message: details[0]?.message ?? "", details });
}

defineMutation({
  ...merchantMutationKind,
  name: "trustedDocumentsRegister",
  description:
    "Registers documents of a merchant's frontends as trusted documents. Requests of the merchant's " +
    "internal tokens can then name a document by its hash, and tokens with `TRUSTED_ONLY` can run no other " +
    "documents. The service checks every document first, and registers either all or none. Repeating a " +
    `registration changes nothing. A merchant has at most ${perMerchantMax} trusted documents.`,
  failures: ["invalid_state"],
  input: TrustedDocumentsRegisterInput,
  type: TrustedDocumentsRegistered,
  prepare: ({ documents }, { checkDocument }) => {
    if (checkDocument === undefined)
      throw createFailure("service_unavailable", { message: "This process cannot register documents." });
    return checkDocuments(documents, checkDocument);
  },
  run: (transaction, context, { prepared }) => registerTrustedDocuments(transaction, context, prepared),
});

defineMutation({
  ...merchantMutationKind,
  name: "trustedDocumentRemove",
  description:
    "Removes a trusted document and returns it. The process that answers refuses requests that name the " +
    "document at once, and every other process within one second.",
  failures: ["resource_not_found"],
  input: TrustedDocumentRemoveInput,
  type: TrustedDocument,
  run: (transaction, context, { trustedDocumentId }) =>
    removeTrustedDocument(transaction, context, trustedDocumentId),
});

builder.queryField("trustedDocuments", (t) =>
  t.connection(
    {
      type: TrustedDocument,
      description: "The trusted documents of a merchant, oldest first.",
      complexity: computeConnectionCost,
      authScopes: { callers: staffCallers },
      args: {
        merchantId: t.arg.id({
          description:
            "The id of the merchant, `mer_…`. Required with a token of the platform; a token of a merchant " +
            "may leave it out.",
        }),
      },
      resolve: (_root, { merchantId, ...page }, context) =>
        loadGraphqlConnection(page, {
          db: context.db,
          query: buildTrustedDocumentSqlQuery(context.db, resolveMerchantIdOfRequest(context, merchantId)),
          column: "trusted_document.id",
          cursor: "trustedDocument",
        }),
    },
    ...createGraphqlConnectionTypeOptions("TrustedDocument", "trusted documents"),
  ),
);
