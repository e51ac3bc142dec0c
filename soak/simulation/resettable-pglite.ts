/**
 * PGlite in memory, which returns to a kept state at once: `reset` copies back the memory of WebAssembly and
 * the files of PGlite. Each statement text is prepared once and keeps its plan, also over a reset.
 */
import { parse, type PGlite, protocol, messages } from "@electric-sql/pglite";
import { type AnswerColumn, readAnswer, type StatementAnswer, writeStatement } from "./statement-messages.ts";

interface PreparedStatement {
  readonly name: string;
  readonly parameterTypes: readonly number[];
  readonly columns: readonly AnswerColumn[];
}

const { serialize } = protocol;
const sync = serialize.sync();

export class ResettablePGlite {
  readonly #pglite: PGlite;
  readonly #onNotice: (payload: string) => void;
  readonly #prepared = new Map<string, PreparedStatement>();
  #kept = new Set<string>();
  #restore: (() => void) | undefined;

  /** `onNotice` receives the notices (NOTIFY) on all channels. */
  constructor(pglite: PGlite, onNotice: (payload: string) => void) {
    this.#pglite = pglite;
    this.#onNotice = onNotice;
  }

  /** Runs a statement as a prepared statement. */
  async query(text: string, values: readonly unknown[] = []): Promise<StatementAnswer> {
    const { name, parameterTypes, columns } = this.#prepared.get(text) ?? (await this.#prepare(text));
    const texts = values.map((value, index) => this.#serialize(value, parameterTypes[index]));
    const parts: Uint8Array[] = [];
    // PGlite overwrites the bytes that it passes to `onRawData`.
    await this.#pglite.execProtocolRawStream(writeStatement(name, texts), {
      syncToFs: false,
      onRawData: (part) => parts.push(part.slice()),
    });
    return readAnswer(Buffer.concat(parts), columns, this.#onNotice);
  }

  /** Keeps the present state, to which `reset` returns. */
  async keep(): Promise<void> {
    await this.#pglite.exec("checkpoint");
    this.#restore = snapshot(this.#pglite);
    this.#kept = new Set(this.#prepared.keys());
  }

  reset(): void {
    this.#restore?.();
    for (const text of this.#prepared.keys()) if (!this.#kept.has(text)) this.#prepared.delete(text);
  }

  /** Resets, and keeps the plans of all statements that have run until now. */
  async keepPlans(): Promise<void> {
    const texts = [...this.#prepared.keys()];
    this.reset();
    for (const text of texts) {
      const { name, parameterTypes } = this.#prepared.get(text) ?? (await this.#prepare(text));
      const nulls = parameterTypes.length === 0 ? "" : `(${parameterTypes.map(() => "null").join(", ")})`;
      if (/^\s*(?:select|with|insert|update|delete)/i.test(text))
        await this.#pglite.exec(`explain execute ${name}${nulls}`);
    }
    await this.keep();
  }

  async #prepare(text: string): Promise<PreparedStatement> {
    const name = `s${this.#prepared.size}`;
    const answers = await this.#pglite.execProtocolStream(
      Buffer.concat([serialize.parse({ name, text }), serialize.describe({ type: "S", name }), sync]),
      { syncToFs: false },
    );
    const description = answers.find((answer) => answer instanceof messages.RowDescriptionMessage);
    const columns = (description?.fields ?? []).map(({ name: column, dataTypeID }): AnswerColumn => ({
      name: column,
      parse: this.#pglite.parsers[dataTypeID] as AnswerColumn["parse"],
    }));
    const prepared = { name, parameterTypes: parse.parseDescribeStatementResults(answers), columns };
    this.#prepared.set(text, prepared);
    return prepared;
  }

  #serialize(value: unknown, type = 0): string | null {
    if (value === null || value === undefined) return null;
    const serialized: string | undefined = this.#pglite.serializers[type]?.(value);
    return serialized ?? (typeof value === "string" ? value : JSON.stringify(value));
  }
}

/** The part of a file or folder of Emscripten's file system that changes. */
interface FileNode {
  name_next: FileNode | undefined;
  name: string;
  parent: FileNode;
  contents: Int8Array | Uint8Array | Record<string, FileNode> | undefined;
  usedBytes: number;
  /** The time of the last write, in ms. */
  mtime: number | Date;
}

interface FileStream {
  readonly shared: Record<string, unknown>;
}

interface FileSystem {
  readonly nameTable: (FileNode | undefined)[];
  readonly streams: (FileStream | null)[];
}

/** Copies the memory and the files, and returns the function that copies them back. */
function snapshot(pglite: PGlite): () => void {
  const files = pglite.Module.FS as unknown as FileSystem;
  const memory = pglite.Module.HEAPU8.slice();
  const nameTable = [...files.nameTable];
  const nodes = nameTable.flatMap(listChain).map(copyNode);
  const streams = files.streams.map((stream) => [stream, { ...stream?.shared }] as const);
  return () => {
    const present = pglite.Module.HEAPU8;
    copyChangedBlocks(memory, present);
    present.fill(0, memory.length);
    Object.assign(files.nameTable, nameTable);
    for (const restoreNode of nodes) restoreNode();
    files.streams.length = streams.length;
    for (const [index, [stream, shared]] of streams.entries()) {
      files.streams[index] = stream;
      if (stream !== null && stream !== undefined) Object.assign(stream.shared, shared);
    }
  };
}

function listChain(first: FileNode | undefined): FileNode[] {
  const chain: FileNode[] = [];
  for (let node = first; node !== undefined; node = node.name_next) chain.push(node);
  return chain;
}

/** Emscripten keeps the bytes of a file in an array of signed or unsigned bytes. */
const isFile = (contents: FileNode["contents"]): contents is Int8Array | Uint8Array =>
  ArrayBuffer.isView(contents);

function copyNode(node: FileNode): () => void {
  const { name_next, name, parent, contents, usedBytes } = node;
  if (!isFile(contents)) {
    const entries = { ...contents };
    return () => void Object.assign(node, { name_next, name, parent, contents: { ...entries } });
  }
  const bytes = Uint8Array.from(contents.subarray(0, usedBytes));
  let restored = contents;
  node.mtime = unchanged;
  return () => {
    // A write sets the time of the file, and a change of its length replaces the array.
    const isChanged = node.mtime !== unchanged || node.contents !== restored || node.usedBytes !== usedBytes;
    Object.assign(node, { name_next, name, parent, usedBytes, mtime: unchanged });
    if (!isChanged) return;
    const { contents: present } = node;
    if (!isFile(present) || present.length < usedBytes) node.contents = bytes.slice();
    else copyChangedBlocks(bytes, present.fill(0, usedBytes));
    restored = node.contents as typeof contents;
  };
}

/** The time of a file that has not been written since it was kept or restored. */
const unchanged = 0;
const blockBytes = 65_536;

/** Copies the blocks of `kept` that differ to the start of `present`. */
function copyChangedBlocks(kept: Uint8Array, present: Int8Array | Uint8Array): void {
  const [from, to] = [toBuffer(kept), toBuffer(present)];
  for (let start = 0; start < kept.length; start += blockBytes) {
    const end = Math.min(start + blockBytes, kept.length);
    if (from.compare(to, start, end, start, end) !== 0) from.copy(to, start, start, end);
  }
}

const toBuffer = ({ buffer, byteOffset, byteLength }: Int8Array | Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);
