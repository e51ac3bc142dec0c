/** Files and paths with which a merchant or a stranger could attack buyers through a checkout page's branding. */
import { deflateSync } from "node:zlib";
import { expect, it } from "vitest";
import { decodeMerchantLogoFile } from "#commerce/merchants/logo-file.ts";
import { drawDemoLogo } from "#demo/pictures/draw-logo.ts";
import { useWorld } from "#test/support/use-world.ts";

const world = useWorld();

const png = Buffer.from(drawDemoLogo("#7a3e1d"), "base64");
const withSize = (width: number, height: number): Buffer => {
  const file = Buffer.from(png);
  file.writeUInt32BE(width, 16);
  file.writeUInt32BE(height, 20);
  return file;
};
const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="96" height="96"><script>alert(1)</script></svg>';

it.each([
  ["SVG with a script", Buffer.from(svg)],
  ["SVG after a byte order mark", Buffer.from(`\u{feff}${svg}`)],
  ["HTML", Buffer.from("<!doctype html><script>alert(1)</script>")],
  ["a GIF of one pixel", Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64")],
  ["a GIF that is also a script", Buffer.from("GIF89a=1;alert(1)//")],
  ["a PDF", Buffer.from("%PDF-1.7")],
  ["a compressed file", deflateSync(Buffer.from(svg))],
  ["the beginning of a PNG alone", png.subarray(0, 8)],
  ["the beginning of a JPEG alone", Buffer.from([0xff, 0xd8, 0xff])],
  ["the beginning of a WebP alone", Buffer.from("RIFF\0\0\0\0WEBP", "latin1")],
  ["HTML after the beginning of a JPEG", Buffer.from([0xff, 0xd8, 0xff, ...Buffer.from(svg)])],
  ["a picture without pixels", withSize(0, 96)],
  ["a picture that is too wide", withSize(2001, 96)],
  ["a picture of 4 000 million pixels in each direction", withSize(0xff_ff_ff_ff, 0xff_ff_ff_ff)],
  ["a file that is too large", Buffer.concat([png, Buffer.alloc(131_073)])],
])("%s is refused as a logo", (_name, file) => {
  expect(decodeMerchantLogoFile("/logo", file.toString("base64"))).toEqual({
    faults: [expect.objectContaining({ in: "body", field: "/logo" })],
  });
});

it("paths of logos and style sheets lead to nothing else", async () => {
  const paths = [
    "/checkout-logo/",
    `/checkout-logo/${"0".repeat(64)}`,
    `/checkout-logo/${"0".repeat(63)}'`,
    "/checkout-logo/..%2f..%2fetc%2fpasswd",
    "/checkout-theme/",
    "/checkout-theme/red.css",
    "/checkout-theme/7A3E1D.css",
    "/checkout-theme/7a3e1d.css.css",
    "/checkout-theme/7a3e1d%7D*%7B.css",
    "/checkout-theme/7a3e1d",
  ];
  for (const path of paths) expect([path, (await world().get(path)).status]).toEqual([path, 404]);
  const { status } = await world().send({ method: "POST", url: "/checkout-theme/7a3e1d.css", body: "" });
  expect(status).toBe(405);
});

it("a file after the picture's end is sent as a picture only", async () => {
  const polyglot = Buffer.concat([png, Buffer.from(svg)]).toString("base64");
  const { body } = await world().graphql(
    `mutation { merchantBrandingUpdate(input: { merchantId: "${world().demo.merchants.first.id}", logo: "${polyglot}" }) {
      branding { logo { url } } } }`,
    { token: "admin" },
  );
  const { pathname } = new URL(body.data.merchantBrandingUpdate.branding.logo.url);
  const { headers } = await world().get(pathname);
  expect(headers).toMatchObject({
    "content-type": "image/png",
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'",
  });
});
