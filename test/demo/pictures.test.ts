/** Demo pictures are the same each time, show what they are asked for, and let nothing of a name into the SVG. */
import { expect, it } from "vitest";
import { pictureDrawings } from "#demo/pictures/picture-drawings.ts";
import {
  renderDemoPicture,
  type PictureMotif,
  createPictureName,
  getPicturePath,
} from "#demo/pictures/pictures.ts";

const motifs = Object.keys(pictureDrawings) as PictureMotif[];

it("draws the same picture for the same name and another one for another name", () => {
  const name = createPictureName("tent", "CMP-FJELL2", "moss");
  expect(name).toBe("tent-cmp-fjell2-moss");
  expect(renderDemoPicture(name)).toBe(renderDemoPicture(name));
  expect(renderDemoPicture(name)).not.toBe(
    renderDemoPicture(createPictureName("tent", "CMP-FJELL2", "ochre")),
  );
});

it("draws every motif, in the colour and from the side that the name says", () => {
  const pictures = motifs.map((motif) => renderDemoPicture(createPictureName(motif, "any", "brick")));
  expect(new Set(pictures).size).toBe(motifs.length);
  expect(pictures.filter((picture) => /[{}]|undefined|NaN/.test(picture))).toEqual([]);
  expect(renderDemoPicture("jacket-any-brick")).toContain("#a8503c");
  expect(
    new Set(["", "-detail", "-scene"].map((view) => renderDemoPicture(`jacket-any-brick${view}`))).size,
  ).toBe(3);
});

it("a demo picture is a square SVG of 800 pixels without script, style or anything from elsewhere", () => {
  for (const motif of motifs) {
    const picture = renderDemoPicture(`${motif}-x-scene`);
    expect(picture).toMatch(
      /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" width="800" height="800" viewBox="0 0 800 800" role="img">.*<\/svg>$/,
    );
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
])("gives a picture for the name %j, without the name", (name) => {
  const picture = renderDemoPicture(name);
  expect(picture).toMatch(/^<svg .*<\/svg>$/);
  expect(picture).not.toMatch(/alert|proto|constructor|undefined|NaN|ß/);
});

it("the path of a picture is its name under /media/demo", () => {
  expect(getPicturePath("tent-x")).toBe("/media/demo/tent-x.svg");
});
