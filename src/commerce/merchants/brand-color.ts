/** Matches the colour (`#rrggbb`) that a merchant may choose for the buttons of the checkout page. */

export const brandColorFormat = /^#[0-9a-f]{6}$/;

/**
 * Returns the text colour, black or white, that has the higher contrast on the given colour. The contrast is
 * always at least 4.58:1; WCAG 2.2 requires 4.5:1 for text (success criterion 1.4.3).
 */
export function getContrastingTextColor(color: string): "#000000" | "#ffffff" {
  const luminance = getRelativeLuminance(color);
  return (luminance + 0.05) / 0.05 >= 1.05 / (luminance + 0.05) ? "#000000" : "#ffffff";
}

/** Returns the relative luminance of an sRGB colour (WCAG 2.2), from 0 for black to 1 for white. */
function getRelativeLuminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) => {
    const share = Number.parseInt(color.slice(start, start + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/**
 * Returns a style sheet that sets two CSS custom properties: the merchant's colour, and the colour of text on
 * a background in the merchant's colour. The main style sheet of the checkout page uses these properties.
 */
export const buildBrandStyleSheet = (color: string): string =>
  `:root{--brand-fill:${color};--on-brand-fill:${getContrastingTextColor(color)}}\n`;
