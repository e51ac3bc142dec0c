/**
 * What the demo's things look like: flat shapes on a field of 800 × 800, with named fills that the picture
 * colours.
 */

const drawArea = (fill: string, path: string): string => `<path fill="{${fill}}" d="${path}"/>`;
const drawLine = (stroke: string, width: number, path: string): string =>
  `<path fill="none" stroke="{${stroke}}" stroke-width="${width}" stroke-linecap="round" stroke-linejoin="round" d="${path}"/>`;
/** Where it lies, how large it is, how round its corners are. */
type Box = readonly [x: number, y: number, width: number, height: number, radius: number];
const drawBox = (fill: string, [x, y, width, height, radius]: Box): string =>
  `<rect fill="{${fill}}" x="${x}" y="${y}" width="${width}" height="${height}" rx="${radius}"/>`;
const drawDisc = (fill: string, [x, y, radius]: readonly [x: number, y: number, radius: number]): string =>
  `<circle fill="{${fill}}" cx="${x}" cy="${y}" r="${radius}"/>`;
const joinShapes = (...shapes: readonly string[]): string => shapes.join("");

const torso =
  "M300 210L220 260 170 430 240 455 268 360V640H532V360L560 455 630 430 580 260 500 210Q400 262 300 210Z";
const backpack = joinShapes(
  drawLine("dark", 18, "M350 220Q400 150 450 220"),
  drawBox("main", [260, 200, 280, 440, 90]),
  drawBox("dark", [230, 400, 60, 180, 28]),
  drawBox("dark", [510, 400, 60, 180, 28]),
);

