/**
 * Lists the types of all fields and inputs that documents use, without descriptions. Generated types are up
 * to date as long as this list is the same.
 */
import {
  buildSchema,
  getNamedType,
  isInputObjectType,
  parse,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from "graphql";

/** Returns one line for each field of the documents, and for each field of the inputs that they use. */
export function listUsedTypes(schemaText, documentTexts) {
  const schema = buildSchema(schemaText);
  const lines = new Set();
  const addInput = (type) => {
    const named = getNamedType(type);
    if (!isInputObjectType(named)) return;
    for (const field of Object.values(named.getFields())) {
      const line = `${named.name}.${field.name}: ${String(field.type)}`;
      if (lines.has(line)) continue;
      lines.add(line);
      addInput(field.type);
    }
  };
  for (const text of documentTexts) {
    const info = new TypeInfo(schema);
    visit(
      parse(text),
      visitWithTypeInfo(info, {
        Field: () =>
          void lines.add(
            `${String(info.getParentType())}.${info.getFieldDef()?.name}: ${String(info.getType())}`,
          ),
        VariableDefinition: () => addInput(info.getInputType()),
      }),
    );
  }
  return [...lines];
}

/** Returns the documents in the source texts: the templates that are passed to the function `graphql`. */
export const findDocuments = (sourceTexts) =>
  sourceTexts.flatMap((text) => [...text.matchAll(/graphql\(`([^`]*)`\)/g)].map(([, document]) => document));
