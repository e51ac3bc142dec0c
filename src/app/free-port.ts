/** For PORT=0: addresses in answers are absolute, so the port must be known before anything is built. */
import { type AddressInfo, createServer } from "node:net";

export function freePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, host, () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
