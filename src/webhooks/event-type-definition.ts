/** The description of an event type in the event catalogue. */
export interface EventTypeDefinition {
  /** The type of the object that events of this type are about, for example `order`. */
  readonly subject: string;
  /** The version of the JSON schema of the event's body. */
  readonly schemaVersion: number;
  readonly description: string;
}
