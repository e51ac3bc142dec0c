/** The facts about a product that are the same for all its variants: material, power, energy label. Shown, never calculated with. */
import { catalogBounds } from "./write-bounds.ts";
import { codeFaults, localizedFaults, type LocalizedTextInput, toLocalizedMap } from "./write-faults.ts";
import { countFaults, faultAt, type Faults, repeatFaults, textFaults } from "#foundation/faults.ts";

export type AttributeValue = string | number | boolean | readonly string[];

export interface AttributeInput {
  readonly code: string;
  readonly names: readonly LocalizedTextInput[];
  readonly value: AttributeValue;
  readonly unit?: string | null | undefined;
}

export function attributesFaults(field: string, attributes: readonly AttributeInput[] | null | undefined): Faults {
  if (attributes === null || attributes === undefined) return [];
  return [
    ...countFaults(field, attributes, { min: 0, max: catalogBounds.attributesMax }),
    ...attributes.flatMap(({ code, names, value, unit }, index) => [
      ...codeFaults(`${field}/${index}/code`, code),
      ...localizedFaults(`${field}/${index}/names`, names, { max: catalogBounds.nameMax }),
      ...valueFaults(`${field}/${index}/value`, value),
      ...textFaults(`${field}/${index}/unit`, unit, { max: catalogBounds.unitMax }),
    ]),
    ...repeatFaults(
      attributes.map(({ code }) => code),
      (index) => `${field}/${index}/code`,
    ),
  ];
}

/** The value may arrive through a scalar that takes any JSON, so its type is looked at here. */
function valueFaults(field: string, value: unknown): Faults {
  if (typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value))) return [];
  if (typeof value === "string") return textFaults(field, value, { max: catalogBounds.attributeValueMax });
  if (!Array.isArray(value)) return [faultAt(field, "wrong_type", "It must be a text, a number, a boolean or a list of texts.")];
  return [
    ...countFaults(field, value, { min: 1, max: catalogBounds.attributeValuesMax }),
    ...value.flatMap((entry: unknown, index) => {
      if (typeof entry !== "string") return [faultAt(`${field}/${index}`, "wrong_type", "It must be a text.")];
      return textFaults(`${field}/${index}`, entry, { max: catalogBounds.attributeValueMax });
    }),
  ];
}

/** As the column keeps them. */
export function toAttributes(attributes: readonly AttributeInput[]): readonly unknown[] {
  return attributes.map(({ code, names, value, unit }) => ({ code, names: toLocalizedMap(names), value, unit: unit ?? null }));
}
