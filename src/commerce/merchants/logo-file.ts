/**
 * Checks the file of a merchant's logo. The file must be a PNG, JPEG or WebP image. The type is detected from
 * the content of the file; its name is ignored. SVG files are refused, because they can contain scripts.
 */
import { createHash } from "node:crypto";
import { imageSize } from "image-size";
import { createRequestBodyErrorDetail, type InputFieldErrors } from "#foundation/faults.ts";

export const logoTypes = ["image/png", "image/jpeg", "image/webp"] as const;
export type LogoFileType = (typeof logoTypes)[number];

/** Maximum size of a logo file in bytes, and maximum width and height of a logo in pixels. */
export const logoBounds = { bytesMax: 131_072, pixelsMax: 2000 } as const;

export interface MerchantLogoFile {
  readonly logo: Buffer;
  readonly logoHash: string;
  readonly logoType: LogoFileType;
  readonly logoWidth: number;
  readonly logoHeight: number;
}

const base64Format = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The result of decoding a logo file: a valid logo, or the faults of the file. */
export interface LogoFileDecodeResult {
  readonly file?: MerchantLogoFile;
  readonly faults: InputFieldErrors;
}

/** Decodes a logo file from base64 (RFC 4648, section 4) and checks it. */
export function decodeMerchantLogoFile(field: string, text: string): LogoFileDecodeResult {
  const refuse = (code: string, message: string): LogoFileDecodeResult => ({
    faults: [createRequestBodyErrorDetail(field, code, message)],
  });
  if (text === "" || !base64Format.test(text))
    return refuse("pattern_mismatch", "The logo must be a file in base64, without line breaks.");
  const logo = Buffer.from(text, "base64");
  const { bytesMax, pixelsMax } = logoBounds;
  if (logo.length > bytesMax)
    return refuse("too_long", `The logo has ${logo.length} bytes; at most ${bytesMax} are allowed.`);
  const logoType = detectType(logo);
  const size = logoType === undefined ? undefined : readSize(logo);
  if (logoType === undefined || size === undefined)
    return refuse("not_allowed", "The logo must be a PNG, JPEG or WebP file.");
  const { width: logoWidth, height: logoHeight } = size;
  if (logoWidth < 1 || logoHeight < 1 || logoWidth > pixelsMax || logoHeight > pixelsMax)
    return refuse(
      "out_of_range",
      `The logo has ${logoWidth} × ${logoHeight} pixels; at most ${pixelsMax} × ${pixelsMax} are allowed.`,
    );
  const logoHash = createHash("sha256").update(logo).digest("hex");
  return { file: { logo, logoHash, logoType, logoWidth, logoHeight }, faults: [] };
}

/** Detects the type of an image file from its first bytes, as the WHATWG MIME Sniffing Standard describes. */
function detectType(bytes: Buffer): LogoFileType | undefined {
  const start = bytes.subarray(0, 12).toString("latin1");
  if (start.startsWith("\u0089PNG\r\n\u001a\n")) return "image/png";
  if (start.startsWith("\u00ff\u00d8\u00ff")) return "image/jpeg";
  return start.startsWith("RIFF") && start.endsWith("WEBP") ? "image/webp" : undefined;
}

/** Reads the width and height of an image from the header of its file; undefined if the header cannot be read. */
function readSize(bytes: Buffer): { readonly width: number; readonly height: number } | undefined {
  try {
    return imageSize(bytes);
  } catch {
    return undefined;
  }
}
