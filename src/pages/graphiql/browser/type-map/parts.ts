/** What a type consists of, and where each leads. */

export interface Argument {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  readonly defaultValue: string | null;
  readonly leadsTo: string;
}

/** A field, a field of an input, a value of an enum. */
export interface Part {
  readonly name: string;
  readonly description: string;
  readonly deprecation: string | null;
  /** As GraphQL writes it; null: the value of an enum. */
  readonly type: string | null;
  /** The type that it leads to: of a list in pages, what is in it. */
  readonly leadsTo: string | null;
  readonly args: readonly Argument[];
}
