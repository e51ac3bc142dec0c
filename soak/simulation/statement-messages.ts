/**
 * The messages that run a prepared statement of PostgreSQL, and the answer to them (the extended query
 * protocol). PGlite's own functions for these messages take as long as most statements.
 */
import { messages, protocol } from "@electric-sql/pglite";

export interface StatementAnswer {
  readonly rows: readonly unknown[];
  readonly affectedRows: number;
}

/** A column of the rows of a statement. */
export interface AnswerColumn {
  readonly name: string;
  /** Converts the text of a value; undefined if the value is its text. */
  readonly parse: ((text: string) => unknown) | undefined;
}

/** Execute without a limit of rows, and Sync. */
const executeAndSync = Buffer.from("450000000900000000005300000004", "hex");
const bytesPerCharacterMax = 3;
/** More bytes than a message has beside the values and the name of the statement. */
const otherBytesMax = 1_000;
let written = Buffer.alloc(1_000_000);

/** Returns Bind, Execute and Sync of a statement. The bytes are valid until the next call. */
export function writeStatement(name: string, values: readonly (string | null)[]): Uint8Array {
  const sizeMax = values.reduce((sum, value) => sum + 4 + (value ?? "").length * bytesPerCharacterMax, 0);
  if (sizeMax + otherBytesMax > written.length) written = Buffer.alloc(2 * (sizeMax + otherBytesMax));
  // The length of the message follows at the end. The portal has no name, and all values are texts.
  let end = written.write("B0000\0", "latin1");
  end += written.write(`${name}\0\0\0`, end, "latin1");
  end = written.writeUInt16BE(values.length, end);
  for (const value of values) {
    const length = value === null ? -1 : written.write(value, end + 4, "utf8");
    end = written.writeInt32BE(length, end) + Math.max(0, length);
  }
  end = written.writeUInt16BE(0, end);
  written.writeInt32BE(end - 1, 1);
  return written.subarray(0, end + executeAndSync.copy(written, end));
}

const headerBytes = 5;
const kinds = { dataRow: 0x44, commandComplete: 0x43, error: 0x45, notification: 0x41 };
const changingCommand = /^(?:INSERT|UPDATE|DELETE|MERGE) (?:0 )?(\d+)/;

/** Reads the answer to a statement. Throws the error of the statement. `onNotice` gets the notices. */
export function readAnswer(
  answer: Buffer,
  columns: readonly AnswerColumn[],
  onNotice: (payload: string) => void,
): StatementAnswer {
  const rows: unknown[] = [];
  let affectedRows = 0;
  let failure: Error | undefined;
  for (let at = 0, end = 0; at < answer.length; at = end) {
    end = at + 1 + answer.readInt32BE(at + 1);
    const kind = answer[at];
    if (kind === kinds.dataRow) rows.push(readRow(answer, at + headerBytes, columns));
    else if (kind === kinds.commandComplete)
      affectedRows = Number(
        changingCommand.exec(answer.toString("latin1", at + headerBytes, end - 1))?.[1] ?? 0,
      );
    else if (kind === kinds.error || kind === kinds.notification) {
      const message = readOtherMessage(answer.subarray(at, end));
      if (message instanceof Error) failure ??= message;
      else if (message instanceof messages.NotificationResponseMessage) onNotice(message.payload);
    }
  }
  if (failure !== undefined) throw failure;
  return { rows, affectedRows };
}

function readRow(answer: Buffer, start: number, columns: readonly AnswerColumn[]): unknown {
  const row: Record<string, unknown> = {};
  let at = start + 2;
  for (const { name, parse } of columns) {
    const length = answer.readInt32BE(at);
    at += 4;
    if (length === -1) {
      row[name] = null;
      continue;
    }
    const text = answer.toString("utf8", at, at + length);
    row[name] = parse === undefined ? text : parse(text);
    at += length;
  }
  return row;
}

function readOtherMessage(bytes: Uint8Array): unknown {
  const found: unknown[] = [];
  new protocol.Parser().parse(bytes, (message) => found.push(message));
  return found[0];
}
