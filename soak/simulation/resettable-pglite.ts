/**
 * PGlite in memory, which returns to a kept state at once: `reset` copies back the memory of WebAssembly and
 * the files of PGlite. Each statement text is prepared once and keeps its plan, also over a reset.
 */
import { parse, type PGlite, protocol, messages } from "@electric-sql/pglite";

export interface StatementAnswer {
  readonly rows: readonly unknown[];
  readonly affectedRows?: number;
}

interface PreparedStatement {
  readonly name: string;
  readonly parameterTypes: readonly number[];
  readonly description: messages.RowDescriptionMessage | undefined;
}

const { serialize } = protocol;
const sync = serialize.sync();

export class ResettablePGlite {
  readonly #pglite: PGlite;
  readonly #prepared = new Map<string, PreparedStatement>();
  #kept = new Set<string>();
  #restore: (() => void) | undefined;

  constructor(pglite: PGlite) {
    this.#pglite = pglite;
  }

  /** Runs a statement as a prepared statement. */
  async query(text: string, values: readonly unknown[] = []): Promise<StatementAnswer> {
    const { name, parameterTypes, description } = this.#prepared.get(text) ?? (await this.#prepare(text));
    const serialized = values.map((value, index) => this.#serialize(value, parameterTypes[index]));
    const answers = await this.#send([
      serialize.bind({ statement: name, values: serialized }),
      serialize.execute({}),
    ]);
    const described = description === undefined ? answers : [description, ...answers];
    const [result] = parse.parseResults(described, this.#pglite.parsers);
    if (result === undefined) throw new Error(`PGlite has not answered the statement ${text}`);
    return result;
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
    const answers = await this.#send([
      serialize.parse({ name, text }),
      serialize.describe({ type: "S", name }),
    ]);
    const description = answers.find((answer) => answer instanceof messages.RowDescriptionMessage);
    const parameterTypes = parse.parseDescribeStatementResults(answers);
    const prepared = { name, parameterTypes, description };
    this.#prepared.set(text, prepared);
    return prepared;
  }

  #send(parts: readonly Uint8Array[]): ReturnType<PGlite["execProtocolStream"]> {
    return this.#pglite.execProtocolStream(Buffer.concat([...parts, sync]), { syncToFs: false });
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
    present.set(memory);
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
  return () => {
    Object.assign(node, { name_next, name, parent, usedBytes });
    const { contents: present } = node;
    if (!isFile(present) || present.length < usedBytes) node.contents = bytes.slice();
    else present.fill(0, usedBytes).set(bytes);
  };
}
