/** Generates the types of the documents in src, from the schema of the service. */
const config = {
  schema: "../../schema/schema.graphql",
  documents: ["src/*.ts"],
  generates: {
    "src/generated/": {
      preset: "client",
      presetConfig: { fragmentMasking: false },
      config: {
        // Without a type for a scalar of the schema, the generator fails instead of using `any`.
        strictScalars: true,
        scalars: {
          ID: "string",
          // Codes, slugs and texts are JSON strings.
          AttributeValue: "string",
          CountryCode: "string",
          CurrencyCode: "string",
          EmailAddress: "string",
          LocaleCode: "string",
          PhoneNumber: "string",
          SearchText: "string",
          Slug: "string",
          URL: "string",
          // Times of RFC 3339, for example 2026-11-24T09:30:00.000Z, and days, for example 2026-11-24.
          Date: "string",
          DateTime: "string",
          // An amount in minor units, for example cents: an integer of at most 2^53 - 1.
          MinorUnits: "number",
          JSON: "unknown",
          StringMap: "Readonly<Record<string, string>>",
        },
        enumsAsTypes: true,
        useTypeImports: true,
        importExtension: ".ts",
      },
    },
  },
};

export default config;
