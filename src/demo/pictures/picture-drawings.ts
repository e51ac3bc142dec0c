/**
 * The drawings of the demo's pictures, one for each motif (for example a cup): SVG shapes on an area of 800 ×
 * 800 units. Where a shape has a placeholder as its colour, for example `{main}`, `renderDemoPicture` inserts
 * the colour.
 */

const area = (fill: string, path: string): string => `<path fill="{${fill}}" d="${path}"/>`;
const line = (stroke: string, width: number, path: string): string =>
  `<path fill="none" stroke="{${stroke}}" stroke-width="${width}" stroke-linecap="round" ` +
  `stroke-linejoin="round" d="${path}"/>`;
/** A rectangle in a drawing: its position, its size and the radius of its corners. */
type Box = readonly [x: number, y: number, width: number, height: number, radius: number];
const box = (fill: string, [x, y, width, height, radius]: Box): string =>
  `<rect fill="{${fill}}" x="${x}" y="${y}" width="${width}" height="${height}" rx="${radius}"/>`;
const disc = (fill: string, [x, y, radius]: readonly [x: number, y: number, radius: number]): string =>
  `<circle fill="{${fill}}" cx="${x}" cy="${y}" r="${radius}"/>`;
const joinShapes = (...shapes: readonly string[]): string => shapes.join("");

const torso =
  "M300 210L220 260 170 430 240 455 268 360V640H532V360L560 455 630 430 580 260 500 210Q400 262 300 210Z";
const backpack = joinShapes(
  line("dark", 18, "M350 220Q400 150 450 220"),
  box("main", [260, 200, 280, 440, 90]),
  box("dark", [230, 400, 60, 180, 28]),
  box("dark", [510, 400, 60, 180, 28]),
);