export const pictureDrawings = {
  tent: joinShapes(
    drawArea("main", "M400 200L150 640H650Z"),
    drawArea("dark", "M400 200L520 640H650Z"),
    drawArea("light", "M400 300L330 640H470Z"),
    drawLine("ink", 8, "M400 200L388 178M150 640L110 655M650 640L690 655"),
  ),
  "sleeping-bag": joinShapes(
    drawArea("main", "M270 250Q270 160 400 160T530 250L560 420 510 620Q400 670 290 620L240 420Z"),
    drawArea("light", "M310 255Q310 200 400 200T490 255Q490 320 400 320T310 255Z"),
    drawLine(
      "dark",
      8,
      "M262 400Q400 440 538 400M262 480Q400 520 538 480M280 560Q400 600 520 560M400 322V630",
    ),
  ),
  mat: joinShapes(
    drawArea("main", "M200 260H560V600Q560 640 520 640H240Q200 640 200 600Z"),
    drawLine("dark", 8, "M200 340H560M200 420H560M200 500H560M200 580H560"),
    drawBox("light", [180, 200, 440, 110, 55]),
    drawDisc("dark", [565, 255, 38]),
    drawDisc("light", [565, 255, 16]),
  ),
  stove: joinShapes(
    drawLine("ink", 16, "M290 330L340 400M510 330L460 400M290 330H350M510 330H450"),
    drawArea("glow", "M400 210Q450 270 430 330Q400 350 370 330Q350 270 400 210Z"),
    drawBox("ink", [340, 380, 120, 40, 16]),
    drawBox("ink", [380, 410, 40, 60, 8]),
    drawBox("main", [290, 460, 220, 190, 50]),
    drawBox("light", [290, 530, 220, 40, 0]),
  ),
  canister: joinShapes(
    drawBox("ink", [350, 220, 100, 60, 14]),
    drawBox("main", [260, 270, 280, 380, 60]),
    drawBox("light", [260, 380, 280, 130, 0]),
    drawDisc("paper", [400, 445, 42]),
  ),
  pot: joinShapes(
    drawBox("dark", [190, 370, 420, 44, 22]),
    drawArea("main", "M240 390H560V560Q560 650 470 650H330Q240 650 240 560Z"),
    drawArea("light", "M240 370Q250 270 400 270T560 370Z"),
    drawDisc("ink", [400, 258, 26]),
    drawLine("light", 10, "M290 470V560"),
  ),
  lamp: joinShapes(
    drawDisc("glow", [400, 330, 150]),
    drawDisc("paper", [400, 330, 112]),
    drawBox("main", [376, 440, 48, 150, 10]),
    drawArea("dark", "M280 650Q280 580 400 580T520 650Z"),
  ),
  chair: joinShapes(
    drawLine("ink", 16, "M270 640L480 430M530 640L320 430M250 500L300 240M550 500L500 240"),
    drawArea("main", "M290 220H510L530 470Q400 540 270 470Z"),
    drawArea("dark", "M270 470Q400 540 530 470L520 510Q400 580 280 510Z"),
    drawLine("light", 8, "M320 260H480"),
  ),
  bottle: joinShapes(
    drawBox("ink", [352, 170, 96, 80, 18]),
    drawArea(
      "main",
      "M350 250H450Q510 290 510 360V600Q510 650 460 650H340Q290 650 290 600V360Q290 290 350 250Z",
    ),
    drawBox("light", [290, 420, 220, 110, 0]),
    drawLine("light", 14, "M322 350V390"),
  ),
  jacket: joinShapes(
    drawArea("dark", "M310 215Q400 130 490 215L470 280H330Z"),
    drawArea("main", torso),
    drawLine("dark", 10, "M400 240V640M300 500H350M450 500H500"),
    drawLine("light", 10, "M268 400V600"),
  ),
  shirt: joinShapes(
    drawArea("main", torso),
    drawArea("light", "M345 226Q400 300 455 226Q400 252 345 226Z"),
    drawLine("dark", 6, "M290 590H510M290 610H510"),
  ),
  trousers: joinShapes(
    drawArea("main", "M290 190H510L550 650H440L400 340 360 650H250Z"),
    drawArea("dark", "M290 190H510L514 240H286Z"),
    drawLine("dark", 8, "M400 240V340M320 250L290 330M480 250L510 330"),
    drawDisc("light", [400, 216, 9]),
  ),
  vest: joinShapes(
    drawArea("main", "M310 200L270 300 250 640H550L530 300 490 200Q400 260 310 200Z"),
    drawLine("dark", 10, "M400 244V640"),
    drawLine("light", 8, "M262 340H390M410 340H538M258 430H390M410 430H542M254 520H390M410 520H546"),
  ),
  socks: joinShapes(
    drawArea("dark", "M420 190H530V440L600 530Q640 600 570 630T450 570L420 480Z"),
    drawArea("main", "M270 210H380V460L450 550Q490 620 420 645T300 590L270 500Z"),
    drawBox("light", [262, 200, 126, 60, 14]),
    drawArea("light", "M400 540L450 550Q490 620 420 645Q396 600 400 540Z"),
  ),
  beanie: joinShapes(
    drawDisc("light", [400, 210, 50]),
    drawArea("main", "M220 540Q210 250 400 240T580 540Z"),
    drawLine("dark", 8, "M300 510Q300 340 370 270M400 510V260M500 510Q500 340 430 270"),
    drawBox("dark", [200, 500, 400, 110, 40]),
  ),
  shoe: joinShapes(
    drawArea("main", "M190 400Q250 420 320 350L440 460Q600 480 620 580H180Z"),
    drawLine("light", 12, "M330 400L390 370M365 435L425 405M400 470L460 440"),
    drawBox("ink", [170, 575, 460, 56, 28]),
    drawLine("light", 8, "M210 520H340"),
  ),
  boot: joinShapes(
    drawArea("main", "M270 210H430V430Q590 450 610 570H260Z"),
    drawBox("dark", [260, 200, 180, 50, 16]),
    drawLine("light", 12, "M400 290H470M400 340H470M400 390H480"),
    drawBox("ink", [240, 565, 390, 70, 24]),
  ),
  glove: joinShapes(
    drawArea(
      "main",
      "M290 640V450L220 380Q200 330 250 330L310 380V240Q310 200 345 200T380 240V210Q385 180 415 180T450 215V240Q460 215 485 222T510 260V640Z",
    ),
    drawBox("dark", [276, 560, 250, 90, 24]),
    drawLine("dark", 8, "M380 240V350M450 240V350"),
  ),
  pack: joinShapes(
    backpack,
    drawBox("light", [300, 420, 200, 160, 30]),
    drawArea("dark", "M260 300Q260 200 400 200T540 300V340H260Z"),
    drawLine("paper", 10, "M400 320V372"),
  ),
  duffel: joinShapes(
    drawLine("ink", 18, "M290 400Q290 230 400 230T510 400"),
    drawBox("main", [160, 340, 480, 280, 110]),
    drawLine("dark", 12, "M290 345V615M510 345V615"),
    drawLine("light", 10, "M230 400H570"),
  ),
  box: joinShapes(
    drawBox("main", [200, 320, 400, 310, 24]),
    drawBox("dark", [180, 260, 440, 100, 24]),
    drawBox("paper", [320, 440, 160, 90, 12]),
    drawLine("light", 10, "M230 600H570"),
  ),
  tag: joinShapes(
    drawLine("ink", 14, "M400 290Q330 190 430 160T470 260"),
    drawBox("main", [280, 260, 240, 380, 50]),
    drawDisc("paper", [400, 320, 26]),
    drawLine("light", 12, "M330 440H470M330 500H470M330 560H420"),
  ),
  coffee: joinShapes(
    drawArea("main", "M270 200H530L450 390H350Z"),
    drawArea("dark", "M270 200H530L520 226H280Z"),
    drawBox("dark", [320, 385, 160, 30, 12]),
    drawArea("light", "M330 415H470L520 590Q520 650 460 650H340Q280 650 280 590Z"),
    drawArea("ink", "M306 510H494L512 590Q512 640 460 640H340Q288 640 288 590Z"),
  ),
  cup: joinShapes(
    drawLine("main", 34, "M520 350Q620 350 610 440T510 520"),
    drawArea("main", "M240 280H540V540Q540 640 440 640H340Q240 640 240 540Z"),
    drawBox("dark", [228, 262, 324, 34, 17]),
    drawLine("light", 14, "M285 360V500"),
  ),
  pan: joinShapes(
    drawBox("ink", [500, 380, 220, 44, 22]),
    drawDisc("ink", [370, 410, 210]),
    drawDisc("main", [370, 410, 176]),
    drawArea("light", "M250 380Q290 290 380 290Q300 320 250 380Z"),
  ),
  knife: joinShapes(
    drawArea("steel", "M180 400Q300 300 520 320V430H220Q190 430 180 400Z"),
    drawArea("paper", "M200 410Q330 400 520 400V430H220Q206 428 200 410Z"),
    drawBox("ink", [510, 312, 30, 126, 6]),
    drawBox("wood", [530, 330, 170, 76, 30]),
  ),
  board: joinShapes(
    drawBox("wood", [210, 250, 380, 380, 50]),
    drawDisc("paper", [400, 295, 20]),
    drawLine("dark", 6, "M260 380H540M260 450H540M260 520H540M260 580H540"),
  ),
  towel: joinShapes(
    drawBox("ink", [200, 200, 400, 22, 11]),
    drawBox("main", [250, 205, 300, 420, 16]),
    drawBox("light", [250, 470, 300, 30, 0]),
    drawBox("light", [250, 520, 300, 14, 0]),
    drawLine("dark", 6, "M400 225V440"),
  ),
  plate: joinShapes(
    drawDisc("dark", [400, 420, 232]),
    drawDisc("main", [400, 412, 230]),
    drawDisc("light", [400, 412, 160]),
    drawDisc("main", [400, 416, 146]),
  ),
  beans: joinShapes(
    drawArea("main", "M280 230H520L550 640H250Z"),
    drawArea("dark", "M280 200H520V260H280Z"),
    drawDisc("paper", [400, 450, 84]),
    drawArea("ink", "M370 400Q440 390 440 450T400 505Q350 500 352 450Q352 420 370 400Z"),
    drawLine("paper", 8, "M380 410Q420 450 394 498"),
  ),
  blanket: joinShapes(
    drawArea("main", "M200 300Q400 240 600 300V560Q400 640 200 560Z"),
    drawLine("light", 18, "M200 370Q400 310 600 370M200 490Q400 550 600 490"),
    drawLine("dark", 10, "M200 430Q400 420 600 430"),
    drawLine(
      "main",
      10,
      "M215 560V610M265 580V630M320 595V640M375 602V650M430 602V650M485 595V640M540 580V630M585 566V612",
    ),
  ),
  cushion: joinShapes(
    drawArea("main", "M210 230Q400 280 590 230Q550 430 590 620Q400 580 210 620Q250 430 210 230Z"),
    drawArea("light", "M260 290Q330 300 380 296Q290 350 280 450Q270 360 260 290Z"),
    drawLine("dark", 8, "M250 590Q400 560 550 590"),
  ),
  candle: joinShapes(
    drawArea("glow", "M400 150Q440 210 420 250Q400 270 380 250Q360 210 400 150Z"),
    drawLine("ink", 8, "M400 250V290"),
    drawBox("main", [340, 285, 120, 330, 20]),
    drawBox("light", [356, 320, 20, 260, 10]),
    drawArea("wood", "M260 650Q260 600 400 600T540 650Z"),
  ),
  basket: joinShapes(
    drawLine("dark", 16, "M300 340Q300 240 400 240T500 340"),
    drawArea("main", "M220 340H580L540 640H260Z"),
    drawLine("dark", 8, "M226 400H574M234 460H566M242 520H558M250 580H550"),
    drawBox("light", [205, 320, 390, 44, 22]),
  ),
  vase: joinShapes(
    drawLine("dark", 8, "M400 260Q380 170 440 110M400 210Q450 190 470 150"),
    drawArea("main", "M370 250H430V350Q530 410 530 520T450 650H350Q270 620 270 520T370 350Z"),
    drawLine("light", 16, "M320 470Q310 540 340 590"),
  ),
  headphones: joinShapes(
    drawLine("dark", 30, "M240 470Q230 200 400 200T560 470"),
    drawBox("main", [200, 430, 110, 190, 50]),
    drawBox("main", [490, 430, 110, 190, 50]),
    drawBox("light", [286, 450, 34, 150, 17]),
    drawBox("light", [480, 450, 34, 150, 17]),
  ),
  speaker: joinShapes(
    drawBox("main", [260, 180, 280, 470, 60]),
    drawDisc("dark", [400, 480, 106]),
    drawDisc("light", [400, 480, 40]),
    drawDisc("dark", [400, 290, 56]),
    drawDisc("light", [400, 290, 20]),
  ),
  battery: joinShapes(
    drawBox("main", [280, 180, 240, 470, 44]),
    drawBox("dark", [280, 180, 240, 70, 34]),
    drawArea("glow", "M430 320L340 440H400L370 540L470 410H404Z"),
    drawBox("ink", [370, 200, 60, 18, 9]),
  ),
  charger: joinShapes(
    drawLine("ink", 22, "M360 250V190M440 250V190"),
    drawBox("main", [270, 245, 260, 260, 50]),
    drawBox("dark", [320, 420, 60, 22, 11]),
    drawBox("dark", [420, 420, 60, 22, 11]),
    drawLine("ink", 16, "M350 505Q350 640 450 600T560 650"),
  ),
  panel: joinShapes(
    drawArea("main", "M180 260H620L590 600H210Z"),
    drawLine("light", 10, "M290 260L302 600M400 260V600M510 260L498 600M190 370H610M200 490H600"),
    drawLine("ink", 14, "M260 600L230 660M540 600L570 660"),
  ),
  watch: joinShapes(
    drawBox("dark", [320, 150, 160, 200, 40]),
    drawBox("dark", [320, 450, 160, 200, 40]),
    drawDisc("main", [400, 400, 150]),
    drawDisc("ink", [400, 400, 116]),
    drawLine("glow", 12, "M400 400V330M400 400L450 430"),
    drawBox("main", [545, 380, 30, 44, 10]),
  ),
  card: joinShapes(
    drawBox("dark", [190, 290, 420, 280, 30]),
    drawBox("main", [200, 270, 420, 280, 30]),
    drawBox("light", [200, 330, 420, 50, 0]),
    drawLine("paper", 12, "M240 480H380M240 440H330"),
    drawDisc("glow", [550, 470, 34]),
  ),
  map: joinShapes(
    drawArea("paper", "M180 270L320 220V580L180 630Z"),
    drawArea("light", "M320 220L480 270V630L320 580Z"),
    drawArea("paper", "M480 270L620 220V580L480 630Z"),
    drawLine("main", 12, "M220 560Q280 460 350 480T450 380T580 300"),
    drawDisc("dark", [580, 300, 22]),
  ),
} as const;
