/**
 * Renders schemas as lists of fields with type, rules and description. A schema that a page uses several
 * times is shown once, at the end of the page.
 */
import { html, type PreEscapedHtml } from "#pages/shared/html.ts";
import {
  type ResolvedOpenApiSchema,
  resolveOpenApiSchema,
  type OpenApiSchema,
  type OpenApiSchemas,
} from "./api-document.ts";
import { renderInlineMarkdown } from "./markdown.ts";

type Use = "taken" | "given";

export class OpenApiSchemaRenderer {
  readonly #schemas: OpenApiSchemas;
  /** The names of the schemas that the page describes at its end, because the page uses them more than once. */
  readonly #shared: ReadonlySet<string>;

  /**
   * Counts how often the page uses each schema, to describe repeated schemas only once at the end of the
   * page. `shown` must contain all schemas of the page.
   */
  constructor(schemas: OpenApiSchemas, shown: readonly OpenApiSchema[]) {
    this.#schemas = schemas;
    const counts = new Map<string, number>();
    for (const schema of shown) this.#count(schema, counts);
    this.#shared = new Set([...counts].filter(([, count]) => count > 1).map(([name]) => name));
  }

  #count(schema: OpenApiSchema, counts: Map<string, number>): void {
    const resolved = resolveOpenApiSchema(schema, this.#schemas);
    const { name, items, properties = {} } = resolved;
    if (name !== null) counts.set(name, (counts.get(name) ?? 0) + 1);
    if (name !== null && (counts.get(name) ?? 0) > 1) return;
    for (const part of Object.values(properties)) this.#count(part, counts);
    if (items !== undefined) this.#count(items, counts);
  }

  fields(schema: OpenApiSchema, use: Use): PreEscapedHtml {
    const { properties = {}, required = [] } = resolveOpenApiSchema(schema, this.#schemas);
    const rows = Object.entries(properties).map(([name, part]) =>
      this.field({ name, schema: part, isRequired: required.includes(name) }, use),
    );
    return html`<ul class="fields">
      ${rows}
    </ul>`;
  }

  field(
    {
      name,
      schema,
      isRequired,
    }: { readonly name: string; readonly schema: OpenApiSchema; readonly isRequired: boolean },
    use: Use,
  ): PreEscapedHtml {
    const resolved = resolveOpenApiSchema(schema, this.#schemas);
    const rules = [
      ...rulesOf(resolved),
      ...(resolved.items === undefined ? [] : rulesOf(resolveOpenApiSchema(resolved.items, this.#schemas))),
    ];
    const necessity = isRequired ? "required" : "optional";
    return html`<li>
      <p class="name">
        <code>${name}</code>
        <span class="type">${this.#type(resolved)}${resolved.isNullable ? " or null" : ""}</span>
        ${use === "taken" ? html`<span class="${necessity}">${necessity}</span>` : undefined}
      </p>
      ${resolved.description === undefined ? undefined : html`<p>${renderInlineMarkdown(resolved.description)}</p>`}
      ${
        rules.length === 0
          ? undefined
          : html`<p class="rules">
              ${rules.map((rule) => html`<span>${renderInlineMarkdown(rule)}</span> `)}
            </p>`
      }
      ${this.#below(resolved, use === "taken" || name === "data" ? "open" : "closed", use)}
    </li>`;
  }

  /** Renders the sections at the end of the page that describe the schemas which the page uses more than once. */
  sharedTypes(): PreEscapedHtml[] {
    return [...this.#shared].toSorted().map((name) => {
      const schema = this.#schemas[name] ?? {};
      return html`<section class="shared">
        <h3 id="type-${name}"><code>${name}</code></h3>
        ${schema.description === undefined ? undefined : html`<p>${renderInlineMarkdown(schema.description)}</p>`}
        ${this.fields(schema, "given")}
      </section>`;
    });
  }

  #type({ kind, name, items, additionalProperties }: ResolvedOpenApiSchema): PreEscapedHtml {
    if (name !== null && this.#shared.has(name)) return html`<a href="#type-${name}">${name}</a>`;
    if (items !== undefined) return html`array of ${this.#type(resolveOpenApiSchema(items, this.#schemas))}`;
    if (kind === "object" && typeof additionalProperties === "object")
      return html`map of ${this.#type(resolveOpenApiSchema(additionalProperties, this.#schemas))}`;
    return html`${name ?? kind}`;
  }

  #below(resolved: ResolvedOpenApiSchema, state: "open" | "closed", use: Use): PreEscapedHtml | undefined {
    const below =
      resolved.items === undefined ? resolved : resolveOpenApiSchema(resolved.items, this.#schemas);
    if (below.items !== undefined) return this.#below(below, state, use);
    if (below.properties === undefined || (below.name !== null && this.#shared.has(below.name)))
      return undefined;
    return html`<details${state === "open" ? html` open` : undefined}>
      <summary>Fields of ${below.name ?? "it"}</summary>
      ${this.fields(below, use)}
    </details>`;
  }
}

const intMax = 2 ** 31 - 1;

function rulesOf(schema: OpenApiSchema): string[] {
  const { pattern, format, enum: values } = schema;
  return [
    ...(values === undefined
      ? []
      : [
          `One of ${values.flatMap((value) => (typeof value === "string" ? [`\`${value}\``] : [])).join(", ")}.`,
        ]),
    ...(schema.default === undefined ? [] : [`Default: \`${JSON.stringify(schema.default)}\`.`]),
    ...[...numberRules(schema), ...sizeRules(schema)].filter((rule) => !isInDescription(rule, schema)),
    ...(format === undefined ? [] : [`Format: ${formats[format] ?? format}.`]),
    ...(pattern === undefined ? [] : [`Pattern: \`${pattern}\`.`]),
  ];
}

/**
 * True if a field's description already has all numbers of a rule, for example the maximum length. The page
 * then leaves the rule out.
 */
function isInDescription(rule: string, { description = "" }: OpenApiSchema): boolean {
  const numbers = rule.match(/\d+/g) ?? [];
  return numbers.length > 0 && numbers.every((number) => new RegExp(`\\b${number}\\b`).test(description));
}

function sizeRules({
  minLength = 0,
  maxLength,
  minItems = 0,
  maxItems,
  maxProperties,
  uniqueItems,
}: OpenApiSchema): string[] {
  return [
    ...(maxLength === undefined
      ? []
      : [minLength === 0 ? `At most ${maxLength} characters.` : `${minLength} to ${maxLength} characters.`]),
    ...(maxItems === undefined
      ? []
      : [minItems === 0 ? `At most ${maxItems} items.` : `${minItems} to ${maxItems} items.`]),
    ...(uniqueItems === true ? ["No duplicates."] : []),
    ...(maxProperties === undefined ? [] : [`At most ${maxProperties} entries.`]),
  ];
}

const formats: Readonly<Record<string, string>> = {
  "date-time": "RFC 3339 in UTC with milliseconds",
  "country-code": "ISO 3166-1 alpha-2",
  locale: "BCP 47",
  uri: "URI",
};

/** Returns the minimum and maximum of a number as texts. Leaves out the limits of the integer type itself. */
function numberRules({ minimum, maximum }: OpenApiSchema): string[] {
  const least = minimum === undefined || minimum <= -intMax ? undefined : minimum;
  const most = maximum === undefined || maximum >= intMax ? undefined : maximum;
  if (least !== undefined && most !== undefined) return [`${least} to ${most}.`];
  if (least !== undefined) return [`${least} or more.`];
  return most === undefined ? [] : [`${most} at most.`];
}