export const pictureDrawings = {
  tent: joinShapes(
    area("main", "M400 200L150 640H650Z"),
    area("dark", "M400 200L520 640H650Z"),
    area("light", "M400 300L330 640H470Z"),
    line("ink", 8, "M400 200L388 178M150 640L110 655M650 640L690 655"),
  ),
  "sleeping-bag": joinShapes(
    area("main", "M270 250Q270 160 400 160T530 250L560 420 510 620Q400 670 290 620L240 420Z"),
    area("light", "M310 255Q310 200 400 200T490 255Q490 320 400 320T310 255Z"),
    line("dark", 8, "M262 400Q400 440 538 400M262 480Q400 520 538 480M280 560Q400 600 520 560M400 322V630"),
  ),
  mat: joinShapes(
    area("main", "M200 260H560V600Q560 640 520 640H240Q200 640 200 600Z"),
    line("dark", 8, "M200 340H560M200 420H560M200 500H560M200 580H560"),
    box("light", [180, 200, 440, 110, 55]),
    disc("dark", [565, 255, 38]),
    disc("light", [565, 255, 16]),
  ),
  stove: joinShapes(
    line("ink", 16, "M290 330L340 400M510 330L460 400M290 330H350M510 330H450"),
    area("glow", "M400 210Q450 270 430 330Q400 350 370 330Q350 270 400 210Z"),
    box("ink", [340, 380, 120, 40, 16]),
    box("ink", [380, 410, 40, 60, 8]),
    box("main", [290, 460, 220, 190, 50]),
    box("light", [290, 530, 220, 40, 0]),
  ),
  canister: joinShapes(
    box("ink", [350, 220, 100, 60, 14]),
    box("main", [260, 270, 280, 380, 60]),
    box("light", [260, 380, 280, 130, 0]),
    disc("paper", [400, 445, 42]),
  ),
  pot: joinShapes(
    box("dark", [190, 370, 420, 44, 22]),
    area("main", "M240 390H560V560Q560 650 470 650H330Q240 650 240 560Z"),
    area("light", "M240 370Q250 270 400 270T560 370Z"),
    disc("ink", [400, 258, 26]),
    line("light", 10, "M290 470V560"),
  ),
  lamp: joinShapes(
    disc("glow", [400, 330, 150]),
    disc("paper", [400, 330, 112]),
    box("main", [376, 440, 48, 150, 10]),
    area("dark", "M280 650Q280 580 400 580T520 650Z"),
  ),
  chair: joinShapes(
    line("ink", 16, "M270 640L480 430M530 640L320 430M250 500L300 240M550 500L500 240"),
    area("main", "M290 220H510L530 470Q400 540 270 470Z"),
    area("dark", "M270 470Q400 540 530 470L520 510Q400 580 280 510Z"),
    line("light", 8, "M320 260H480"),
  ),
  bottle: joinShapes(
    box("ink", [352, 170, 96, 80, 18]),
    area("main", "M350 250H450Q510 290 510 360V600Q510 650 460 650H340Q290 650 290 600V360Q290 290 350 250Z"),
    box("light", [290, 420, 220, 110, 0]),
    line("light", 14, "M322 350V390"),
  ),
  jacket: joinShapes(
    area("dark", "M310 215Q400 130 490 215L470 280H330Z"),
    area("main", torso),
    line("dark", 10, "M400 240V640M300 500H350M450 500H500"),
    line("light", 10, "M268 400V600"),
  ),
  shirt: joinShapes(
    area("main", torso),
    area("light", "M345 226Q400 300 455 226Q400 252 345 226Z"),
    line("dark", 6, "M290 590H510M290 610H510"),
  ),
  trousers: joinShapes(
    area("main", "M290 190H510L550 650H440L400 340 360 650H250Z"),
    area("dark", "M290 190H510L514 240H286Z"),
    line("dark", 8, "M400 240V340M320 250L290 330M480 250L510 330"),
    disc("light", [400, 216, 9]),
  ),
  vest: joinShapes(
    area("main", "M310 200L270 300 250 640H550L530 300 490 200Q400 260 310 200Z"),
    line("dark", 10, "M400 244V640"),
    line("light", 8, "M262 340H390M410 340H538M258 430H390M410 430H542M254 520H390M410 520H546"),
  ),
  socks: joinShapes(
    area("dark", "M420 190H530V440L600 530Q640 600 570 630T450 570L420 480Z"),
    area("main", "M270 210H380V460L450 550Q490 620 420 645T300 590L270 500Z"),
    box("light", [262, 200, 126, 60, 14]),
    area("light", "M400 540L450 550Q490 620 420 645Q396 600 400 540Z"),
  ),
  beanie: joinShapes(
    disc("light", [400, 210, 50]),
    area("main", "M220 540Q210 250 400 240T580 540Z"),
    line("dark", 8, "M300 510Q300 340 370 270M400 510V260M500 510Q500 340 430 270"),
    box("dark", [200, 500, 400, 110, 40]),
  ),
  shoe: joinShapes(
    area("main", "M190 400Q250 420 320 350L440 460Q600 480 620 580H180Z"),
    line("light", 12, "M330 400L390 370M365 435L425 405M400 470L460 440"),
    box("ink", [170, 575, 460, 56, 28]),
    line("light", 8, "M210 520H340"),
  ),
  boot: joinShapes(
    area("main", "M270 210H430V430Q590 450 610 570H260Z"),
    box("dark", [260, 200, 180, 50, 16]),
    line("light", 12, "M400 290H470M400 340H470M400 390H480"),
    box("ink", [240, 565, 390, 70, 24]),
  ),
  glove: joinShapes(
    area(
      "main",
      "M290 640V450L220 380Q200 330 250 330L310 380V240Q310 200 345 200T380 240V210Q385 180 415 180T450 " +
        "215V240Q460 215 485 222T510 260V640Z",
    ),
    box("dark", [276, 560, 250, 90, 24]),
    line("dark", 8, "M380 240V350M450 240V350"),
  ),
  pack: joinShapes(
    backpack,
    box("light", [300, 420, 200, 160, 30]),
    area("dark", "M260 300Q260 200 400 200T540 300V340H260Z"),
    line("paper", 10, "M400 320V372"),
  ),
  duffel: joinShapes(
    line("ink", 18, "M290 400Q290 230 400 230T510 400"),
    box("main", [160, 340, 480, 280, 110]),
    line("dark", 12, "M290 345V615M510 345V615"),
    line("light", 10, "M230 400H570"),
  ),
  box: joinShapes(
    box("main", [200, 320, 400, 310, 24]),
    box("dark", [180, 260, 440, 100, 24]),
    box("paper", [320, 440, 160, 90, 12]),
    line("light", 10, "M230 600H570"),
  ),
  tag: joinShapes(
    line("ink", 14, "M400 290Q330 190 430 160T470 260"),
    box("main", [280, 260, 240, 380, 50]),
    disc("paper", [400, 320, 26]),
    line("light", 12, "M330 440H470M330 500H470M330 560H420"),
  ),
  coffee: joinShapes(
    area("main", "M270 200H530L450 390H350Z"),
    area("dark", "M270 200H530L520 226H280Z"),
    box("dark", [320, 385, 160, 30, 12]),
    area("light", "M330 415H470L520 590Q520 650 460 650H340Q280 650 280 590Z"),
    area("ink", "M306 510H494L512 590Q512 640 460 640H340Q288 640 288 590Z"),
  ),
  cup: joinShapes(
    line("main", 34, "M520 350Q620 350 610 440T510 520"),
    area("main", "M240 280H540V540Q540 640 440 640H340Q240 640 240 540Z"),
    box("dark", [228, 262, 324, 34, 17]),
    line("light", 14, "M285 360V500"),
  ),
  pan: joinShapes(
    box("ink", [500, 380, 220, 44, 22]),
    disc("ink", [370, 410, 210]),
    disc("main", [370, 410, 176]),
    area("light", "M250 380Q290 290 380 290Q300 320 250 380Z"),
  ),
  knife: joinShapes(
    area("steel", "M180 400Q300 300 520 320V430H220Q190 430 180 400Z"),
    area("paper", "M200 410Q330 400 520 400V430H220Q206 428 200 410Z"),
    box("ink", [510, 312, 30, 126, 6]),
    box("wood", [530, 330, 170, 76, 30]),
  ),
  board: joinShapes(
    box("wood", [210, 250, 380, 380, 50]),
    disc("paper", [400, 295, 20]),
    line("dark", 6, "M260 380H540M260 450H540M260 520H540M260 580H540"),
  ),
  towel: joinShapes(
    box("ink", [200, 200, 400, 22, 11]),
    box("main", [250, 205, 300, 420, 16]),
    box("light", [250, 470, 300, 30, 0]),
    box("light", [250, 520, 300, 14, 0]),
    line("dark", 6, "M400 225V440"),
  ),
  plate: joinShapes(
    disc("dark", [400, 420, 232]),
    disc("main", [400, 412, 230]),
    disc("light", [400, 412, 160]),
    disc("main", [400, 416, 146]),
  ),
  beans: joinShapes(
    area("main", "M280 230H520L550 640H250Z"),
    area("dark", "M280 200H520V260H280Z"),
    disc("paper", [400, 450, 84]),
    area("ink", "M370 400Q440 390 440 450T400 505Q350 500 352 450Q352 420 370 400Z"),
    line("paper", 8, "M380 410Q420 450 394 498"),
  ),
  blanket: joinShapes(
    area("main", "M200 300Q400 240 600 300V560Q400 640 200 560Z"),
    line("light", 18, "M200 370Q400 310 600 370M200 490Q400 550 600 490"),
    line("dark", 10, "M200 430Q400 420 600 430"),
    line(
      "main",
      10,
      "M215 560V610M265 580V630M320 595V640M375 602V650M430 602V650M485 595V640M540 580V630M585 566V612",
    ),
  ),
  cushion: joinShapes(
    area("main", "M210 230Q400 280 590 230Q550 430 590 620Q400 580 210 620Q250 430 210 230Z"),
    area("light", "M260 290Q330 300 380 296Q290 350 280 450Q270 360 260 290Z"),
    line("dark", 8, "M250 590Q400 560 550 590"),
  ),
  candle: joinShapes(
    area("glow", "M400 150Q440 210 420 250Q400 270 380 250Q360 210 400 150Z"),
    line("ink", 8, "M400 250V290"),
    box("main", [340, 285, 120, 330, 20]),
    box("light", [356, 320, 20, 260, 10]),
    area("wood", "M260 650Q260 600 400 600T540 650Z"),
  ),
  basket: joinShapes(
    line("dark", 16, "M300 340Q300 240 400 240T500 340"),
    area("main", "M220 340H580L540 640H260Z"),
    line("dark", 8, "M226 400H574M234 460H566M242 520H558M250 580H550"),
    box("light", [205, 320, 390, 44, 22]),
  ),
  vase: joinShapes(
    line("dark", 8, "M400 260Q380 170 440 110M400 210Q450 190 470 150"),
    area("main", "M370 250H430V350Q530 410 530 520T450 650H350Q270 620 270 520T370 350Z"),
    line("light", 16, "M320 470Q310 540 340 590"),
  ),
  headphones: joinShapes(
    line("dark", 30, "M240 470Q230 200 400 200T560 470"),
    box("main", [200, 430, 110, 190, 50]),
    box("main", [490, 430, 110, 190, 50]),
    box("light", [286, 450, 34, 150, 17]),
    box("light", [480, 450, 34, 150, 17]),
  ),
  speaker: joinShapes(
    box("main", [260, 180, 280, 470, 60]),
    disc("dark", [400, 480, 106]),
    disc("light", [400, 480, 40]),
    disc("dark", [400, 290, 56]),
    disc("light", [400, 290, 20]),
  ),
  battery: joinShapes(
    box("main", [280, 180, 240, 470, 44]),
    box("dark", [280, 180, 240, 70, 34]),
    area("glow", "M430 320L340 440H400L370 540L470 410H404Z"),
    box("ink", [370, 200, 60, 18, 9]),
  ),
  charger: joinShapes(
    line("ink", 22, "M360 250V190M440 250V190"),
    box("main", [270, 245, 260, 260, 50]),
    box("dark", [320, 420, 60, 22, 11]),
    box("dark", [420, 420, 60, 22, 11]),
    line("ink", 16, "M350 505Q350 640 450 600T560 650"),
  ),
  panel: joinShapes(
    area("main", "M180 260H620L590 600H210Z"),
    line("light", 10, "M290 260L302 600M400 260V600M510 260L498 600M190 370H610M200 490H600"),
    line("ink", 14, "M260 600L230 660M540 600L570 660"),
  ),
  watch: joinShapes(
    box("dark", [320, 150, 160, 200, 40]),
    box("dark", [320, 450, 160, 200, 40]),
    disc("main", [400, 400, 150]),
    disc("ink", [400, 400, 116]),
    line("glow", 12, "M400 400V330M400 400L450 430"),
    box("main", [545, 380, 30, 44, 10]),
  ),
  card: joinShapes(
    box("dark", [190, 290, 420, 280, 30]),
    box("main", [200, 270, 420, 280, 30]),
    box("light", [200, 330, 420, 50, 0]),
    line("paper", 12, "M240 480H380M240 440H330"),
    disc("glow", [550, 470, 34]),
  ),
  map: joinShapes(
    area("paper", "M180 270L320 220V580L180 630Z"),
    area("light", "M320 220L480 270V630L320 580Z"),
    area("paper", "M480 270L620 220V580L480 630Z"),
    line("main", 12, "M220 560Q280 460 350 480T450 380T580 300"),
    disc("dark", [580, 300, 22]),
  ),
} as const;
