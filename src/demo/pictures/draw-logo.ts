/** Draws the logo of the demo's first merchant, a leaf on a disc, as a PNG file (W3C PNG, third edition). */
import { crc32, deflateSync } from "node:zlib";

const size = 96;
type Pixel = readonly [red: number, green: number, blue: number, alpha: number];

/** Draws a white leaf on a disc of the given colour (`#rrggbb`). Returns the PNG file in base64. */
export function drawDemoLogo(color: string): string {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
  // Each row of a PNG file begins with a filter type. The type 0 means that the pixels are stored unchanged.
  const rows = Array.from({ length: size }, (_, y) => [
    0,
    ...Array.from({ length: size }, (_pixel, x) => pixelAt(x, y, [red, green, blue])).flat(),
  ]);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  // Two bytes of the PNG header: bit depth 8, and colour type 6, which means red, green, blue and alpha.
  header.set([8, 6], 8);
  return Buffer.concat([
    Buffer.from("\u0089PNG\r\n\u001a\n", "latin1"),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(Buffer.from(rows.flat()))),
    chunk("IEND", Buffer.alloc(0)),
  ]).toString("base64");
}

/**
 * Returns the colour of a pixel. The disc fills the picture. The leaf is the overlap of two circles, with a
 * vein along the middle.
 */
function pixelAt(x: number, y: number, [red, green, blue]: readonly [number, number, number]): Pixel {
  const middle = (size - 1) / 2;
  const cover = (centerX: number, centerY: number, radius: number): number =>
    Math.min(1, Math.max(0, radius + 0.5 - Math.hypot(x - centerX, y - centerY)));
  const leaf = Math.min(cover(middle - 16, middle - 16, 38), cover(middle + 16, middle + 16, 38));
  const isVein = Math.abs(x + y - 2 * middle) < 2.5 && Math.abs(x - y) < 50;
  const white = isVein ? 0 : leaf;
  const mix = (value: number): number => Math.round(value * (1 - white) + 255 * white);
  return [mix(red), mix(green), mix(blue), Math.round(255 * cover(middle, middle, middle))];
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const framed = Buffer.alloc(named.length + 8);
  framed.writeUInt32BE(data.length, 0);
  named.copy(framed, 4);
  framed.writeUInt32BE(crc32(named), named.length + 4);
  return framed;
}
