/**
 * Runs a third-party server beside the service: a process in a temporary folder, ready when it listens,
 * stopped with the process that started it.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export interface Listening extends AsyncDisposable {
  readonly port: number;
}

export interface Program {
  readonly file: string;
  readonly args: readonly string[];
  readonly port: number;
  /** The server's folder, which is deleted at the end. */
  readonly folder: string;
  /** The user to run the server as, if it refuses to run as root. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
}

export const isInstalled = (file: string, versionFlag: string): boolean =>
  spawnSync(file, [versionFlag], { stdio: "ignore" }).status === 0;

export async function startProgram({ file, args, port, folder, user }: Program): Promise<Listening> {
  const child = spawn(file, args, { ...user, stdio: "ignore" });
  const ended = once(child, "exit");
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  const stop = async (): Promise<void> => {
    process.removeListener("exit", kill);
    if (child.exitCode === null && child.signalCode === null) {
      kill();
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  };
  while (!(await isListening(port))) {
    if (child.exitCode !== null) {
      await stop();
      throw new Error(`${file} ended with ${child.exitCode} before it listened.`);
    }
    await sleep(20);
  }
  return { port, [Symbol.asyncDispose]: stop };
}

function isListening(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      done(true);
    });
    socket.once("error", () => done(false));
  });
}
