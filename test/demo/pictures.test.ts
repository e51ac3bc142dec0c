/**
 * Demo pictures depend only on their name, show the named motif, colour and view, and contain no part of the
 * name.
 */
import { expect, it } from "vitest";
import { pictureDrawings } from "#demo/pictures/picture-drawings.ts";
import {
  renderDemoPicture,
  type DemoPictureMotif,
  createDemoPictureName,
  getDemoPicturePath,
} from "#demo/pictures/pictures.ts";

const motifs = Object.keys(pictureDrawings) as DemoPictureMotif[];

it("renders the same picture for the same name, and a different picture for a different name", () => {
  const name = createDemoPictureName("tent", "CMP-FJELL2", "moss");
  expect(name).toBe("tent-cmp-fjell2-moss");
  expect(renderDemoPicture(name)).toBe(renderDemoPicture(name));
  expect(renderDemoPicture(name)).not.toBe(
    renderDemoPicture(createDemoPictureName("tent", "CMP-FJELL2", "ochre")),
  );
});

it("renders every motif in the colour and view of the name", () => {
  const pictures = motifs.map((motif) => renderDemoPicture(createDemoPictureName(motif, "any", "brick")));
  expect(new Set(pictures).size).toBe(motifs.length);
  expect(pictures.filter((picture) => /[{}]|undefined|NaN/.test(picture))).toEqual([]);
  expect(renderDemoPicture("jacket-any-brick")).toContain("#a8503c");
  expect(
    new Set(["", "-detail", "-scene"].map((view) => renderDemoPicture(`jacket-any-brick${view}`))).size,
  ).toBe(3);
});

it("renders a square SVG of 800 pixels without scripts, styles or external references", () => {
  for (const motif of motifs) {
    const picture = renderDemoPicture(`${motif}-x-scene`);
    const size = 'width="800" height="800" viewBox="0 0 800 800"';
    const start = `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img">`;
    expect(picture.slice(0, start.length)).toBe(start);
    expect(picture.slice(start.length)).toMatch(/^.*<\/svg>$/);
    expect(picture.replace("http://www.w3.org/2000/svg", "")).not.toMatch(/script|style|href|https?:|on\w+=/);
    expect(picture.length).toBeLessThan(4000);
    expect((picture.match(/<(?!\/)\w+/g) ?? []).length).toBe((picture.match(/\/>|<\/\w+>/g) ?? []).length);
  }
});

it.each([
  "",
  "x",
  `"><script>alert(1)</script>`,
  "__proto__",
  "toString-constructor",
  "tent-__proto__-hasOwnProperty",
  "ß".repeat(5000),
])("renders a picture for the name %j without any part of the name", (name) => {
  const picture = renderDemoPicture(name);
  expect(picture).toMatch(/^<svg .*<\/svg>$/);
  expect(picture).not.toMatch(/alert|proto|constructor|undefined|NaN|ß/);
});

it("has the picture's path under /media/demo", () => {
  expect(getDemoPicturePath("tent-x")).toBe("/media/demo/tent-x.svg");
});
